/** Modal windows. */
import { h } from "../lib/dom.js";
import { words } from "../lib/words.js";

/** What keys do in the windows that are open, the topmost last.
 * @type {((key: string, event: KeyboardEvent) => boolean)[]}
 */
const pressed = [];

/** Opens a modal window, which is removed when it is closed; then `onclose` is called. `onkey` says whether it has used a key.
 * @param {string} title
 * @param {{ wide?: boolean, onclose?: () => void, onkey?: (key: string, event: KeyboardEvent) => boolean }} options
 * @param {...Child} children
 */
export function openDialog(title, { wide = false, onclose = () => {}, onkey = () => false } = {}, ...children) {
  const body = h("div", { class: "dialog-body" }, children);
  /** @type {HTMLDialogElement} */
  const dialog = h("dialog", { class: wide ? "wide" : "", "aria-label": title, onclose: leave, onclick: leaveByBackdrop },
    h("header", {}, h("h2", { dir: "auto" }, title), h("button", { class: "plain close", onclick: () => dialog.close() }, words.dialog.close, h("kbd", { "aria-hidden": "true" }, "Esc"))),
    body);
  document.body.append(dialog);
  pressed.push(onkey);
  dialog.showModal();
  for (const part of [dialog, body]) part.scrollTop = 0; // a button below a long text may have the focus; the text is read first
  return { dialog, body };

  function leave() {
    pressed.splice(pressed.indexOf(onkey), 1);
    dialog.remove();
    onclose();
  }
}

export const dialogOpen = () => document.querySelector("dialog[open]") !== null;

/** Gives a key to the topmost window; returns whether it was used.
 * @type {(key: string, event: KeyboardEvent) => boolean}
 */
export const dialogKey = (key, event) => pressed.at(-1)?.(key, event) ?? false;

/** Closes the window when somebody clicks beside it.
 * @param {MouseEvent} event
 */
function leaveByBackdrop(event) {
  if (event.target === event.currentTarget && event.target instanceof HTMLDialogElement) event.target.close();
}
