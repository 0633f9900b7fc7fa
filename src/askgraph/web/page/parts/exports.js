/** What can be taken out of a project, in three groups: one's own table, files for other tools, and what is told of the labels. */
import { h } from "../lib/dom.js";
import { language } from "../lib/language.js";
import { answers, store } from "../lib/store.js";
import { words } from "../lib/words.js";

/** @type {Record<keyof typeof words.exports.groups, (keyof typeof words.exports.formats)[]>} */
const GROUPS = {
  table: ["csv", "xlsx", "columns", "jsonl", "parquet"],
  tools: ["labelstudio", "argilla", "huggingface", "spacy", "fasttext", "ris"],
  report: ["how", "answers"],
};

/** Whether a file of this format can be written: some need a library, and references need titles.
 * @param {string} format
 */
function written(format) {
  /** @type {Record<string, boolean>} */
  const needed = { parquet: Boolean(store.state?.parquet), xlsx: Boolean(store.state?.xlsx), ris: Boolean(store.state?.ris), columns: answers().kind !== "numbers" };
  return needed[format] ?? true;
}

/** The groups, each with a line that says what it is for. */
export const exportGroups = () => h("div", { class: "exports" }, /** @type {(keyof typeof GROUPS)[]} */ (Object.keys(GROUPS)).map((group) => h("section", {},
  h("h3", {}, words.exports.groups[group].name), h("p", { class: "soft" }, words.exports.groups[group].line),
  h("ul", {}, group === "report" && h("li", {}, toSign()),
    GROUPS[group].filter(written).map((format) => h("li", {}, h("a", { href: `/api/export?format=${format}`, download: true }, words.exports.formats[format])))))));

/** The groups, folded. */
export const exportMenu = () => h("details", { class: "menu", onclick: ({ target, currentTarget }) => { if (target.closest("a")) currentTarget.open = false; } },
  h("summary", {}, words.exports.menu), exportGroups());

/** Leads to the page that prints on two sheets, in the language of this one. */
const toSign = () => h("a", { href: `/api/report?language=${language}`, target: "_blank" }, words.progress.report);
