import { h } from "./dom.js";

/** A modal window; it leaves the page when it is closed. `onclose` is called then. */
export function openDialog(title, { wide = false, onclose = () => {} } = {}, ...children) {
  const body = h("div", { class: "dialog-body" }, children);
  const dialog = h("dialog", { class: wide ? "wide" : "", "aria-label": title, onclose: () => { dialog.remove(); onclose(); }, onclick: leaveByBackdrop },
    h("header", {}, h("h2", { dir: "auto" }, title), h("button", { class: "plain close", "aria-label": "Close", onclick: () => dialog.close() }, "Close", h("kbd", {}, "Esc"))),
    body);
  document.body.append(dialog);
  dialog.showModal();
  return { dialog, body };
}

export const dialogOpen = () => document.querySelector("dialog[open]") !== null;

function leaveByBackdrop(event) {
  if (event.target === event.currentTarget) event.currentTarget.close();
}
