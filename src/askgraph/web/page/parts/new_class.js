/** A class that is named by typing: where the name is close to one that is there, the page asks which of the two is meant. */
import { data, h } from "../lib/dom.js";
import { nearest } from "../lib/near.js";
import { classes } from "../lib/store.js";
import { words } from "../lib/words.js";
import { openDialog } from "./dialog.js";
import { swatch } from "./palette.js";

/** Calls `pick` with the class that is meant: at once, or after a question. Escape leaves the question, and nothing is picked.
 * @param {string} typed
 * @param {(name: string) => unknown} pick
 */
export function settleClass(typed, pick) {
  const near = nearest(typed, classes().map((one) => one.name));
  if (near === null) {
    pick(typed);
    return;
  }
  const { dialog } = openDialog(words.classes.near(near), {}, h("div", { class: "ways" },
    h("button", { class: "primary", autofocus: true, onclick: () => choose(near) }, swatch(near), data(near), h("kbd", {}, "⏎")),
    h("button", { class: "button", onclick: () => choose(typed) }, h("span", {}, words.classes.asNew(data(typed))))));

  /** @param {string} name */
  function choose(name) {
    dialog.close();
    pick(name);
  }
}
