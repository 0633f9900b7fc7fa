/** The one line below the header: what is wrong, what was done, or how far the suggestions lag. */
import { changes, clear, h } from "./dom.js";
import { store, watch } from "./store.js";
import { plural, sentence } from "./words.js";

const STAY = { done: 3_000, wrong: 9_000 };
const WORKER = { starting: "suggestions are starting", restarting: "suggestions are restarting; your answers are saved all the same" };

const line = document.getElementById("notices");
const aloud = document.getElementById("aloud");
let message = null;
let timer = 0;
const changed = changes();

/** Says something for a few seconds. */
export function say(text, tone = "wrong") {
  message = { text, tone };
  clearTimeout(timer);
  timer = setTimeout(hush, STAY[tone]);
  draw();
}

/** For screen readers only. */
export function announce(text) {
  aloud.textContent = text;
}

function hush() {
  message = null;
  draw();
}

function draw() {
  const lines = [trouble(), message, !store.trouble && quiet()].filter(Boolean);
  if (!changed(lines)) return;
  clear(line, lines.map(({ text, tone, login }) => h("p", { class: `notice ${tone}` }, text, login && [" ", h("a", { href: "/login" }, "Log in")])));
}

function trouble() {
  if (!store.trouble) return null;
  const { message: reason, status } = store.trouble;
  const kept = store.unsent > 1 ? `Your ${store.unsent} answers are kept and sent again.` : "Your answer is kept and sent again.";
  const text = store.unsent ? `Not saved yet: ${reason.replace(/\.$/, "")}. ${kept}` : `${sentence(reason)} Trying again.`;
  return { text, tone: "wrong", login: status === 401 };
}

function quiet() {
  const { lag = 0, worker = "ready" } = store.state ?? {};
  const parts = [WORKER[worker], lag > 0 && `suggestions lag ${plural(lag, "label")}`].filter(Boolean);
  return parts.length ? { text: parts.join(" · "), tone: "quiet" } : null;
}

watch(draw);
