/** Shares, times and answers as text. */
import { inWords as labelInWords } from "./labels.js";
import { language } from "./language.js";
import { count } from "./numbers.js";
import { words } from "./words.js";

/** Returns "93 %" for 0.934; a share that is not exactly 0 or 1 is never rounded to it.
 * @param {number} share
 */
export function percent(share) {
  if (share > 0 && share < 0.005) return words.amounts.underOne;
  if (share < 1 && share > 0.995) return words.amounts.overNinetyNine;
  return `${Math.round(100 * share)} %`;
}

/** @type {(text: string) => string} */
export const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

/** Gives a text a capital and a full stop; the name of a file that it begins with stays as it is.
 * @param {string} text
 */
export function sentence(text) {
  const begun = /^\S+:/.test(text) ? text : capital(text);
  return stopped(begun);
}

/** @type {(text: string) => string} */
const stopped = (text) => (/[.!?]$/.test(text) ? text : `${text}.`);

/** The sentences of the server that have words of the page, as the texts between what varies; those that say most come first. */
const PATTERNS = Object.entries(words.server).map(([said, meant]) => ({ parts: said.split("{}"), meant }))
  .sort((a, b) => b.parts.join("").length - a.parts.join("").length);

/** Returns a sentence of the server in the words of the page; one that the page has no words for as it is.
 * @param {string} text
 */
export function translated(text) {
  const found = match(text);
  const said = inWords(text);
  return found && /^\{1\}[:,]/.test(found.meant) ? stopped(said) : sentence(said); // the name of a file stays as it is
}

/** @type {(text: string) => string} */
function inWords(text) {
  const found = match(text);
  if (found) return found.meant.replace(/\{(\d)\}/g, (_, place) => inWords(found.values[Number(place) - 1] ?? ""));
  return /^\d{1,3}(,\d{3})+$/.test(text) ? count(Number(text.replaceAll(",", ""))) : text;
}

/** Returns the words of the page for a sentence, and what varies in it.
 * @param {string} text
 */
function match(text) {
  for (const { parts, meant } of PATTERNS) {
    const values = between(text, parts);
    if (values) return { meant, values };
  }
  return null;
}

/** Returns what stands between these parts of a text, or null where it is not made of them.
 * @type {(text: string, parts: string[]) => string[] | null}
 */
function between(text, parts) {
  const first = parts[0] ?? "";
  const last = parts[parts.length - 1] ?? "";
  if (parts.length === 1) return text === first ? [] : null;
  if (!text.startsWith(first) || !text.endsWith(last) || text.length < first.length + last.length) return null;
  const found = [];
  let from = first.length;
  const end = text.length - last.length;
  for (const part of parts.slice(1, -1)) {
    const at = text.indexOf(part, from);
    if (at < 0 || at + part.length > end) return null;
    found.push(text.slice(from, at));
    from = at + part.length;
  }
  return [...found, text.slice(from, end)];
}

/** Returns an answer in words.
 * @param {Given} given
 */
export const said = ({ kind, label }) => (kind === "label" ? labelInWords(label ?? "") : kind === "undo" ? words.answers.takenBack : words.answers[kind]);

/** Returns how long ago a time was.
 * @param {string} iso
 */
export function ago(iso) {
  const then = new Date(iso);
  const minutes = Math.round((Date.now() - then.getTime()) / 60_000);
  if (minutes < 1) return words.amounts.justNow;
  if (minutes < 60) return words.amounts.minutesAgo(minutes);
  if (minutes < 12 * 60) return words.amounts.hoursAgo(Math.round(minutes / 60));
  return moment(iso);
}

/** Returns a time by the calendar and the clock.
 * @param {string} iso
 */
export const moment = (iso) => new Date(iso).toLocaleString(language === "en" ? "en-GB" : language, { dateStyle: "medium", timeStyle: "short" });
