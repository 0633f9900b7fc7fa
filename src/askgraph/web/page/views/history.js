/** All answers, newest first; each can be opened and changed. */
import { get } from "../lib/api.js";
import { clear, data, h } from "../lib/dom.js";
import { itemLine } from "../parts/item_line.js";
import { openItem } from "../parts/item.js";
import { sayError } from "../lib/notices.js";
import { tag } from "../parts/palette.js";
import { store, watch } from "../lib/store.js";
import { ago, said } from "../lib/format.js";
import { words } from "../lib/words.js";

const PAGE = 50; // answers loaded at a time
const MOST = 500; // answers loaded again when there are new ones

/** @type {MakeView} */
export function historyView(root) {
  const list = h("ul", { class: "rows history" });
  const more = h("button", { class: "plain", onclick: () => load(last) }, words.history.more);
  const mine = h("input", { type: "checkbox", onchange: () => load() });
  clear(root, h("section", { class: "page narrow", "aria-labelledby": "title" },
    h("header", { class: "heading" }, h("h1", { id: "title" }, words.history.title), h("label", { class: "check" }, mine, words.history.onlyMine)), list, more));
  /** @type {number | null} */
  let last = null;
  /** @type {number | undefined} */
  let seq;

  /**
   * @param {number | null} before
   * @param {number} limit
   */
  async function load(before = null, limit = PAGE) {
    /** @type {{ answers: HistoryLine[], more: boolean } | void} */
    const found = await get("/api/history", { limit, before, who: mine.checked ? store.who : "" }).catch(sayError);
    if (!found) return;
    const rows = found.answers.map((one) => row(one, () => load()));
    if (before === null) clear(list, rows.length ? rows : h("li", { class: "empty" }, words.history.empty));
    else list.append(...rows);
    last = found.answers.at(-1)?.seq ?? null;
    more.hidden = !found.more;
  }

  const stop = watch(() => {
    if (store.state?.seq === seq) return;
    seq = store.state?.seq;
    load(null, Math.min(Math.max(PAGE, list.children.length), MOST));
  });
  more.hidden = true;
  seq = store.state?.seq;
  load();
  return { leave: stop };
}

/** @type {(one: HistoryLine, changed: () => void) => HTMLElement} */
const row = (one, changed) => h("li", { class: one.current ? "" : "past" },
  h("button", { class: "row", onclick: () => openItem({ id: one.item }, changed) },
    one.kind === "label" ? tag(one.label ?? "") : h("span", { class: "tag" }, h("span", { class: "dash" }), said(one)),
    itemLine(one),
    one.undone && h("span", { class: "soft" }, words.answers.takenBack),
    data(one.who, { class: "who" }), h("time", { class: "soft", datetime: one.at }, ago(one.at)),
    h("span", { class: "change" }, words.history.change)));
