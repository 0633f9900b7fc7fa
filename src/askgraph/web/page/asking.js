/** The loop of question and answer: one answer at a time, and only to a card that is on the screen. */
import { announce, say } from "./notices.js";
import { get, post } from "./api.js";
import { deliver, nudge, resume, waiting as unsent } from "./outbox.js";
import { store, update } from "./store.js";
import { ASIDE, sentence } from "./words.js";

const GUARD = 150;
const WAIT = 500;
const TRAIL = 14;

let turn = 0;
let shownAt = Infinity;
let askedAt = 0;
let timer = 0;
let beginning = false;

/** The view calls this when the card has been painted. */
export function shown() {
  shownAt = performance.now();
}

export const hidden = () => {
  shownAt = Infinity;
};

const ready = () => store.question !== null && !store.sending && performance.now() - shownAt >= GUARD;

/** Answers the card on the screen. Whatever comes before the card can have been seen is not meant for it. */
export async function answer(kind, label = null) {
  if (!ready()) return;
  const { item } = store.question;
  await exchange({ item: item.id, kind, label }, "/api/answer", {
    item: item.id, kind, ...(label === null ? {} : { label }), seconds: Math.round(performance.now() - askedAt) / 1000,
  });
}

export async function undo() {
  if (store.sending || !store.state?.undo) return;
  await exchange({ kind: "undo" }, "/api/undo", {});
}

async function exchange(sending, path, body) {
  turn += 1;
  update({ sending });
  try {
    const asked = await write(path, body);
    remember(sending, asked);
    adopt(asked, sending);
  } catch (refusal) {
    update({ sending: null });
    say(sentence(refusal.message));
    await ask();
  }
}

/** An answer to an item other than the question's, from a dialog or the table. */
export async function settle(path, body, what) {
  try {
    const reply = await write(path, body);
    update({ state: reply.state });
    say(what, "done");
    await ask();
    return true;
  } catch (refusal) {
    say(sentence(refusal.message));
    return false;
  }
}

const write = (path, body) => deliver(store.state.project, path, { who: store.who, ...body });

/** Gets the question, or keeps the one that is shown. */
export async function ask() {
  if (store.sending || unsent()) return;
  const mine = turn;
  const asked = await post("/api/question", { who: store.who, holding: store.question?.item.id ?? null }).catch(trouble);
  if (asked && mine === turn && !store.sending) adopt(asked);
}

function adopt(asked, after = null) {
  const { question, finished, waiting, state } = asked;
  const same = !after && question?.item.id === store.question?.item.id && finished === store.finished && waiting === store.waiting;
  if (!same) {
    hidden();
    askedAt = performance.now();
  }
  const turns = same ? store.turns : store.turns + 1;
  update({ question, finished, waiting, state, turns, sending: null, trouble: unsent() ? store.trouble : null });
  if (!same) announce([after && outcome(after), question ? `Next: ${question.item.title}` : finished ?? waiting].filter(Boolean).join(". "));
  clearTimeout(timer);
  if (!question && waiting) timer = setTimeout(ask, WAIT);
}

const outcome = ({ kind, label }) => (kind === "undo" ? "Taken back" : `Saved as ${label ?? ASIDE[kind]}`);

function remember({ item, kind, label }, asked) {
  const trail = kind === "undo"
    ? store.trail.filter((one) => one.item !== asked.undone?.item)
    : [...store.trail.filter((one) => one.item !== item), { item, kind, label }];
  update({ trail: trail.slice(-TRAIL) });
}

/** The first exchange: what was left unsent goes first, then the question comes. */
export async function begin() {
  if (beginning) return;
  beginning = true;
  const state = await get("/api/state", { who: store.who }).catch(trouble);
  beginning = state !== null;
  if (!state) return;
  update({ state, trouble: null });
  const pending = await resume(state.project);
  for (const { reason } of pending.filter((one) => one.status === "rejected")) say(sentence(reason.message));
  await Promise.all([ask(), recall()]);
}

async function recall() {
  const { answers } = await get("/api/history", { limit: 40, who: store.who }).catch(() => ({ answers: [] }));
  const mine = answers.filter((one) => one.current && one.kind !== "undo").slice(0, TRAIL).reverse();
  if (!store.trail.length) update({ trail: mine.map(({ item, kind, label }) => ({ item, kind, label })) });
}

/** Keeps the figures fresh, and finds out when the server is back. */
export async function poll() {
  if (!store.state) return begin();
  const mine = turn;
  const state = await get("/api/state", { who: store.who }).catch(trouble);
  if (!state) return;
  nudge();
  if (!unsent() && store.trouble) update({ trouble: null });
  if (mine === turn && !store.sending) update({ state });
  if (!store.question) await ask();
}

export async function rename(who) {
  turn += 1;
  update({ who, trail: [] });
  await Promise.all([ask(), recall()]);
}

function trouble(error) {
  update({ trouble: error });
  return null;
}
