/** Text in which some words are bold. */
import { h } from "../lib/dom.js";

const SHORTEST = 3; // letters of a word that is looked for by itself

/** Returns a text whose parts that are among `found`, as whole words, are bold; upper and lower case are the same.
 * @type {(text: string, found: string[]) => Child[]}
 */
export const bold = (text, found) => (found.length ? marked(text, `(?<![\\p{L}\\p{N}])(?:${found.map(escaped).join("|")})(?![\\p{L}\\p{N}])`) : [text]);

/** Returns a text with every place bold where it holds what was typed.
 * @type {(text: string, typed: string) => Child[]}
 */
export const boldTyped = (text, typed) => (typed ? marked(text, escaped(typed)) : [text]);

/** Returns the words of what was typed.
 * @param {string} typed
 */
export const wordsOf = (typed) => typed.split(/[^\p{L}\p{N}]+/u).filter((one) => one.length >= SHORTEST);

/** @type {(text: string, pattern: string) => Child[]} */
function marked(text, pattern) {
  const parts = text.split(new RegExp(`(${pattern})`, "iu")); // every second one is what was found
  return parts.map((part, place) => (place % 2 ? h("b", {}, part) : part));
}

/** @param {string} text */
const escaped = (text) => text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
