import { h } from "./dom.js";

const FORMATS = { csv: "CSV, for a spreadsheet", jsonl: "JSON lines", parquet: "Parquet", labelstudio: "Label Studio" };

export const exportLinks = () => h("details", { class: "menu", onclick: ({ target, currentTarget }) => { if (target.closest("a")) currentTarget.open = false; } },
  h("summary", {}, "Export"),
  h("ul", {}, Object.entries(FORMATS).map(([format, words]) => h("li", {}, h("a", { href: `/api/export?format=${format}`, download: true }, words)))));
