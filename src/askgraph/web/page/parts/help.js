/** The list of keys. */
import { openDialog } from "./dialog.js";
import { h } from "../lib/dom.js";
import { swatch } from "./palette.js";
import { classes } from "../lib/store.js";

/** @type {[string, Child][]} */
const ANSWERS = [["s", "Ask me later"], ["c", "Cannot tell"], ["x", "Not a valid item"], ["n", "A new class"], ["Enter", "As suggested"], ["⌫ or u", "Undo"]];
/** @type {[string, Child][]} */
const VIEWS = [["w", "Why this one"], ["t", "Table of all items"], ["m", "Map"], ["p", "Where I am"], ["h", "History"], ["Esc", "Back to the question"], ["?", "This help"]];
/** @type {[string, Child][]} */
const REST = [["/", "Search, or find a class"], ["↑ ↓ space", "Scroll a long item"], ["← ↑ → ↓", "Move the map"], ["+ − 0", "Zoom, see all of it"]];

export function openHelp() {
  /** @type {[string, Child][]} */
  const own = classes().filter((one) => one.key).map((one) => [one.key, h("span", { class: "tag" }, swatch(one.name), h("bdi", {}, one.name))]);
  openDialog("Keys", {}, h("p", { class: "soft" }, "One key labels the item, saves it and brings the next one."),
    h("div", { class: "keys" }, table("Classes", own), table("Answers", ANSWERS), table("Views", VIEWS), table("Moving", REST)));
}

/** @type {(title: string, rows: [string, Child][]) => Child} */
const table = (title, rows) => rows.length > 0 && h("section", {}, h("h3", {}, title),
  h("dl", {}, rows.map(([key, words]) => h("div", {}, h("dt", {}, h("kbd", {}, key)), h("dd", {}, words)))));
