/** How many numbers, given and predicted, lie between each two edges. */
import { h } from "../lib/dom.js";
import { rangeWords } from "../lib/labels.js";
import { rising, tinted } from "./palette.js";
import { words } from "../lib/words.js";

/** @param {Histogram} numbers */
export function histogram({ edges, given, predicted }) {
  const longest = Math.max(1, ...given.map((n, k) => n + predicted[k]));
  return h("ul", { class: "bars wide histogram" }, given.map((n, k) => h("li", {}, h("span", { class: "number" }, rangeWords([edges[k], edges[k + 1]])),
    h("span", { class: "track tinted", vars: { ...tinted(rising(k / Math.max(1, given.length - 1))), share: n / longest, guess: predicted[k] / longest } }, n > 0 && h("span", { class: "part given" }), h("span", { class: "part guessed" })),
    h("span", { class: "amount" }, words.progress.counts(n, predicted[k])))));
}
