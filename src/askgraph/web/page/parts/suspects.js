/** Labels that are worth a second look, folded until somebody wants them. To keep one is to give the same answer again. */
import { get } from "../lib/api.js";
import { save } from "../lib/session.js";
import { clear, h } from "../lib/dom.js";
import { itemLine } from "./item_line.js";
import { openItem } from "./item.js";
import { inWords } from "../lib/labels.js";
import { labelTag } from "./label_tag.js";
import { store } from "../lib/store.js";
import { words } from "../lib/words.js";

const AGAIN = 1_000; // milliseconds before loading again what is still being computed

/** Lists labels that most similar items contradict; `changed` is called after one was changed.
 * @param {() => void} changed
 */
export function suspectList(changed) {
  const title = h("summary", {});
  const list = h("ul", { class: "rows suspects" });
  const element = h("details", { class: "suspicion" }, title, list);
  let timer = 0;
  element.hidden = true;

  async function load() {
    clearTimeout(timer);
    const found = await get("/api/suspects", { reader: store.who }).catch((error) => ({ waiting: error.message }));
    if (found.waiting || found.lag) timer = setTimeout(load, AGAIN);
    if (!found.waiting) draw(found.suspects);
  }

  /** @param {Suspect[]} all */
  function draw(all) {
    element.hidden = all.length === 0;
    title.textContent = words.suspects.title(all.length);
    clear(list, all.map((one) => h("li", {},
      h("button", { class: "row", onclick: () => openItem({ id: one.item }, reload) }, itemLine(one)),
      h("span", { class: "versus" }, labelTag(one.label), h("span", { class: "soft" }, words.suspects.instead), labelTag(one.instead, true, one.range)),
      h("span", { class: "ways" },
        h("button", { class: "plain", onclick: () => keepIt(one) }, words.suspects.keep),
        h("button", { class: "plain", onclick: () => openItem({ id: one.item }, reload) }, words.suspects.change)))));
  }

  /** @param {Suspect} one */
  async function keepIt(one) {
    await save("/api/answer", { item: one.item, kind: "label", label: one.label }, words.saved.kept(inWords(one.label)));
    reload();
  }

  function reload() {
    changed();
    load();
  }

  return { element, load, leave: () => clearTimeout(timer) };
}
