/** The menu of exports. */
import { h } from "../lib/dom.js";
import { answers, store } from "../lib/store.js";
import { words } from "../lib/words.js";

/** Whether a file of this format can be written: some need a library, and references need titles.
 * @param {string} format
 */
function written(format) {
  /** @type {Record<string, boolean>} */
  const needed = { parquet: Boolean(store.state?.parquet), xlsx: Boolean(store.state?.xlsx), ris: Boolean(store.state?.ris), columns: answers().kind !== "numbers" };
  return needed[format] ?? true;
}

export const exportLinks = () => h("details", { class: "menu", onclick: ({ target, currentTarget }) => { if (target.closest("a")) currentTarget.open = false; } },
  h("summary", {}, words.exports.menu),
  h("ul", {}, Object.entries(words.exports.formats).filter(([format]) => written(format)).map(([format, name]) => h("li", {}, h("a", { href: `/api/export?format=${format}`, download: true }, name)))));
