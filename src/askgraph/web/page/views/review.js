/** One queue of what is worth a second look: disagreements, what one wanted to come back to, labels that others contradict, "cannot tell", the least sure. */
import { get } from "../lib/api.js";
import { answerControl } from "../parts/answer_control.js";
import { fading, whole } from "../parts/card.js";
import { clear, data, h } from "../lib/dom.js";
import { capital, said, translated } from "../lib/format.js";
import { sayError } from "../lib/notices.js";
import { save } from "../lib/session.js";
import { inWords, rangeWords } from "../lib/labels.js";
import { labelTag } from "../parts/label_tag.js";
import { store } from "../lib/store.js";
import { commentLines, noteButtons } from "../parts/notes.js";
import { words } from "../lib/words.js";

const AGAIN = 1_000; // milliseconds before loading again what is being computed
const GUARD = 150; // milliseconds for which a new item takes no key

/** @type {MakeView} */
export function reviewView(root) {
  const left = h("p", { class: "soft" }, words.frame.oneMoment);
  const why = h("p", { class: "because" });
  const card = h("article", { class: "card", tabindex: "0", "aria-label": words.question.card });
  const given = h("ul", { class: "given", "aria-label": words.item.answers });
  const control = answerControl({ pick: (label) => give("label", label) });
  const remarks = h("ul", { class: "remarks", "aria-label": words.notes.title });
  const notes = noteButtons(() => (queue.length && noted ? { id: queue[0].item, comments: noted.comments, marked: noted.marked } : null), again);
  const only = h("div", { class: "steps", role: "group", "aria-label": words.review.only });
  const keep = h("button", { class: "plain strong", onclick: keepIt });
  const others = h("div", { class: "others" }, keep,
    h("button", { class: "plain", onclick: () => give("cannot") }, capital(words.answers.cannot), h("kbd", {}, "c")),
    h("button", { class: "plain", onclick: () => give("invalid") }, capital(words.answers.invalid), h("kbd", {}, "x")),
    h("button", { class: "plain", onclick: next }, words.review.next, h("kbd", {}, "→")));
  const frame = h("div", { class: "frame" }, card);
  const more = fading(frame, card);
  const work = h("div", { class: "work", hidden: true }, h("div", { class: "meta" }, why, notes.element), frame, given, remarks, control.element, others);
  clear(root, h("section", { class: "page review", "aria-labelledby": "title" },
    h("header", { class: "heading" }, h("h1", { id: "title" }, words.views.review), left), only, work));
  /** @type {Reviewed[]} */
  let queue = [];
  /** @type {Noted | null} */
  let noted = null;
  /** @type {"" | "disagree" | "return"} */
  let chosen = "";
  let beyond = 0; // items in the queue that the server has not listed yet
  let timer = 0;
  let shownAt = 0;
  let gone = false;

  async function load() {
    clearTimeout(timer);
    /** @type {{ queue?: Reviewed[], total?: number, counts?: Partial<Record<Reviewed["why"], number>>, waiting?: string } | void} */
    const found = await get("/api/review", { reader: store.who, only: chosen }).catch(sayError);
    if (gone || !found) return;
    beyond = Math.max(0, (found.total ?? 0) - (found.queue?.length ?? 0));
    if (found.counts) drawOnly(found.counts);
    if (found.waiting) timer = setTimeout(load, AGAIN);
    queue = found.queue ?? [];
    await show(found.waiting ?? null);
  }

  /** Offers the parts of the queue that one may want to go through alone.
   * @param {Partial<Record<Reviewed["why"], number>>} counts
   */
  function drawOnly(counts) {
    const parts = /** @type {const} */ (["", "disagree", "return"]);
    const offered = parts.filter((part) => part === "" || part === chosen || counts[part]);
    only.hidden = offered.length < 2;
    clear(only, offered.map((part) => h("button", { class: "plain", "aria-pressed": String(part === chosen), onclick: () => { chosen = part; load(); } }, words.review.parts[part || "all"](part ? counts[part] ?? 0 : 0))));
  }

  /** Shows what is noted now; an item that one need not come back to anymore makes room for the next. */
  async function again() {
    const [one] = queue;
    if (!one) return;
    const now = await get("/api/item", { id: one.item, reader: store.who }).catch(sayError);
    if (gone || !now || queue[0] !== one) return;
    noted = now;
    if (one.why === "return" && !now.marked) next();
    else drawNoted();
  }

  function drawNoted() {
    notes.draw();
    clear(remarks, commentLines(noted?.comments ?? []));
  }

  /** @param {string | null} waiting */
  async function show(waiting = null) {
    const [one] = queue;
    work.hidden ||= !one;
    left.textContent = one ? words.review.left(queue.length + beyond) : waiting ? translated(waiting) : words.review.done;
    if (!one) return;
    /** @type {ItemReport | void} */
    const found = await get("/api/item", { id: one.item, reader: store.who }).catch(sayError);
    if (gone || !found || queue[0] !== one) return;
    noted = found;
    drawNoted();
    clear(why, words.review.why[one.why], doubt(one));
    clear(card, h("div", { class: "fresh" }, whole(found.item)));
    clear(given, one.answers.map((answer) => h("li", {}, data(answer.who, { class: "who" }), answer.kind === "label" ? labelTag(answer.label ?? "") : h("span", {}, said(answer)), answer.reasons.length > 0 && h("span", { class: "soft" }, answer.reasons.join(", ")))));
    const kept = keepable(one);
    keep.hidden = kept === null;
    clear(keep, kept !== null && [words.review.keep(inWords(kept)), h("kbd", {}, "⏎")]);
    card.scrollTop = 0;
    work.hidden = false;
    more.fade();
    control.draw();
    control.begin();
    shownAt = performance.now();
  }

  /** The label that Enter gives: the one that counts now, or what is predicted.
   * @param {Reviewed} one
   */
  const keepable = (one) => (one.why === "suspect" ? one.label : one.why === "unsure" ? one.instead : null);

  function keepIt() {
    const kept = queue.length ? keepable(queue[0]) : null;
    if (kept !== null) give("label", kept);
  }

  /**
   * @param {AnswerKind} kind
   * @param {Label | null} label
   */
  async function give(kind, label = null) {
    const [one] = queue;
    if (!one || performance.now() - shownAt < GUARD) return;
    const seconds = Math.round(performance.now() - shownAt) / 1000;
    shownAt = Infinity;
    const answer = { item: one.item, kind, ...(label === null ? {} : { label }), seconds, review: true };
    if (await save("/api/answer", answer, words.saved.as(said({ kind, label })))) next();
  }

  function next() {
    queue.shift();
    if (queue.length) show();
    else load();
  }

  work.hidden = true;
  load();
  return {
    leave() {
      gone = true;
      clearTimeout(timer);
      more.stop();
    },
    key(key, event) {
      if (!queue.length) return false;
      if (notes.key(key) || control.key(key, event)) return true;
      /** @type {Record<string, () => unknown>} */
      const own = { c: () => give("cannot"), x: () => give("invalid"), ArrowRight: next };
      if (!document.activeElement?.closest("button, a, summary")) own.Enter = keepIt;
      own[key]?.();
      return Object.hasOwn(own, key);
    },
  };
}

/** Says what similar items speak for, where they do not speak for the label.
 * @param {Reviewed} one
 */
const doubt = ({ why, instead, range }) => instead !== null && (why === "suspect" || range) && [" ", why === "suspect" && [words.suspects.instead, " "], labelTag(instead, true, range), range && h("span", { class: "soft" }, ` (${rangeWords(range)})`)];
