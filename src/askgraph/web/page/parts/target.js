/** The error that a person aims at: a few to choose from, or of numbers a field. */
import { h } from "../lib/dom.js";
import { sayError } from "../lib/notices.js";
import { figure, readFigure } from "../lib/numbers.js";
import { save } from "../lib/session.js";
import { answers } from "../lib/store.js";
import { words } from "../lib/words.js";
import { measure } from "./measure.js";

/** Lets a person say what to aim at; `changed` is called after that.
 * @type {(target: number | null, changed: () => void) => HTMLElement}
 */
export function targetChoice(target, changed) {
  /** @param {number} error */
  const choose = async (error) => { if (await save("/api/target", { target: error }, words.saved.target)) changed(); };
  return h("div", { class: "aim" }, h("span", { id: "target" }, words.progress.aim), measure().targets.length ? buttons(target, choose) : field(target, choose));
}

/** @type {(target: number | null, choose: (error: number) => unknown) => HTMLElement} */
function buttons(target, choose) {
  const { targets, short, say } = measure();
  const all = [...new Set(target === null ? targets : [...targets, target])].sort((a, b) => b - a);
  return h("div", { class: "steps", role: "group", "aria-labelledby": "target" }, all.map((one) => h("button", {
    class: "plain", "aria-pressed": String(one === target), "aria-label": say.aim(short(one)), onclick: () => choose(one),
  }, short(one))), h("span", { class: "soft", "aria-hidden": "true" }, say.aimed));
}

/** @type {(target: number | null, choose: (error: number) => unknown) => HTMLElement} */
function field(target, choose) {
  const input = h("input", { inputmode: "decimal", autocomplete: "off", value: target === null ? "" : figure(target), "aria-labelledby": "target" });
  return h("form", { class: "ways", onsubmit: submit }, h("label", { class: "figure-field" }, h("span", {}, words.progress.offBy), input, answers().unit), h("button", { class: "button" }, words.progress.setTarget));

  /** @param {SubmitEvent} event */
  function submit(event) {
    event.preventDefault();
    const error = readFigure(input.value, answers().unit ?? "");
    if (error === null) sayError(words.labels.noNumber(input.value));
    else choose(error);
  }
}
