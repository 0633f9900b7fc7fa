/** The window in which a person says what to find all of: a class, a step and all above it, or the highest or lowest numbers. */
import { h } from "../lib/dom.js";
import { readFigure } from "../lib/numbers.js";
import { answers, store } from "../lib/store.js";
import { words } from "../lib/words.js";
import { chooseClass } from "./choose_class.js";
import { openDialog } from "./dialog.js";
import { FROM, seekAll } from "./search.js";

export function chooseSought() {
  const { kind } = answers();
  if (kind === "numbers") chooseNumbers();
  else if (kind === "ordered") chooseSteps();
  else chooseClass(words.find.which, words.find.by[kind].means, seekAll, store.state?.find?.class ?? null);
}

/** Lets a person choose a step, by itself or with all above it. */
function chooseSteps() {
  const above = h("input", { type: "checkbox", checked: true });
  chooseClass(words.find.whichStep, [words.find.by.ordered.means, h("label", { class: "check above" }, above, words.find.above)], (name) => seekAll(name, above.checked ? FROM : null));
}

/** Lets a person choose the highest or the lowest numbers, or all from one on. */
function chooseNumbers() {
  const least = h("input", { inputmode: "decimal", "aria-label": words.find.leastNumber, placeholder: words.find.leastNumber, autocomplete: "off" });
  const wrong = h("p", { class: "wrong-number", role: "alert" });
  const { dialog } = openDialog(words.find.whichNumbers, {}, h("p", { class: "soft" }, words.find.meansNumbers),
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
    seekAll(null, value);
  }
}
