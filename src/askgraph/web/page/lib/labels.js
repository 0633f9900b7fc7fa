/** Answers to an item: a class or a step, one of some, several classes, or a number. An empty list and 0 are answers, too. */
import { figure, rough } from "./numbers.js";
import { answers, classes } from "./store.js";
import { words } from "./words.js";

/** Returns the classes that an answer names, in the order of all classes; none for a number.
 * @param {Label} label
 * @returns {string[]}
 */
export function named(label) {
  if (typeof label === "number") return [];
  if (typeof label === "string") return [label];
  const names = Array.isArray(label) ? label : label["one of"];
  const known = classes().map((one) => one.name).filter((name) => names.includes(name));
  return [...known, ...names.filter((name) => !known.includes(name))];
}

/** Whether an answer leaves open which of some classes it is.
 * @param {Label} label
 */
export const isOpen = (label) => typeof label === "object" && !Array.isArray(label);

/** Returns the answer that an item is one of these classes.
 * @param {string[]} names
 * @returns {Label}
 */
export const oneOf = (names) => (names.length === 1 ? names[0] : { "one of": names });

/** Says an answer.
 * @param {Label} label
 */
export function inWords(label) {
  if (typeof label === "number") return inUnit(figure(label));
  return named(label).join(isOpen(label) ? words.labels.or : ", ") || words.labels.none;
}

/** Says what is predicted: a number as precisely as its range is known.
 * @type {(label: Label, range: Between) => string}
 */
export const predictedWords = (label, range) => (typeof label === "number" ? inUnit(rough(label, range ? Number(range[1]) - Number(range[0]) : undefined)) : inWords(label));

/** Says a range of numbers, or of steps.
 * @param {[number, number] | [string, string]} range
 */
export function rangeWords([low, high]) {
  const inText = (/** @type {number | string} */ end) => (typeof end === "number" ? rough(end, Number(high) - Number(low)) : end);
  const [from, to] = [inText(low), inText(high)];
  return inUnit(from === to ? from : words.labels.between(from, to));
}

/** Puts the unit of the answers behind a number.
 * @param {string} text
 */
export const inUnit = (text) => [text, answers().unit].filter(Boolean).join(" ");
