/** A window with the classes as buttons: a click, Enter or the key of a class chooses it. */
import { classList } from "./class_list.js";
import { openDialog } from "./dialog.js";
import { h } from "../lib/dom.js";
import { classes } from "../lib/store.js";

/** Opens the window; `pick` is called with the class that is chosen.
 * @param {string} title
 * @param {Child} gist
 * @param {(name: string) => unknown} pick
 * @param {string | null} without
 */
export function chooseClass(title, gist, pick, without = null) {
  const buttons = classList({ press: choose, add: choose, without });
  buttons.draw();
  const { dialog, body } = openDialog(title, { onkey: byKey }, h("p", { class: "soft" }, gist), buttons.element);
  body.tabIndex = -1;
  body.focus();

  /** @param {string} key */
  function byKey(key) {
    const chosen = classes().find((one) => one.key === key && one.name !== without);
    if (chosen) choose(chosen.name);
    return Boolean(chosen);
  }

  /** @param {string} name */
  function choose(name) {
    dialog.close();
    pick(name);
  }
}
