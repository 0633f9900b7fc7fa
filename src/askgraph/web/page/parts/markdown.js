/** Markdown as elements: headings, lists, paragraphs, code, emphasis, links. Anything else is shown as it is written; no HTML is. */
import { h } from "../lib/dom.js";

const HEADING = /^(#{1,6})\s+(.*)$/;
const BULLET = /^\s*[-*+]\s+(.*)$/;
const NUMBER = /^\s*\d+[.)]\s+(.*)$/;
const FENCE = /^\s*```/;
const INLINE = /(`[^`]+`|\*\*[^*]+\*\*|__[^_]+__|\*[^*\s][^*]*\*|_[^_\s][^_]*_|\[[^\][]+\]\(https?:\/\/[^\s)]{1,2000}\))/;

/** @typedef {{ rest: string[] }} Reader */

/** Returns the elements of a text.
 * @param {string} text
 */
export function markdown(text) {
  const reader = { rest: text.split("\n") };
  const made = [];
  while (reader.rest.length) {
    if (reader.rest[0].trim()) made.push(block(reader));
    else reader.rest.shift();
  }
  return made;
}

/** Reads one block.
 * @param {Reader} reader
 */
function block(reader) {
  const [line] = reader.rest;
  const heading = line.match(HEADING);
  if (heading) {
    reader.rest.shift();
    return h(heading[1].length === 1 ? "h2" : "h3", { dir: "auto" }, inline(heading[2]));
  }
  if (FENCE.test(line)) return fenced(reader);
  if (BULLET.test(line)) return h("ul", {}, points(reader, BULLET));
  if (NUMBER.test(line)) return h("ol", {}, points(reader, NUMBER));
  return h("p", { dir: "auto" }, inline(take(reader, (one) => one.trim() !== "" && !special(one)).join(" ")));
}

/** Takes the first line, and those after it as long as they belong to it.
 * @type {(reader: Reader, belongs: (line: string) => boolean) => string[]}
 */
function take(reader, belongs) {
  let n = 1;
  while (n < reader.rest.length && belongs(reader.rest[n])) n += 1;
  return reader.rest.splice(0, n);
}

/** @type {(line: string) => boolean} */
const special = (line) => [HEADING, FENCE, BULLET, NUMBER].some((kind) => kind.test(line));

/** @type {(reader: Reader, kind: RegExp) => HTMLElement[]} */
const points = (reader, kind) => take(reader, (line) => kind.test(line)).map((line) => h("li", { dir: "auto" }, inline(line.match(kind)?.[1] ?? line)));

/** @param {Reader} reader */
function fenced(reader) {
  const lines = take(reader, (line) => !FENCE.test(line)).slice(1);
  reader.rest.shift();
  return h("pre", {}, lines.join("\n"));
}

/** @type {(text: string) => Child[]} */
const inline = (text) => text.split(INLINE).map((part, place) => (place % 2 ? marked(part) : part));

/** @param {string} part */
function marked(part) {
  if (part.startsWith("`")) return h("code", {}, part.slice(1, -1));
  if (part.startsWith("**") || part.startsWith("__")) return h("strong", {}, part.slice(2, -2));
  if (!part.startsWith("[")) return h("em", {}, part.slice(1, -1));
  const [, name, address] = part.match(/^\[(.+)\]\((.+)\)$/) ?? [];
  return h("a", { href: address, target: "_blank", rel: "noreferrer noopener" }, name);
}
