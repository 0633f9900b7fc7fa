/** The sentence that describes a class, at its button. */
import { h } from "../lib/dom.js";

/** Returns a button with the description of its class.
 * @param {HTMLButtonElement} button
 * @param {ClassInfo} one
 */
export function described(button, one) {
  if (!one.description) return button;
  button.title = one.description;
  button.append(h("small", { class: "about", dir: "auto" }, one.description));
  return button;
}
