/** What an answer is given with: the buttons, checks, scale or field of the kind of answers that the project has. */
import { h } from "../lib/dom.js";
import { answers, mayLead, store } from "../lib/store.js";
import { classButtons } from "./buttons.js";
import { classChecks } from "./checks.js";
import { numberField } from "./number_field.js";
import { stepScale } from "./scale.js";

/** @type {Record<Answers["kind"], MakeControl>} */
const CONTROLS = { classes: classButtons, ordered: stepScale, several: classChecks, numbers: numberField };

/** Makes the control, as soon as the kind is known; `pick` is called with an answer.
 * @param {{ pick: (label: Label) => unknown }} options
 */
export function answerControl(options) {
  const element = h("div", { class: "control" });
  /** @type {Control | null} */
  let made = null;

  function draw() {
    if (!made && store.state) {
      made = CONTROLS[answers().kind](options);
      element.append(made.element);
    }
    made?.draw();
  }

  draw();
  return {
    element,
    draw,
    /** Begins with a new item: nothing is chosen. */
    begin: () => made?.begin(),
    /** Uses a key; returns whether it did.
     * @type {(key: string, event: KeyboardEvent) => boolean}
     */
    key: (key, event) => !(key === "Enter" && pressesOther(element)) && (made?.key(key, event) ?? false),
    /** Finds what stands for an answer.
     * @param {Label} label
     */
    of: (label) => made?.of(label) ?? [],
    /** Says that nothing is chosen yet. */
    remind: () => made?.remind?.(),
    openNew: () => made?.openNew?.(),
    /** Whether a class can be named by typing. */
    names: () => Boolean(made?.openNew) && mayLead(),
  };
}

/** Whether Enter presses something outside of an element.
 * @param {HTMLElement} element
 */
const pressesOther = (element) => document.activeElement?.closest("a, button, summary") && !element.contains(document.activeElement);
