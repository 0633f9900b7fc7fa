/** The menu of exports. */
import { h } from "../lib/dom.js";
import { store } from "../lib/store.js";

const FORMATS = { csv: "CSV, for a spreadsheet", jsonl: "JSON lines", parquet: "Parquet", labelstudio: "Label Studio", answers: "Only what people said, CSV" };

export const exportLinks = () => h("details", { class: "menu", onclick: ({ target, currentTarget }) => { if (target.closest("a")) currentTarget.open = false; } },
  h("summary", {}, "Export"),
  h("ul", {}, Object.entries(FORMATS).filter(([format]) => format !== "parquet" || store.state?.parquet).map(([format, words]) => h("li", {}, h("a", { href: `/api/export?format=${format}`, download: true }, words)))));
