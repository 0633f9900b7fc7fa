/** Modal windows. */
import { h } from "../lib/dom.js";

/** Opens a modal window, which is removed when it is closed; then `onclose` is called.
 * @param {string} title
 * @param {{ wide?: boolean, onclose?: () => void }} options
 * @param {...Child} children
 */
export function openDialog(title, { wide = false, onclose = () => {} } = {}, ...children) {
  const body = h("div", { class: "dialog-body" }, children);
  /** @type {HTMLDialogElement} */
  const dialog = h("dialog", { class: wide ? "wide" : "", "aria-label": title, onclose: () => { dialog.remove(); onclose(); }, onclick: leaveByBackdrop },
    h("header", {}, h("h2", { dir: "auto" }, title), h("button", { class: "plain close", "aria-label": "Close", onclick: () => dialog.close() }, "Close", h("kbd", {}, "Esc"))),
    body);
  document.body.append(dialog);
  dialog.showModal();
  return { dialog, body };
}

export const dialogOpen = () => document.querySelector("dialog[open]") !== null;

/** Closes the window when somebody clicks beside it.
 * @param {MouseEvent} event
 */
function leaveByBackdrop(event) {
  if (event.target === event.currentTarget && event.target instanceof HTMLDialogElement) event.target.close();
}
