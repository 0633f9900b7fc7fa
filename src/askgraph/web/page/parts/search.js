/** The search for all items of a class: its beginning, its end, and what it says. */
import { clear, h } from "../lib/dom.js";
import { save } from "../lib/session.js";
import { store } from "../lib/store.js";
import { words } from "../lib/words.js";

/** Asks for all items of a class from the next question on; null ends it.
 * @param {string | null} name
 */
export const seekAll = (name) => save("/api/classes", { kind: "find", name, value: null }, name === null ? words.find.ended : words.find.begun(name));

/** Says how many items of the class are found, and how many may be left.
 * @param {Findings} find
 */
export const findings = (find) => words.find.now(find.class, find.found, Math.round(find.value), find.low, find.high);

/** The line above the card while a class is sought. */
export function searchLine() {
  const text = h("span", { role: "status" });
  const element = h("p", { class: "seeking" }, text, h("button", { class: "plain", onclick: () => seekAll(null) }, words.find.end));

  function draw() {
    const find = store.state?.find ?? null;
    element.hidden = find === null;
    if (find) clear(text, find.left && find.left.found > 0 ? findings(find.left) : words.find.first(find.class));
  }

  return { element, draw };
}
