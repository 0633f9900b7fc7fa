/** The menu of exports. */
import { h } from "../lib/dom.js";
import { store } from "../lib/store.js";
import { words } from "../lib/words.js";

export const exportLinks = () => h("details", { class: "menu", onclick: ({ target, currentTarget }) => { if (target.closest("a")) currentTarget.open = false; } },
  h("summary", {}, words.exports.menu),
  h("ul", {}, Object.entries(words.exports.formats).filter(([format]) => !["parquet", "xlsx", "ris"].includes(format) || store.state?.[format]).map(([format, name]) => h("li", {}, h("a", { href: `/api/export?format=${format}`, download: true }, name)))));
