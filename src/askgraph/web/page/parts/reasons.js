/** Why the last answer is what it is: tags in the line above the card, which go with the next answer. */
import { clear, h } from "../lib/dom.js";
import { announce } from "../lib/notices.js";
import { giveReasons } from "../lib/session.js";
import { store, update } from "../lib/store.js";
import { words } from "../lib/words.js";
import { labelTag } from "./label_tag.js";

const KEY = "-"; // before the number of a reason: numbers alone answer the card
const NUMBERED = 9; // reasons that have a key

export function reasonStrip() {
  const tags = h("div", { class: "reason-tags" });
  const element = h("div", { class: "reasons", role: "group", "aria-label": words.reasons.title, hidden: true }, tags,
    h("button", { class: "plain", "aria-label": words.dialog.close, onclick: close }, "✕"));
  /** @type {Reasoned | null} */
  let drawn = null;

  function draw() {
    const { reasoned } = store;
    if (reasoned === drawn) return;
    const same = drawn?.item === reasoned?.item && drawn?.offered === reasoned?.offered;
    drawn = reasoned;
    element.hidden = !reasoned;
    if (!reasoned) return;
    if (!same) build(reasoned);
    for (const button of tags.querySelectorAll("button")) button.setAttribute("aria-pressed", String(reasoned.given.includes(button.dataset.reason ?? "")));
  }

  /** @param {Reasoned} reasoned */
  function build({ label, offered }) {
    arm(false);
    clear(tags, labelTag(label), h("span", { class: "soft" }, words.reasons.because), h("kbd", { "aria-hidden": "true" }, KEY),
      offered.map((name, place) => h("button", { class: "reason", "data-reason": name, onclick: () => turn(name) }, place < NUMBERED && h("kbd", { "aria-hidden": "true" }, place + 1), h("bdi", {}, name))));
  }

  /** @param {boolean} on */
  const arm = (on) => { element.classList.toggle("armed", on); };

  function close() {
    update({ reasoned: null });
  }

  /** @param {string} name */
  function turn(name) {
    if (!store.reasoned) return;
    const { given, offered } = store.reasoned;
    giveReasons(store.reasoned, offered.filter((one) => (one === name) !== given.includes(one)));
  }

  /** Uses a key: the sign, and after it the number of a reason; returns whether it did.
   * @param {string} key
   */
  function use(key) {
    if (!store.reasoned) return false;
    const armed = element.classList.contains("armed");
    arm(key === KEY && !armed);
    if (key === KEY) {
      if (!armed) announce(words.reasons.press(store.reasoned.offered));
      return true;
    }
    const name = armed && /^[1-9]$/.test(key) ? store.reasoned.offered[Number(key) - 1] : undefined;
    if (name !== undefined) turn(name);
    return armed && (name !== undefined || key === "Escape" || /^\d$/.test(key));
  }

  return { element, draw, key: use };
}
