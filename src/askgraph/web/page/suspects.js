/** Labels that look wrong: keep or change each with one click. What was kept is not shown again here. */
import { get } from "./api.js";
import { settle } from "./asking.js";
import { clear, data, h } from "./dom.js";
import { openItem } from "./item.js";
import { tag } from "./palette.js";
import { keep, look } from "./shelf.js";
import { store } from "./store.js";
import { percent, plural } from "./words.js";

const AGAIN = 1_000;

export function suspectList(changed) {
  const title = h("summary", {});
  const list = h("ul", { class: "rows suspects" });
  const element = h("details", { class: "suspicion", open: true }, title, list);
  let timer = 0;
  element.hidden = true;

  async function load() {
    clearTimeout(timer);
    const found = await get("/api/suspects").catch((error) => ({ waiting: error.message }));
    if (found.waiting) timer = setTimeout(load, AGAIN);
    else draw(found.suspects.filter((one) => !look(kept(one))));
  }

  function draw(all) {
    element.hidden = all.length === 0;
    title.textContent = all.length === 1 ? "1 of your labels looks wrong" : `${plural(all.length, "of your labels", "of your labels")} look wrong`;
    clear(list, all.map((one) => h("li", {},
      h("button", { class: "row", onclick: () => openItem({ id: one.item }, changed) }, data(one.title, { class: "title" })),
      h("span", { class: "versus" }, tag(one.label), h("span", { class: "soft" }, "or rather"), tag(one.instead, true), h("span", { class: "amount" }, percent(one.chance))),
      h("span", { class: "ways" },
        h("button", { class: "plain", onclick: () => { keep(kept(one), "kept"); load(); } }, "Keep"),
        h("button", { class: "plain strong", onclick: () => change(one) }, "Change")))));
  }

  async function change(one) {
    await settle("/api/confirm", { items: [one.item], label: one.instead }, `Changed to ${one.instead}`);
    changed();
    load();
  }

  return { element, load, leave: () => clearTimeout(timer) };
}

const kept = ({ item, label, instead }) => `askgraph.kept.${JSON.stringify([store.state?.project, item, label, instead])}`;
