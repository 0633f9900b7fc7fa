/** An answer in a list or a text: the marks and names of its classes, or its number. */
import { h } from "../lib/dom.js";
import { inWords, isOpen, named, predictedWords } from "../lib/labels.js";
import { brief } from "../lib/numbers.js";
import { words } from "../lib/words.js";
import { swatch, tag } from "./palette.js";

const MOST = 3; // marks of classes in the trail

/** Shows an answer; hollow, where it is predicted, then with the range it is probably in.
 * @param {Label} label
 * @param {boolean} hollow
 * @param {Between} range
 */
export function labelTag(label, hollow = false, range = null) {
  if (typeof label === "number") return h("span", { class: "tag number" }, h("bdi", {}, hollow ? predictedWords(label, range) : inWords(label)));
  const names = named(label);
  if (!names.length) return h("span", { class: "tag" }, nothing(), words.labels.none);
  if (names.length === 1) return tag(names[0], hollow);
  const joint = isOpen(label) ? h("span", { class: "soft" }, words.labels.or.trim()) : h("span", { class: "aloud" }, ", ");
  return h("span", { class: "tag tags" }, names.map((name, place) => [place > 0 && joint.cloneNode(true), tag(name, hollow)]));
}

/** Shows an answer in as little space as there is in the trail.
 * @param {Label} label
 */
export function labelMark(label) {
  if (typeof label === "number") return h("span", { class: "small-number" }, markText(label));
  const names = named(label);
  if (!names.length) return nothing();
  return names.slice(0, MOST).map((name) => swatch(name, isOpen(label)));
}

/** Returns the text in the mark of an answer: a number has one.
 * @param {Label} label
 */
export const markText = (label) => (typeof label === "number" ? brief(label) : "");

/** What stands for none of the classes. */
const nothing = () => h("span", { class: "nothing", "aria-hidden": "true" });
