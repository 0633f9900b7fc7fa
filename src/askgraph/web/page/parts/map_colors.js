/** What the colors of the map mean: classes or steps; of several classes, how many there are or who has a chosen one; of numbers, their height. */
import { h } from "../lib/dom.js";
import { inUnit, inWords, named } from "../lib/labels.js";
import { rough } from "../lib/numbers.js";
import { answers, classes } from "../lib/store.js";
import { words } from "../lib/words.js";
import { colorsOf, rising, shapeOf, sizeOf, tag, tinted } from "./palette.js";

export const NONE = 65_535; // the code of an item without label and prediction
const TONES = 64; // colors of a scale of numbers
const TICKS = 5; // numbers at a scale
const MANY = 4; // classes of an item: more look the same

/**
 * @typedef {object} MapColors
 * @property {{ light: string, dark: string, shape: number, size?: number }[]} looks what points look like
 * @property {(code: number) => number} lookOf which of these a code of the map has; NONE for what has none
 * @property {(code: number) => string} text
 * @property {() => Child} legend
 */

/** Returns what the colors of a map mean. `chosen` is the class that a person looks for where items have several, `choose` tells of another.
 * @type {(parts: MapParts, chosen: string, choose: (name: string) => void) => MapColors}
 */
export function mapColors(parts, chosen, choose) {
  if (parts.scale) return heights(parts.scale);
  if (parts.sets) return chosen ? having(parts.sets, chosen, choose) : amounts(parts.sets, choose);
  return byClass(parts.classes);
}

/** @type {(names: string[]) => MapColors} */
function byClass(names) {
  const known = classes().map((one) => one.name);
  const looks = names.map((name, i) => {
    const place = known.includes(name) ? known.indexOf(name) : i;
    return { ...colorsOf(place, name), shape: shapeOf(place), size: sizeOf(place) };
  });
  return { looks, lookOf: (code) => code, text: (code) => names[code], legend: () => names.map((name) => h("li", {}, tag(name))) };
}

/** Colors items by how many classes they have.
 * @type {(sets: Label[], choose: (name: string) => void) => MapColors}
 */
function amounts(sets, choose) {
  const most = Math.min(MANY, Math.max(1, ...sets.map((one) => named(one).length)));
  const looks = Array.from({ length: most + 1 }, (_, n) => ({ ...rising(n / most), shape: 0, size: 0.6 + (0.5 * n) / most }));
  return { looks, lookOf: (code) => (code === NONE ? NONE : Math.min(most, named(sets[code]).length)), text: (code) => inWords(sets[code]),
    legend: () => [picker("", choose), looks.map((look, n) => h("li", {}, dot(look), words.map.amount(n, n === MANY)))] };
}

/** Colors items by whether they have a class.
 * @type {(sets: Label[], chosen: string, choose: (name: string) => void) => MapColors}
 */
function having(sets, chosen, choose) {
  const place = classes().findIndex((one) => one.name === chosen);
  const looks = [{ ...colorsOf(-1), shape: 0, size: 0.6 }, { ...colorsOf(place, chosen), shape: shapeOf(place) }];
  return { looks, lookOf: (code) => (code === NONE ? NONE : Number(named(sets[code]).includes(chosen))), text: (code) => inWords(sets[code]),
    legend: () => [picker(chosen, choose), h("li", {}, tag(chosen)), h("li", {}, dot(looks[0]), words.map.hasNot)] };
}

/** Colors items by their numbers.
 * @type {(scale: NonNullable<MapParts["scale"]>) => MapColors}
 */
function heights({ low, high, log }) {
  const number = (/** @type {number} */ share) => (log ? low * (high / low) ** share : low + share * (high - low));
  const looks = Array.from({ length: TONES }, (_, k) => ({ ...rising(k / (TONES - 1)), shape: 0 }));
  const ticks = Array.from({ length: high > low ? TICKS : 1 }, (_, k) => k / (TICKS - 1)).reverse();
  return { looks, lookOf: (code) => (code === NONE ? NONE : Math.round((code / (NONE - 1)) * (TONES - 1))), text: (code) => inUnit(rough(number(code / (NONE - 1)), high - low)),
    legend: () => ticks.map((share) => h("li", {}, dot(rising(share)), inUnit(rough(number(share), high - low)))) };
}

/** @param {{ light: string, dark: string, size?: number }} colors */
const dot = (colors) => h("span", { class: "dot tinted", "aria-hidden": "true", vars: { ...tinted(colors), size: colors.size ?? 1 } });

/** Lets a person choose the class that is looked for; the first choice is how many there are.
 * @type {(chosen: string, color: (name: string) => void) => HTMLElement}
 */
function picker(chosen, color) {
  /** @type {HTMLSelectElement} */
  const select = h("select", { "aria-label": words.map.colorBy, onchange: () => color(select.value) },
    h("option", { value: "" }, words.map.howMany), classes().map(({ name }) => h("option", { value: name }, name)));
  select.value = chosen;
  return h("li", {}, select);
}

/** Returns the bytes of the map with the place of a look instead of each code.
 * @type {(state: ArrayBuffer, colors: MapColors) => Uint8Array<ArrayBuffer>}
 */
export function colored(state, { lookOf }) {
  const found = new DataView(state.slice(0));
  for (let at = 0; at < found.byteLength; at += 4) found.setUint16(at, lookOf(found.getUint16(at, true)), true);
  return new Uint8Array(found.buffer);
}

/** Whether a person can be told how sure each item is by numbers. */
export const hasChances = () => answers().kind !== "numbers";
