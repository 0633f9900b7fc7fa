/** The line below the header: what is wrong, what was done, or what is being prepared. */
import { byId, changes, clear, h } from "./dom.js";
import { store, watch } from "./store.js";
import { sentence } from "./format.js";
import { words } from "./words.js";

const STAY = { done: 3_000, wrong: 9_000, undo: 12_000 }; // milliseconds for which a message stays

/** @typedef {{ text: string, tone: "done" | "wrong" | "quiet", login?: boolean, ways?: Way[] }} Notice */
/** @typedef {{ name: string, act: () => unknown }} Way a button of a message */

const line = byId("notices");
const aloud = byId("aloud");
/** @type {Notice | null} */
let message = null;
let timer = 0;
const changed = changes();

/** Shows a message for a few seconds; `undo` takes back what it tells of.
 * @param {string} text
 * @param {"done" | "wrong"} tone
 * @param {(() => unknown) | null} undo
 */
export function say(text, tone = "wrong", undo = null) {
  message = { text, tone, ways: undo ? [{ name: words.question.undo, act: undo }] : [] };
  clearTimeout(timer);
  timer = setTimeout(hush, STAY[undo ? "undo" : tone]);
  draw();
}

/** Shows a question that stays until the next answer, and what a person can do about it.
 * @param {string} text
 * @param {Way[]} ways
 */
export function offer(text, ways) {
  message = { text, tone: "done", ways };
  clearTimeout(timer);
  draw();
}

/** Shows the message of an error.
 * @param {unknown} error
 */
export const sayError = (error) => say(sentence(error instanceof Error ? error.message : String(error)));

/** Tells something to screen readers only.
 * @param {string} text
 */
export function announce(text) {
  aloud.textContent = text;
}

/** Removes the message: what it tells of is no longer the last thing that was done. */
export function hush() {
  message = null;
  draw();
}

function draw() {
  const lines = [trouble(), message, store.trouble ? null : quiet()].filter((one) => one !== null);
  if (!changed(lines.map((one) => [one.text, one.tone, one.login, one.ways?.map((way) => way.name)]))) return;
  clear(line, lines.map(({ text, tone, login, ways = [] }) => h("p", { class: `notice ${tone}` }, text, login && [" ", h("a", { href: "/login" }, words.notices.logIn)],
    ways.map(({ name, act }) => h("button", { onclick: act }, name)))));
}

/** @returns {Notice | null} */
function trouble() {
  if (!store.trouble) return null;
  const { message: reason, status } = store.trouble;
  const text = store.unsent ? words.notices.notSaved(reason.replace(/\.$/, ""), store.unsent) : `${sentence(reason)} ${words.notices.tryingAgain}`;
  return { text, tone: "wrong", login: status === 401 };
}

/** @returns {Notice | null} */
function quiet() {
  const worker = store.state?.worker ?? "ready";
  return worker === "ready" ? null : { text: words.notices[worker], tone: "quiet" };
}

watch(draw);
