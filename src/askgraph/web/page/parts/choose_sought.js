/** The window in which a person says what to find all of: a class, a step and all above it, or the highest or lowest numbers. */
import { h } from "../lib/dom.js";
import { readFigure } from "../lib/numbers.js";
import { answers, store } from "../lib/store.js";
import { words } from "../lib/words.js";
import { chooseClass } from "./choose_class.js";
import { openDialog } from "./dialog.js";
import { FROM, seekAll } from "./search.js";

const LONGEST = 1000; // characters of a description; the server refuses more

export function chooseSought() {
  const { kind } = answers();
  if (kind === "numbers") chooseNumbers();
  else if (kind === "ordered") chooseSteps();
  else chooseOne(kind);
}

/** Leads to items of a class that nobody has seen: by a description, or where items have no texts, by the table.
 * @param {string} name
 */
export function lookFor(name) {
  const { element, like } = describing();
  if (!element) {
    location.hash = "table";
    return;
  }
  const { dialog } = openDialog(words.find.lookForTitle(name), {}, h("p", { class: "soft" }, words.find.lookForMeans),
    h("form", { onsubmit: submit }, element, h("div", { class: "ways start-ways" }, h("button", { class: "primary" }, words.find.lookFor), h("a", { class: "button", href: "#table", onclick: () => dialog.close() }, words.find.inTable))));
  element.querySelector("input")?.focus();

  /** @param {SubmitEvent} event */
  async function submit(event) {
    event.preventDefault();
    if (!like().trim()) return;
    dialog.close();
    if (await seekAll(name, null, like())) location.hash = "question";
  }
}

/** Lets a person describe what is sought, where items have texts. */
function describing() {
  const field = h("input", { maxlength: LONGEST, placeholder: words.find.describeLike, autocomplete: "off" });
  const element = store.state?.texts ? h("label", { class: "describe" }, h("span", {}, words.find.describe), field, h("small", {}, words.find.describeMeans)) : null;
  return { element, like: () => field.value };
}

/** Lets a person choose a class.
 * @param {"classes" | "several"} kind
 */
function chooseOne(kind) {
  const { element, like } = describing();
  chooseClass(words.find.which, [words.find.by[kind].means, element], (name) => seekAll(name, null, like()), element ? null : store.state?.find?.class ?? null);
}

/** Lets a person choose a step, by itself or with all above it. */
function chooseSteps() {
  const { element, like } = describing();
  const above = h("input", { type: "checkbox", checked: true });
  const gist = [words.find.by.ordered.means, h("label", { class: "check above" }, above, words.find.above), element];
  chooseClass(words.find.whichStep, gist, (name) => seekAll(name, above.checked ? FROM : null, like()));
}

/** Lets a person choose the highest or the lowest numbers, or all from one on. */
function chooseNumbers() {
  const { element, like } = describing();
  const least = h("input", { inputmode: "decimal", "aria-label": words.find.leastNumber, placeholder: words.find.leastNumber, autocomplete: "off" });
  const wrong = h("p", { class: "wrong-number", role: "alert" });
  const { dialog } = openDialog(words.find.whichNumbers, {}, h("p", { class: "soft" }, words.find.meansNumbers, element),
    h("div", { class: "ways start-ways" }, ["highest", "lowest"].map((value) => h("button", { class: "button", onclick: () => choose(value) }, words.find[/** @type {"highest" | "lowest"} */ (value)]))),
    h("form", { class: "ways start-ways", onsubmit: submit }, h("label", { class: "figure-field" }, least, answers().unit), h("button", { class: "button" }, words.find.fromThere)), wrong);

  /** @param {SubmitEvent} event */
  function submit(event) {
    event.preventDefault();
    const value = readFigure(least.value, answers().unit ?? "");
    if (value === null) wrong.textContent = words.labels.noNumber(least.value);
    else choose(String(value));
  }

  /** @param {string} value */
  function choose(value) {
    dialog.close();
    seekAll(null, value, like());
  }
}
