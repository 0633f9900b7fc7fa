/** The loop of questions and answers: one answer at a time, and only to the card on the screen. */
import { announce, hush, offer, say, sayError } from "./notices.js";
import { inWords, isOpen, named, rangeWords } from "./labels.js";
import { get, post } from "./api.js";
import { deliver, nudge, resume, waiting as unsent } from "./outbox.js";
import { classes, store, update } from "./store.js";
import { said, translated } from "./format.js";
import { words } from "./words.js";

const GUARD = 150; // milliseconds for which a new card takes no answer: keys pressed before are meant for the last card
const PAUSE = 50; // milliseconds before asking again when the server has no question yet
const TRAIL = 14; // last answers shown above the card
const RECALLED = 40; // lines of the log read to find them again after a reload

let turn = 0; // moves with every write, so that a reply to an older request is dropped
let asking = -1; // the turn of the request for a question under way
let shownAt = Infinity;
let askedAt = 0;
let timer = 0;
let beginning = false;

/** Notes that the card has been painted; called by the view. */
export function shown() {
  shownAt = performance.now();
}

/** Notes that no card is on the screen. */
export const hidden = () => {
  shownAt = Infinity;
};

/** Tells whether the card takes an answer: it has been on the screen for a moment, and nothing is being sent. */
export const ready = () => store.question !== null && !store.sending && performance.now() - shownAt >= GUARD;

/** Answers the card on the screen, unless it is too new to have been seen.
 * @param {AnswerKind} kind
 * @param {Label | null} label
 */
export async function answer(kind, label = null) {
  if (!store.question) return;
  if (!ready()) {
    update({ swallowed: store.swallowed + 1 });
    announce(words.question.tooEarly);
    return;
  }
  const { item, copies } = store.question;
  const saved = await exchange({ item: item.id, kind, label }, "/api/answer", {
    item: item.id, kind, ...(label === null ? {} : { label }), seconds: Math.round(performance.now() - askedAt) / 1000,
  });
  if (saved && copies && kind !== "later") say(words.saved.withCopies(words.saved.as(said({ kind, label })), copies), "done", undo);
}

/** Takes back the last answer of this person. */
export async function undo() {
  if (store.sending || !store.state?.undo) return;
  await exchange({ kind: "undo" }, "/api/undo", {});
}

/** Takes back what this person answered last, and stays in the view and at the card. */
async function undoHere() {
  const saved = await save("/api/undo", { holding: shownItem() }, ({ undone }) => words.saved.back(undone?.together ?? 0));
  if (saved) await recall(true);
}

/**
 * @param {Given} sending
 * @param {string} path
 * @param {Record<string, unknown>} body
 * @returns {Promise<boolean>} whether it was saved
 */
async function exchange(sending, path, body) {
  turn += 1;
  hush();
  update({ sending, reasoned: null });
  try {
    const asked = await write(path, body);
    remember(sending, asked);
    adopt(asked, sending);
    update({ reasoned: reasonsOf(sending) });
    doubt(asked, undo);
    return true;
  } catch (refusal) {
    update({ sending: null });
    sayError(refusal);
    await ask();
    return false;
  }
}

/** Saves an answer from a dialog or the table and says `done`; the card stays unless the answer is to its own item.
 * @param {string} path
 * @param {Record<string, unknown>} body
 * @param {string | ((reply: any) => string)} done
 * @param {{ undo?: boolean, quiet?: boolean, refused?: (refusal: any) => unknown }} options `undo` offers to take it back, `quiet` says it to screen readers only, `refused` is told why it was not saved
 * @returns {Promise<boolean>} whether it was saved
 */
export async function save(path, body, done, { undo: undoable = false, quiet = false, refused = sayError } = {}) {
  hush();
  const card = shownItem();
  const holding = body.item && body.item !== card ? { holding: card } : {};
  turn += 1;
  try {
    const reply = await write(path, { ...body, ...holding });
    const text = typeof done === "string" ? done : done(reply);
    if (quiet) announce(text);
    else say(text, "done", undoable && reply.saved ? undoHere : null);
    if ("question" in reply && !store.sending && shownItem() === card) adopt(reply);
    else {
      update({ state: reply.state });
      await ask();
    }
    doubt(reply, undoHere);
    return true;
  } catch (refusal) {
    refused(refusal);
    return false;
  }
}

/** Returns what can be the reason of an answer that was given; null if nothing can.
 * @param {Given} given
 * @returns {Reasoned | null}
 */
function reasonsOf({ item = "", kind, label = null }) {
  if (kind !== "label" || label === null || isOpen(label)) return null;
  const names = named(label);
  const offered = [...new Set(classes().filter((one) => names.includes(one.name)).flatMap((one) => one.reasons))];
  return offered.length ? { item, label, offered, given: [] } : null;
}

/** Says why the last answer is what it is.
 * @param {Reasoned} reasoned
 * @param {string[]} given
 */
export async function giveReasons(reasoned, given) {
  update({ reasoned: { ...reasoned, given } });
  if (!await save("/api/reasons", { item: reasoned.item, reasons: given }, words.reasons.saved(given), { quiet: true }) && store.reasoned?.item === reasoned.item) update({ reasoned });
}

/** Asks whether a number is meant that lies far from what was expected.
 * @param {{ far?: Far | null }} reply
 * @param {() => unknown} takeBack
 */
function doubt({ far }, takeBack) {
  if (far) offer(words.saved.far(inWords(far.said), rangeWords([far.low, far.high])), [{ name: words.saved.keepIt, act: hush }, { name: words.saved.takeBack, act: takeBack }]);
}

const shownItem = () => store.question?.item.id ?? null;

/** @type {(path: string, body: Record<string, unknown>) => Promise<any>} */
const write = (path, body) => deliver(store.state?.uid ?? "", path, { who: store.who, ...body });

/** Gets the next question, or keeps the one that is shown. The server waits a moment if it has none. */
export async function ask() {
  if (store.sending || unsent() || asking === turn) return;
  const mine = turn;
  asking = turn;
  const asked = await post("/api/question", { who: store.who, holding: shownItem() }).catch(trouble);
  if (asking === mine) asking = -1;
  if (asked && mine === turn && !store.sending) adopt(asked);
}

/** Shows the reply of the server; `after` is the answer that it replies to.
 * @param {Asked} asked
 * @param {Given | null} after
 */
function adopt(asked, after = null) {
  const { question, finished, waiting, state } = asked;
  const same = !after && question?.item.id === store.question?.item.id && finished === store.finished && waiting === store.waiting;
  if (!same) {
    hidden();
    askedAt = performance.now();
  }
  const turns = same ? store.turns : store.turns + 1;
  update({ question, finished, waiting, state, turns, sending: null, trouble: unsent() ? store.trouble : null });
  if (!same) announce([after && outcome(after), question ? words.question.next(question.item.title) : finished ? words.question.done : waiting && translated(waiting)].filter(Boolean).join(". "));
  clearTimeout(timer);
  if (!question && waiting) timer = setTimeout(ask, PAUSE);
}

/** @param {Given} given */
const outcome = (given) => (given.kind === "undo" ? words.saved.takenBack : words.saved.as(said(given)));

/**
 * @param {Given} given
 * @param {Asked} asked
 */
function remember({ item, kind, label }, asked) {
  if (kind === "undo" && Number(asked.undone?.together) > 1) {
    say(words.saved.back(Number(asked.undone?.together)), "done");
    recall(true);
    return;
  }
  const trail = kind === "undo"
    ? store.trail.filter((one) => one.item !== asked.undone?.item)
    : [...store.trail.filter((one) => one.item !== item), { item, kind, label }];
  update({ trail: trail.slice(-TRAIL) });
}

/** Learns who is logged in; under a name, nothing is said under another one. Returns null while the server is not reached. */
export async function meet() {
  /** @type {Me | null} */
  const me = await get("/api/me").catch(trouble);
  if (me) update({ me, who: me.who ?? store.who, trouble: null });
  return me;
}

/** Begins anew if somebody else is logged in by now, or may do something else.
 * @param {State} state
 */
function checkMe({ me }) {
  if (me && store.me && (me.who !== store.me.who || me.rank !== store.me.rank)) location.reload();
}

/** Begins: sends what an earlier visit left unsent, then gets the first question. */
export async function begin() {
  if (beginning) return;
  beginning = true;
  const state = await get("/api/state", { who: store.who }).catch(trouble);
  beginning = state !== null;
  if (!state) return;
  update({ state, trouble: null });
  const pending = await resume(state.uid, store.me?.who ?? null);
  for (const one of pending) if (one.status === "rejected") sayError(one.reason);
  await Promise.all([ask(), recall()]);
}

/** Reads the last answers of this person from the log, where none are known or they are to be read anew.
 * @param {boolean} anew
 */
async function recall(anew = false) {
  /** @type {{ answers: HistoryLine[] }} */
  const { answers } = await get("/api/history", { limit: RECALLED, who: store.who }).catch(() => ({ answers: [] }));
  const mine = answers.filter((one) => one.current && one.kind !== "undo").slice(0, TRAIL).reverse();
  if (anew || !store.trail.length) update({ trail: mine.map(({ item, kind, label }) => ({ item, kind, label })) });
}

/** Updates the figures, and finds out when the server is back. */
export async function poll() {
  if (!store.state) return begin();
  const mine = turn;
  const state = await get("/api/state", { who: store.who }).catch(trouble);
  if (!state) return;
  checkMe(state);
  nudge();
  if (!unsent() && store.trouble) update({ trouble: null });
  if (mine === turn && !store.sending) update({ state });
  if (!store.question) await ask();
}

/** Goes on under another name.
 * @param {string} who
 */
export async function rename(who) {
  turn += 1;
  update({ who, trail: [] });
  await Promise.all([ask(), recall()]);
}

/** @param {Error} error */
function trouble(error) {
  update({ trouble: error });
  return null;
}
