/** The search for all items of a class: its beginning, its end, and what it says. */
import { clear, h } from "../lib/dom.js";
import { save } from "../lib/session.js";
import { mayLead, store } from "../lib/store.js";
import { inWords } from "../lib/labels.js";
import { percent } from "../lib/format.js";
import { words } from "../lib/words.js";

export const FROM = "at least"; // what the server calls a step and all above it

const SHOWN = 80; // characters of a description above the card

/** Asks for all items of a class from the next question on, or from a step on, or for the highest numbers; first for those that are like some words.
 * @type {(name: string | null, value: string | null, like: string) => Promise<boolean>}
 */
export const seekAll = (name, value, like) => save("/api/classes", { kind: "find", name, value, like: like.trim() || null }, words.find.begun(soughtWords({ class: name, value })));

/** Ends the search. */
export const seekNothing = () => save("/api/classes", { kind: "find", name: null, value: null }, words.find.ended);

/** Says what is sought.
 * @param {{ class: string | null, value: string | null }} find
 */
export function soughtWords({ class: name, value }) {
  if (name !== null) return value === FROM ? words.find.from(name) : name;
  const least = Number(value);
  return value === "highest" || value === "lowest" ? words.find[value] : words.find.from(Number.isFinite(least) ? inWords(least) : String(value));
}

/** Says how many of what is sought are found, and how many may be left, where that can be said.
 * @param {Findings} find
 */
export const findings = ({ known, found, value, low, high }) => (known ? words.find.now(sought(), found, Math.round(value), low, high) : words.find.tooEarly(sought(), found, low, high));

/** Says what is sought now. */
export const sought = () => (store.state?.find ? soughtWords(store.state.find) : "");

/** Says what is sought as long as nobody knows how many there are; of the highest numbers nobody ever does.
 * @param {Sought} find
 */
const beginning = (find) => (find.like !== null ? words.find.likely(soughtWords(find), find.like.length > SHOWN ? `${find.like.slice(0, SHOWN - 1)}…` : find.like) : find.class === null ? words.find.going(soughtWords(find)) : words.find.first(soughtWords(find)));

/** Draws a random sample of what is left, large enough to certify that a share of what is sought is found.
 * @param {number} share
 */
export const certify = (share) => save("/api/classes", { kind: "certify", name: null, value: String(share) }, words.certify.drawn);

/** Says what share of what is sought a random sample has proven found; null before all of the sample is read.
 * @param {Findings} find
 */
export function proven({ certificate }) {
  if (!certificate || certificate.share === null) return null;
  return words.certify.proven(sought(), percentProven(certificate.share), percent(certificate.confidence));
}

/** Says how far a random sample is read; null if none is being read.
 * @param {Findings} find
 */
export const reading = ({ certificate }) => (certificate && certificate.share === null ? words.certify.reading(certificate.read, certificate.sample) : null);

/** Returns a share that is proven as a percentage, rounded down.
 * @param {number} share
 */
export const percentProven = (share) => `${Math.floor(100 * share + 1e-6)} %`;

/** The line above the card while a class is sought. */
export function searchLine() {
  const text = h("span", { role: "status" });
  const end = h("button", { class: "plain", onclick: seekNothing }, words.find.end);
  const element = h("p", { class: "seeking" }, text, end);

  function draw() {
    end.hidden = !mayLead();
    const find = store.state?.find ?? null;
    element.hidden = find === null;
    if (find) clear(text, find.left && find.left.found > 0 ? reading(find.left) ?? proven(find.left) ?? findings(find.left) : beginning(find));
  }

  return { element, draw };
}
