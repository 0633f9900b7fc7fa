/** The classes as buttons: name and key; a filter when there are many; a field for a new class. */
import { changes, clear, h } from "../lib/dom.js";
import { described } from "./descriptions.js";
import { settleClass } from "./new_class.js";
import { swatch } from "./palette.js";
import { say } from "../lib/notices.js";
import { classes, mayLead } from "../lib/store.js";
import { words } from "../lib/words.js";

const MANY = 12; // classes: with more there is a filter
const LONGEST = 200; // characters of a class name; the server refuses more
const BOX = 6; // letters that have room where a box to check stands
const LETTERS = { tiny: 2, short: 5, middling: 14 }; // in the longest name of a project's classes; with more it is long
/** Most buttons beside each other, by the longest name: in a whole window, in half of one or at 200 %, and on a phone. */
const ABREAST = { tiny: 5, short: 5, middling: 4, long: 3 };
const MEDIUM = { tiny: 5, short: 4, middling: 3, long: 2 };
const NARROW = { tiny: 4, short: 3, middling: 2, long: 2 };

/** Makes the buttons; `press` is called with the class of one, `add` with a class that was named by typing. The class `without` has none.
 * @param {{ press: (name: string, event?: MouseEvent) => unknown, add: (name: string) => unknown, without?: string | null, role?: string | null }} options
 */
export function classList({ press, add, without = null, role = null }) {
  const list = h("div", { class: "classes", role: "group", "aria-label": words.classes.group });
  const filter = h("input", { type: "search", placeholder: words.classes.find, "aria-label": words.classes.find, autocomplete: "off", oninput: narrow, onkeydown: leave });
  const find = h("form", { class: "find", onsubmit: pickFirst }, filter, h("kbd", {}, "/"));
  const name = h("input", { placeholder: words.classes.newName, "aria-label": words.classes.newName, autocomplete: "off", maxlength: LONGEST, onkeydown: leave });
  const fresh = h("form", { class: "new-class", onsubmit: pickNew }, name, h("button", { class: "primary" }, words.classes.use, h("kbd", {}, "⏎")));
  const first = h("p", { class: "gist" }, words.classes.first);
  const element = h("div", { class: "pick" }, find, list, first, fresh);
  /** @type {Map<string, HTMLButtonElement>} */
  const made = new Map();
  const changed = changes();
  fresh.hidden = true;

  /** Brings the buttons to the classes there are; returns whether they are other ones. */
  function draw() {
    const all = classes().filter((one) => one.name !== without);
    const others = changed(all.map((one) => [one.name, one.key]));
    if (others) rebuild(all);
    return others;
  }

  /** @param {ClassInfo[]} all */
  function rebuild(all) {
    made.clear();
    for (const one of all) made.set(one.name, described(button(one), one));
    clear(list, [...made.values()]);
    first.hidden = all.length > 0;
    find.hidden = all.length <= MANY;
    list.classList.toggle("many", all.length > MANY);
    const width = widthOf(Math.max(0, ...all.map((one) => one.name.length)) + (role === "checkbox" ? BOX : 0));
    list.dataset.width = width;
    list.style.setProperty("--columns", String(evenly(all.length, ABREAST[width])));
    list.style.setProperty("--columns-medium", String(evenly(all.length, MEDIUM[width])));
    const narrowly = evenly(all.length, NARROW[width]);
    list.style.setProperty("--columns-narrow", String(narrowly));
    list.classList.toggle("last-alone", all.length > 1 && all.length % narrowly === 1);
    narrow();
  }

  const button = (/** @type {ClassInfo} */ one) => h("button", { class: "class", role, onclick: (/** @type {MouseEvent} */ event) => press(one.name, event) },
    swatch(one.name), h("bdi", { class: "name" }, one.name), one.key && h("kbd", {}, one.key));

  function narrow() {
    const wanted = filter.value.trim().toLowerCase();
    for (const [title, one] of made) one.hidden = !title.toLowerCase().includes(wanted);
    for (const one of made.values()) one.classList.remove("first");
    if (wanted) firstShown()?.classList.add("first");
  }

  const firstShown = () => [...made.values()].find((one) => !one.hidden);

  /** @param {SubmitEvent} event */
  function pickFirst(event) {
    event.preventDefault();
    const chosen = [...made].find(([, one]) => one === firstShown());
    if (!filter.value.trim() || !chosen) return;
    filter.value = "";
    narrow();
    press(chosen[0]);
  }

  /** @param {SubmitEvent} event */
  function pickNew(event) {
    event.preventDefault();
    const wanted = name.value.trim();
    if (!wanted) return;
    settleClass(wanted, (chosen) => {
      name.value = "";
      shut();
      add(chosen);
    });
  }

  function shut() {
    fresh.hidden = true;
    if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
  }

  /** @param {KeyboardEvent} event */
  function leave(event) {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    event.preventDefault();
    const field = event.target === name ? name : filter;
    field.value = "";
    narrow();
    if (field === name) shut();
    else field.blur();
  }

  function openNew() {
    if (!mayLead()) {
      say(words.people.leadsOnly);
      return;
    }
    fresh.hidden = false;
    name.focus();
  }

  /** Goes to the filter; returns whether there is one. */
  function openFilter() {
    if (!find.hidden) filter.focus();
    return !find.hidden;
  }

  return { element, draw, openNew, openFilter, of: (/** @type {string} */ title) => made.get(title) };
}

/** @type {(longest: number) => keyof typeof ABREAST} */
const widthOf = (longest) => (longest <= LETTERS.tiny ? "tiny" : longest <= LETTERS.short ? "short" : longest <= LETTERS.middling ? "middling" : "long");

/** Returns how many stand beside each other, so that rows are as full as they can be: six are 3 + 3, not 4 + 2.
 * @type {(n: number, most: number) => number}
 */
const evenly = (n, most) => Math.max(1, Math.ceil(n / Math.ceil(n / most)));
