/** All answers, newest first; each can be opened and changed. */
import { get } from "./api.js";
import { clear, data, h } from "./dom.js";
import { openItem } from "./item.js";
import { say } from "./notices.js";
import { tag } from "./palette.js";
import { store, watch } from "./store.js";
import { ago, said, sentence } from "./words.js";

const PAGE = 50;
const MOST = 500;

export function historyView(root) {
  const list = h("ul", { class: "rows history" });
  const more = h("button", { class: "plain", onclick: () => load(last) }, "Show more");
  const mine = h("input", { type: "checkbox", onchange: () => load() });
  clear(root, h("section", { class: "page narrow", "aria-labelledby": "title" },
    h("header", { class: "heading" }, h("h1", { id: "title" }, "History"), h("label", { class: "check" }, mine, "Only mine")), list, more));
  let last = null;
  let seq = null;

  async function load(before = null, limit = PAGE) {
    const found = await get("/api/history", { limit, before, who: mine.checked ? store.who : "" }).catch((error) => say(sentence(error.message)));
    if (!found) return;
    const rows = found.answers.map((one) => row(one, () => load()));
    if (before === null) clear(list, rows.length ? rows : h("li", { class: "empty" }, "No answers yet."));
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

const row = (one, changed) => h("li", { class: one.current ? "" : "past" },
  h("button", { class: "row", onclick: () => openItem({ id: one.item }, changed) },
    one.kind === "label" ? tag(one.label) : h("span", { class: "tag" }, h("span", { class: "dash" }), said(one)),
    data(one.title, { class: "title" }),
    one.undone && h("span", { class: "soft" }, "taken back"),
    data(one.who, { class: "who" }), h("time", { class: "soft", datetime: one.at }, ago(one.at)),
    h("span", { class: "change" }, "Change")));
