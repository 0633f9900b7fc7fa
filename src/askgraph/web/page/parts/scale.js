/** The answer where an item is a step of a scale: the steps beside each other, the lowest first. */
import { changes, clear, h } from "../lib/dom.js";
import { named } from "../lib/labels.js";
import { say } from "../lib/notices.js";
import { classes } from "../lib/store.js";
import { words } from "../lib/words.js";
import { described } from "./descriptions.js";
import { marks } from "./marks.js";
import { swatch } from "./palette.js";

const LETTERS = { tiny: 2, short: 5, middling: 10 }; // in the longest name of the steps; with more it is long
/** Most steps beside each other, by the longest name: in a whole window, in half of one or at 200 %, and on a phone. */
const ABREAST = { tiny: 11, short: 9, middling: 7, long: 5 };
const MEDIUM = { tiny: 10, short: 7, middling: 5, long: 4 };
const NARROW = { tiny: 6, short: 5, middling: 3, long: 2 };

/** @type {MakeControl} */
export function stepScale({ pick }) {
  const list = h("div", { class: "classes scale", role: "group", "aria-label": words.labels.scale });
  /** @type {Map<string, HTMLButtonElement>} */
  const made = new Map();
  const changed = changes();
  const marking = marks({ pick, of: (name) => made.get(name) });

  function draw() {
    const all = classes();
    if (!changed(all.map((one) => [one.name, one.key]))) return;
    made.clear();
    for (const one of all) made.set(one.name, described(step(one), one));
    clear(list, [...made.values()]);
    const width = widthOf(Math.max(0, ...all.map((one) => one.name.length)));
    const places = Object.entries({ columns: ABREAST, "columns-medium": MEDIUM, "columns-narrow": NARROW }).map(([name, most]) => ({ name, n: inRow(all.length, most[width], width) }));
    for (const { name, n } of places) list.style.setProperty(`--${name}`, String(n));
    list.dataset.upright = places.filter(({ n }) => n === 1).map(({ name }) => name).join(" ");
    marking.again();
  }

  const step = (/** @type {ClassInfo} */ one) => h("button", { class: "class step", onclick: (/** @type {MouseEvent} */ event) => marking.press(one.name, event) },
    swatch(one.name), h("bdi", { class: "name" }, one.name), one.key && h("kbd", {}, one.key));

  return {
    element: h("div", { class: "pick" }, list, marking.line),
    draw,
    begin: marking.clear,
    key(key, event) {
      if (marking.key(key, event)) return true;
      if (key === "n") say(words.labels.stepsWhere, "done");
      return key === "n";
    },
    of: (label) => named(label).map((name) => made.get(name)),
  };
}

/** @type {(longest: number) => keyof typeof ABREAST} */
const widthOf = (longest) => (longest <= LETTERS.tiny ? "tiny" : longest <= LETTERS.short ? "short" : longest <= LETTERS.middling ? "middling" : "long");

/** Returns how many steps stand beside each other: all, or in even rows if their names are tiny, or one below the other.
 * @type {(n: number, most: number, width: string) => number}
 */
const inRow = (n, most, width) => (n <= most ? Math.max(1, n) : width === "tiny" ? Math.ceil(n / Math.ceil(n / most)) : 1);
