/** The class buttons: name, key and count; a filter when there are many; a field for a new class. */
import { changes, clear, h } from "./dom.js";
import { swatch } from "./palette.js";
import { classes } from "./store.js";
import { count } from "./words.js";

const MANY = 12;
const LONGEST = 200;
const SHORT = 5;

/** `pick(name)` is called with the class that was chosen, be it an old or a new one. */
export function answerButtons({ pick, keys = true }) {
  const list = h("div", { class: "classes", role: "group", "aria-label": "Classes" });
  const filter = h("input", { type: "search", placeholder: "Find a class", "aria-label": "Find a class", autocomplete: "off", oninput: narrow, onkeydown: leave });
  const find = h("form", { class: "find", onsubmit: pickFirst }, filter, keys && h("kbd", {}, "/"));
  const name = h("input", { placeholder: "Name of the new class", "aria-label": "Name of the new class", autocomplete: "off", maxlength: LONGEST, onkeydown: leave });
  const fresh = h("form", { class: "new-class", onsubmit: pickNew }, name, h("button", { class: "primary" }, "Label with it", keys && h("kbd", {}, "⏎")));
  const element = h("div", { class: "pick" }, find, list, fresh);
  const made = new Map();
  const changed = changes();
  fresh.hidden = true;

  function draw() {
    const all = classes();
    if (changed(all.map((one) => [one.name, one.key]))) rebuild(all);
    for (const one of all) made.get(one.name).querySelector(".count").textContent = count(one.count);
  }

  function rebuild(all) {
    made.clear();
    for (const one of all) made.set(one.name, button(one));
    clear(list, [...made.values()]);
    find.hidden = all.length <= MANY;
    list.classList.toggle("many", all.length > MANY);
    list.classList.toggle("short", all.every((one) => one.name.length <= SHORT));
    narrow();
  }

  const button = (one) => h("button", { class: "class", onclick: () => pick(one.name) },
    swatch(one.name), h("bdi", { class: "name" }, one.name), h("span", { class: "count", "aria-label": "labels so far" }),
    keys && one.key && h("kbd", {}, one.key));

  function narrow() {
    const wanted = filter.value.trim().toLowerCase();
    for (const [title, one] of made) one.hidden = !title.toLowerCase().includes(wanted);
    for (const one of made.values()) one.classList.remove("first");
    if (wanted) first()?.classList.add("first");
  }

  const first = () => [...made.values()].find((one) => !one.hidden);

  function pickFirst(event) {
    event.preventDefault();
    if (!filter.value.trim() || !first()) return;
    const chosen = [...made].find(([, one]) => one === first())[0];
    filter.value = "";
    narrow();
    pick(chosen);
  }

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
    document.activeElement?.blur();
  }

  function leave(event) {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    event.preventDefault();
    event.target.value = "";
    narrow();
    if (event.target === name) shut();
    else event.target.blur();
  }

  function openNew() {
    fresh.hidden = false;
    name.focus();
  }

  return { element, draw, openNew, openFilter: () => !find.hidden && filter.focus(), of: (label) => made.get(label) };
}
