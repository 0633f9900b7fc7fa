/** What only a lead may do: it is shown to others, too, and says why they cannot do it. */
import { h } from "../lib/dom.js";
import { mayLead } from "../lib/store.js";
import { words } from "../lib/words.js";

/** Switches off the controls in an element for those who label only.
 * @template {HTMLElement} E
 * @param {E} element
 * @returns {E}
 */
export function forLeads(element) {
  if (mayLead()) return element;
  for (const one of [element, ...element.querySelectorAll("button, input")]) {
    if (!(one instanceof HTMLButtonElement || one instanceof HTMLInputElement)) continue;
    one.disabled = true;
    one.title = words.people.leadsOnly;
  }
  return element;
}

/** Says why controls are off; nothing for those who may use them. */
export const leadsOnly = () => !mayLead() && h("p", { class: "soft leads-only" }, words.people.leadsOnly);
