/** The smaller buttons under the classes: in a row or, where the window is low, in a menu behind a button. */
import { h } from "../lib/dom.js";
import { words } from "../lib/words.js";

/** Makes the row of buttons, the button that opens it as a menu, and what closes that.
 * @param {...Child} buttons
 */
export function actionsMenu(...buttons) {
  const opener = h("button", { class: "plain opener", "aria-label": words.question.more, "aria-expanded": "false", onclick: toggle }, "…");
  // A press keeps the keyboard where it is: in browsers that do not give it to a pressed button, the menu would be gone before the click.
  const list = h("div", { class: "others", role: "group", "aria-label": words.question.more, onclick: shut, onkeydown: leave, onfocusout: left,
    onpointerdown: (/** @type {Event} */ event) => event.preventDefault() }, buttons);

  const open = () => opener.getAttribute("aria-expanded") === "true";

  /** @param {boolean} wanted */
  function set(wanted) {
    opener.setAttribute("aria-expanded", String(wanted));
    list.classList.toggle("open", wanted);
  }

  function shut() {
    set(false);
  }

  function toggle() {
    set(!open());
    if (open()) list.querySelector("button")?.focus();
  }

  /** @param {FocusEvent} event */
  function left({ relatedTarget }) {
    if (relatedTarget !== opener && !(relatedTarget instanceof Node && list.contains(relatedTarget))) shut();
  }

  /** @param {KeyboardEvent} event */
  function leave(event) {
    if (event.key !== "Escape" || !open()) return;
    event.stopPropagation();
    shut();
    opener.focus();
  }

  return { opener, list, shut };
}
