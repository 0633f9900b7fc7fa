/** Labels that look wrong: keep or change each with one click. What was kept is not shown again here. */
import { get } from "../lib/api.js";
import { save } from "../lib/session.js";
import { clear, h } from "../lib/dom.js";
import { itemLine } from "./item_line.js";
import { openItem } from "./item.js";
import { tag } from "./palette.js";
import { keep, look } from "../lib/storage.js";
import { store } from "../lib/store.js";
import { percent, plural } from "../lib/format.js";

const AGAIN = 1_000; // milliseconds before loading again what is still being computed

/** Lists labels that look wrong; `changed` is called after one was changed.
 * @param {() => void} changed
 */
export function suspectList(changed) {
  const title = h("summary", {});
  const list = h("ul", { class: "rows suspects" });
  const element = h("details", { class: "suspicion", open: true }, title, list);
  let timer = 0;
  element.hidden = true;

  async function load() {
    clearTimeout(timer);
    const found = await get("/api/suspects").catch((error) => ({ waiting: error.message }));
    if (found.waiting || found.lag) timer = setTimeout(load, AGAIN);
    if (!found.waiting) draw(found.suspects.filter((/** @type {Suspect} */ one) => !look(kept(one))));
  }

  /** @param {Suspect[]} all */
  function draw(all) {
    element.hidden = all.length === 0;
    title.textContent = all.length === 1 ? "1 of your labels looks wrong" : `${plural(all.length, "of your labels", "of your labels")} look wrong`;
    clear(list, all.map((one) => h("li", {},
      h("button", { class: "row", onclick: () => openItem({ id: one.item }, changed) }, itemLine(one)),
      h("span", { class: "versus" }, tag(one.label), h("span", { class: "soft" }, `${percent(one.chance)} likely; rather`), tag(one.instead, true)),
      h("span", { class: "ways" },
        h("button", { class: "plain", onclick: () => { keep(kept(one), "kept"); load(); } }, "Keep"),
        h("button", { class: "plain strong", onclick: () => change(one) }, "Change")))));
  }

  /** @param {Suspect} one */
  async function change(one) {
    await save("/api/confirm", { items: [one.item], label: one.instead }, `Changed to ${one.instead}`);
    changed();
    load();
  }

  return { element, load, leave: () => clearTimeout(timer) };
}

/** Returns the name under which it is remembered that a label was kept.
 * @param {Suspect} suspect
 */
const kept = ({ item, label, instead }) => `askgraph.kept.${JSON.stringify([store.state?.uid, item, label, instead])}`;
