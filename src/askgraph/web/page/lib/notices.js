/** The line below the header: what is wrong, what was done, or what is being prepared. */
import { byId, changes, clear, h } from "./dom.js";
import { store, watch } from "./store.js";
import { sentence } from "./format.js";
import { words } from "./words.js";

const STAY = { done: 3_000, wrong: 9_000 }; // milliseconds for which a message stays

/** @typedef {{ text: string, tone: "done" | "wrong" | "quiet", login?: boolean }} Notice */

const line = byId("notices");
const aloud = byId("aloud");
/** @type {Notice | null} */
let message = null;
let timer = 0;
const changed = changes();

/** Shows a message for a few seconds.
 * @param {string} text
 * @param {"done" | "wrong"} tone
 */
export function say(text, tone = "wrong") {
  message = { text, tone };
  clearTimeout(timer);
  timer = setTimeout(hush, STAY[tone]);
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

function hush() {
  message = null;
  draw();
}

function draw() {
  const lines = [trouble(), message, store.trouble ? null : quiet()].filter((one) => one !== null);
  if (!changed(lines)) return;
  clear(line, lines.map(({ text, tone, login }) => h("p", { class: `notice ${tone}` }, text, login && [" ", h("a", { href: "/login" }, words.notices.logIn)])));
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
