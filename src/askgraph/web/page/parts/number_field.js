/** The answer where it is a number: a field with its unit. It takes digits only, so that other keys work as everywhere. */
import { h } from "../lib/dom.js";
import { isFigure } from "../lib/keys.js";
import { readFigure } from "../lib/numbers.js";
import { announce, say } from "../lib/notices.js";
import { answers } from "../lib/store.js";
import { words } from "../lib/words.js";

const ODD = /[^\d.,−-]/; // what is typed and no part of a number
const LONGEST = 40; // characters
let made = 0; // fields, for the names of what describes them

/** @type {MakeControl} */
export function numberField({ pick }) {
  const { unit } = answers();
  const wrong = h("p", { class: "wrong-number", id: `wrong-${++made}` });
  const input = h("input", { inputmode: "decimal", enterkeyhint: "send", autocomplete: "off", maxlength: LONGEST, "data-figures": true, "aria-label": words.labels.number(unit), "aria-describedby": wrong.id, oninput: edit, onbeforeinput: sift });
  const element = h("div", { class: "pick" },
    h("div", { class: "figures" }, h("button", { class: "button sign", "aria-label": words.labels.sign, onclick: turn }, "±"),
      h("label", { class: "figure-field" }, input, unit && h("bdi", { "aria-hidden": "true" }, unit)), h("button", { class: "primary", onclick: send }, words.labels.send, h("kbd", {}, "⏎"))),
    wrong);

  /** @param {InputEvent} event */
  function sift(event) {
    if (event.inputType === "insertText" && event.data && ODD.test(event.data)) event.preventDefault();
  }

  /** Remembers that something was typed: a Backspace too many empties the field and takes no answer back. */
  function edit() {
    input.dataset.edited = "";
    right();
  }

  function right() {
    wrong.textContent = "";
    input.removeAttribute("aria-invalid");
  }

  function turn() {
    input.value = /^[-−]/.test(input.value) ? input.value.slice(1) : `-${input.value}`;
    input.focus();
  }

  function begin() {
    input.value = "";
    delete input.dataset.edited;
    right();
    if (!elsewhere()) input.focus({ preventScroll: true });
  }

  /** Whether a person is at something else: a control that is not a part of this one. */
  const elsewhere = () => document.activeElement?.closest("a, button, input, select, textarea, summary") && !element.contains(document.activeElement);

  function send() {
    const value = readFigure(input.value, unit ?? "");
    if (!input.value.trim()) remind();
    else if (value === null) refuse();
    else pick(value);
  }

  function refuse() {
    wrong.textContent = words.labels.noNumber(input.value);
    input.setAttribute("aria-invalid", "true");
    announce(wrong.textContent);
    input.focus();
  }

  const remind = () => say(words.labels.typeNumber);

  return {
    element,
    draw() {},
    begin,
    key(key) {
      if (isFigure(key)) input.focus(); // and the key goes on, into the field
      const does = input.value.trim() ? { Enter: send, Escape: begin }[key] : null;
      does?.();
      return Boolean(does);
    },
    of: () => [input],
    remind,
  };
}
