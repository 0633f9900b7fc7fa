/** Any item in a window: what it is, what was answered, what is predicted, and a way to answer it. */
import { get } from "./api.js";
import { settle } from "./asking.js";
import { answerButtons } from "./buttons.js";
import { contents } from "./card.js";
import { openDialog } from "./dialog.js";
import { clear, data, h } from "./dom.js";
import { say } from "./notices.js";
import { tag } from "./palette.js";
import { ago, ASIDE, capital, percent, said, sentence } from "./words.js";

/** `where` is {id} or, for a point of the map, {at}. */
export async function openItem(where, onchange = () => {}) {
  const found = await get("/api/item", where).catch((error) => say(sentence(error.message)));
  if (!found) return;
  const { dialog, body } = openDialog(`Item ${found.item.id}`);
  const openedAt = performance.now();
  clear(body, standing(found), h("div", { class: "inside" }, contents(found.item)), answers(found.answers), choice(give));

  async function give(kind, label = null) {
    dialog.close();
    const seconds = Math.round(performance.now() - openedAt) / 1000;
    const answer = { item: found.item.id, kind, ...(label === null ? {} : { label }), seconds };
    if (await settle("/api/answer", answer, `Saved as ${label ?? ASIDE[kind]}`)) onchange();
  }
}

function standing({ label, status, prediction }) {
  const parts = [];
  if (label !== null) parts.push(h("p", {}, "Labeled ", tag(label)));
  else if (status in ASIDE) parts.push(h("p", {}, `Set aside: ${ASIDE[status]}`));
  if (prediction) parts.push(h("p", {}, "Predicted ", tag(prediction.label, true), ` ${percent(prediction.probability)}`));
  return h("div", { class: "standing" }, parts.length ? parts : h("p", {}, "No label and no prediction yet"));
}

const answers = (all) => all.length > 0 && h("section", {}, h("h3", {}, "Answers so far"),
  h("ul", { class: "rows" }, all.map((one) => h("li", { class: one.current ? "" : "past" },
    data(one.who, { class: "who" }), one.kind === "label" ? tag(one.label) : h("span", {}, said(one)),
    h("span", { class: "soft" }, one.undone ? "taken back" : one.current ? "" : "changed since"), h("time", { class: "soft", datetime: one.at }, ago(one.at))))));

function choice(give) {
  const buttons = answerButtons({ pick: (label) => give("label", label), keys: false });
  buttons.draw();
  return h("section", { class: "choice" }, h("h3", {}, "Your answer"), buttons.element,
    h("div", { class: "others" }, Object.entries(ASIDE).map(([kind, words]) => h("button", { class: "plain", onclick: () => give(kind) }, capital(words))),
      h("button", { class: "plain", onclick: buttons.openNew }, "New class")));
}
