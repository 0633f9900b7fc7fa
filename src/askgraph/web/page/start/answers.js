/** What an answer is in the new project: a class, several, a step or a number; with an offer where the labels there are look like one. */
import { clear, data, h } from "../lib/dom.js";
import { words } from "../lib/words.js";

const say = words.start.answers;
const KINDS = /** @type {Answers["kind"][]} */ (["classes", "several", "ordered", "numbers"]);

/** @typedef {{ kind: Answers["kind"], classes: string[] }} Offered what a column of labels looks like */

/** The choice, and what belongs to it. */
export class AnswerChoice {
  constructor() {
    /** @type {Answers["kind"]} */
    this.kind = "classes";
    this.classes = h("input", { autocomplete: "off" });
    this.named = h("span");
    this.unit = h("input", { autocomplete: "off", maxlength: 40, placeholder: say.unitSuch });
    this.link = h("select", {}, Object.entries(say.links).map(([value, text]) => h("option", { value }, text)));
    this.classesLine = h("label", {}, this.named, this.classes);
    this.unitLine = h("label", {}, say.unit, this.unit);
    this.linkLine = h("label", {}, say.link, this.link);
    this.offerPlace = h("div", { class: "offers", role: "status" });
    this.boxes = KINDS.map((kind) => h("input", { type: "radio", name: "answers", value: kind, onchange: () => this.choose(kind) }));
    this.element = h("fieldset", { class: "answer-choice" }, h("legend", {}, say.what),
      KINDS.map((kind, k) => h("label", {}, this.boxes[k], h("span", {}, say.kinds[kind], " ", h("span", { class: "soft" }, say.such[kind])))),
      this.offerPlace, this.classesLine, this.unitLine, this.linkLine);
    this.choose("classes");
  }

  /** What a request to make a project says of the answers. */
  get said() {
    const numbers = this.kind === "numbers";
    return { answers: this.kind, classes: numbers ? [] : this.classes.value.split(",").map((one) => one.trim()).filter(Boolean),
      unit: numbers ? this.unit.value.trim() || null : null, link: numbers ? this.link.value : null };
  }

  /** @param {Answers["kind"]} kind */
  choose(kind) {
    this.kind = kind;
    for (const box of this.boxes) box.checked = box.value === kind;
    this.named.textContent = kind === "ordered" ? say.steps : words.start.classes;
    this.classes.placeholder = kind === "ordered" ? say.stepsSuch : words.start.classesSuch;
    this.classesLine.hidden = kind === "numbers";
    this.unitLine.hidden = this.linkLine.hidden = kind !== "numbers";
  }

  /** Offers what the labels there are look like; null for nothing in particular.
   * @param {string} name
   * @param {Offered | null} offered
   */
  offer(name, offered) {
    const take = () => {
      if (!offered) return;
      this.choose(offered.kind);
      if (offered.kind === "ordered") this.classes.value = offered.classes.join(", ");
      clear(this.offerPlace);
    };
    clear(this.offerPlace, offered && offered.kind !== this.kind && h("div", { class: "offer" }, h("p", {}, say.looks[offered.kind](data(name), offered.classes.join(", "))),
      h("div", { class: "choices" }, h("button", { class: "button", type: "button", onclick: take }, say.take))));
  }
}
