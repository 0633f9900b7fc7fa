/** An item in a window: its contents, its answers, its prediction, and buttons to answer it. */
import { get } from "../lib/api.js";
import { save } from "../lib/session.js";
import { answerButtons } from "./buttons.js";
import { contents } from "./card.js";
import { openDialog } from "./dialog.js";
import { clear, data, h } from "../lib/dom.js";
import { sayError } from "../lib/notices.js";
import { tag } from "./palette.js";
import { ago, ASIDE, capital, percent, said } from "../lib/format.js";

/** Opens an item by its id or, for a point of the map, by its place; calls `onchange` after an answer was saved.
 * @param {{ id: string } | { at: number }} where
 * @param {() => void} onchange
 */
export async function openItem(where, onchange = () => {}) {
  /** @type {ItemReport | void} */
  const found = await get("/api/item", where).catch(sayError);
  if (!found) return;
  const { dialog, body } = openDialog(`Item ${found.item.id}`);
  const openedAt = performance.now();
  clear(body, standing(found), h("div", { class: "inside" }, contents(found.item)), answers(found.answers), choice(give));

  const { id } = found.item;

  /**
   * @param {AnswerKind} kind
   * @param {string | null} label
   */
  async function give(kind, label = null) {
    dialog.close();
    const seconds = Math.round(performance.now() - openedAt) / 1000;
    const answer = { item: id, kind, ...(label === null ? {} : { label }), seconds };
    if (await save("/api/answer", answer, `Saved as ${said({ kind, label })}`)) onchange();
  }
}

/** @param {ItemReport} report */
function standing({ label, status, prediction }) {
  const parts = [];
  if (label !== null) parts.push(h("p", {}, "Labeled ", tag(label)));
  else if (status === "later" || status === "cannot" || status === "invalid") parts.push(h("p", {}, `Set aside: ${ASIDE[status]}`));
  if (prediction) parts.push(h("p", {}, "Predicted ", tag(prediction.label, true), `, ${percent(prediction.probability)} sure`));
  return h("div", { class: "standing" }, parts.length ? parts : h("p", {}, "No label and no prediction yet"));
}

const asideKinds = /** @type {AsideKind[]} */ (Object.keys(ASIDE));

/** @param {HistoryLine[]} all */
const answers = (all) => all.length > 0 && h("section", {}, h("h3", {}, "Answers so far"),
  h("ul", { class: "rows" }, all.map((one) => h("li", { class: one.current ? "" : "past" },
    data(one.who, { class: "who" }), one.kind === "label" ? tag(one.label ?? "") : h("span", {}, said(one)),
    h("span", { class: "soft" }, one.undone ? "taken back" : one.current ? "" : "changed since"), h("time", { class: "soft", datetime: one.at }, ago(one.at))))));

/** @param {(kind: AnswerKind, label?: string) => unknown} give */
function choice(give) {
  const buttons = answerButtons({ pick: (label) => give("label", label), keys: false });
  buttons.draw();
  return h("section", { class: "choice" }, h("h3", {}, "Your answer"), buttons.element,
    h("div", { class: "others" }, asideKinds.map((kind) => h("button", { class: "plain", onclick: () => give(kind) }, capital(ASIDE[kind]))),
      h("button", { class: "plain", onclick: buttons.openNew }, "New class")));
}
