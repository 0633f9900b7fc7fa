/** The buttons of the classes: name, key and count; a filter when there are many; a field for a new class. */
import { changes, clear, h } from "../lib/dom.js";
import { swatch } from "./palette.js";
import { classes } from "../lib/store.js";
import { count } from "../lib/format.js";

const MANY = 12; // classes: with more there is a filter
const LONGEST = 200; // characters of a class name; the server refuses more
const SHORT = 5; // characters: if no name is longer, the buttons are narrow

/** Makes the buttons; `pick` is called with the chosen class, an old or a new one.
 * @param {{ pick: (name: string) => unknown, keys?: boolean }} options
 */
export function answerButtons({ pick, keys = true }) {
  const list = h("div", { class: "classes", role: "group", "aria-label": "Classes" });
  const filter = h("input", { type: "search", placeholder: "Find a class", "aria-label": "Find a class", autocomplete: "off", oninput: narrow, onkeydown: leave });
  const find = h("form", { class: "find", onsubmit: pickFirst }, filter, keys && h("kbd", {}, "/"));
  const name = h("input", { placeholder: "Name of the new class", "aria-label": "Name of the new class", autocomplete: "off", maxlength: LONGEST, onkeydown: leave });
  const fresh = h("form", { class: "new-class", onsubmit: pickNew }, name, h("button", { class: "primary" }, "Label with it", keys && h("kbd", {}, "⏎")));
  const element = h("div", { class: "pick" }, find, list, fresh);
  /** @type {Map<string, HTMLButtonElement>} */
  const made = new Map();
  const changed = changes();
  fresh.hidden = true;

  function draw() {
    const all = classes();
    if (changed(all.map((one) => [one.name, one.key]))) rebuild(all);
    for (const one of all) {
      const counter = made.get(one.name)?.querySelector(".count");
      if (counter) counter.textContent = count(one.count);
    }
  }

  /** @param {ClassInfo[]} all */
  function rebuild(all) {
    made.clear();
    for (const one of all) made.set(one.name, button(one));
    clear(list, [...made.values()]);
    find.hidden = all.length <= MANY;
    list.classList.toggle("many", all.length > MANY);
    list.classList.toggle("short", all.every((one) => one.name.length <= SHORT));
    narrow();
  }

  const button = (/** @type {ClassInfo} */ one) => h("button", { class: "class", onclick: () => pick(one.name) },
    swatch(one.name), h("bdi", { class: "name" }, one.name), h("span", { class: "count", "aria-label": "labels so far" }),
    keys && one.key && h("kbd", {}, one.key));

  function narrow() {
    const wanted = filter.value.trim().toLowerCase();
    for (const [title, one] of made) one.hidden = !title.toLowerCase().includes(wanted);
    for (const one of made.values()) one.classList.remove("first");
    if (wanted) first()?.classList.add("first");
  }

  const first = () => [...made.values()].find((one) => !one.hidden);

  /** @param {SubmitEvent} event */
  function pickFirst(event) {
    event.preventDefault();
    const chosen = [...made].find(([, one]) => one === first());
    if (!filter.value.trim() || !chosen) return;
    filter.value = "";
    narrow();
    pick(chosen[0]);
  }

  /** @param {SubmitEvent} event */
  function pickNew(event) {
    event.preventDefault();
    const wanted = name.value.trim();
    if (!wanted) return;
    const known = classes().find((one) => one.name.toLowerCase() === wanted.toLowerCase());
    name.value = "";
    shut();
    pick(known?.name ?? wanted);
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
    fresh.hidden = false;
    name.focus();
  }

  return { element, draw, openNew, openFilter: () => !find.hidden && filter.focus(), of: (/** @type {string} */ label) => made.get(label) };
}
