/** One class by its button or key, or with Shift several, of which an item is one: they are marked, and Enter sends them. */
import { clear, h } from "../lib/dom.js";
import { unshifted } from "../lib/keys.js";
import { inWords, oneOf } from "../lib/labels.js";
import { classes } from "../lib/store.js";
import { words } from "../lib/words.js";

/** Makes the line that says what is marked; `pick` is called with an answer, `of` finds the button of a class.
 * @param {{ pick: (label: Label) => unknown, of: (name: string) => HTMLElement | undefined }} options
 */
export function marks({ pick, of }) {
  const line = h("p", { class: "marks", role: "status" });
  /** @type {string[]} */
  let marked = [];

  /** Answers with a class, or marks it.
   * @type {(name: string, event?: { shiftKey: boolean }) => void}
   */
  function press(name, event) {
    if (event?.shiftKey) mark(marked.includes(name) ? marked.filter((one) => one !== name) : [...marked, name]);
    else pick(name);
  }

  /** @param {string[]} names */
  function mark(names) {
    marked = names;
    for (const { name } of classes()) of(name)?.classList.toggle("marked", marked.includes(name));
    clear(line, marked.length > 0 && [h("bdi", {}, marked.length > 1 ? inWords(oneOf(marked)) : words.labels.orWhich(marked[0])), h("button", { class: "plain strong", onclick: send }, words.labels.send, h("kbd", {}, "⏎")),
      h("button", { class: "plain", onclick: clearMarks }, words.labels.clear, h("kbd", {}, "Esc"))]);
  }

  const clearMarks = () => mark([]);

  function send() {
    pick(oneOf(marked));
  }

  /** Uses a key; returns whether it did.
   * @type {(key: string, event: KeyboardEvent) => boolean}
   */
  function use(key, event) {
    const wanted = event.shiftKey && key !== "?" ? unshifted(event) : key;
    const chosen = classes().find((one) => one.key === wanted && of(one.name));
    if (chosen) press(chosen.name, event);
    else if (key === "Enter" && marked.length && !line.contains(document.activeElement)) send();
    else if (key === "Escape" && marked.length) clearMarks();
    else return false;
    return true;
  }

  return { line, press, key: use, clear: clearMarks, again: () => mark(marked) };
}
