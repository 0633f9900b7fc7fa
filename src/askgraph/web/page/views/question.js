/** The question: one card in the middle, the answers under it. */
import { fetchAhead } from "../lib/ahead.js";
import { flash } from "../lib/flash.js";
import { answer, hidden, shown, undo } from "../lib/session.js";
import { actionsMenu } from "../parts/actions.js";
import { answerControl } from "../parts/answer_control.js";
import { enlarge, fading, whole } from "../parts/card.js";
import { comparingLine } from "../parts/comparing.js";
import { clear, data, h } from "../lib/dom.js";
import { exportMenu } from "../parts/exports.js";
import { openHelp } from "../parts/help.js";
import { openItem } from "../parts/item.js";
import { isEmptyFigures } from "../lib/keys.js";
import { labelMark, labelTag, markText } from "../parts/label_tag.js";
import { searchLine } from "../parts/search.js";
import { noteButtons, commentLines } from "../parts/notes.js";
import { reasonStrip } from "../parts/reasons.js";
import { keep, look } from "../lib/storage.js";
import { answers, store, watch } from "../lib/store.js";
import { capital, said, translated } from "../lib/format.js";
import { words } from "../lib/words.js";
import { whyPanel } from "../parts/why.js";

const WHY = "askgraph.why";
const WELCOMED = "askgraph.welcomed";
const ONE_ROW = 70; // characters on the smaller buttons: with more, they take two rows
/** @type {{ kind: AsideKind, key: string }[]} */
const ASIDE_KEYS = [{ kind: "later", key: "s" }, { kind: "cannot", key: "c" }, { kind: "invalid", key: "x" }];
/** Keys that scroll a long item, and by which share of its height.
 * @type {Record<string, number>}
 */
const SCROLL = { ArrowDown: 0.15, ArrowUp: -0.15, PageDown: 0.9, PageUp: -0.9, " ": 0.9 };

/** @type {MakeView} */
export function questionView(root) {
  const trail = h("ol", { class: "trail", "aria-label": words.question.trail });
  const sum = h("p", { class: "sum" });
  const card = h("article", { class: "card", tabindex: "0", "aria-label": words.question.card });
  const why = whyPanel();
  const notes = noteButtons(() => store.question && { id: store.question.item.id, comments: store.question.comments, marked: store.question.marked });
  const control = answerControl({ pick: (label) => answer("label", label) });
  const newClass = action(words.question.newClass, "n", control.openNew);
  const undoButton = action(words.question.undo, "⌫", undo, "undo");
  const actions = actionsMenu(
    ASIDE_KEYS.map(({ kind, key }) => action(capital(words.answers[kind]), key, () => answer(kind), kind)),
    newClass,
    action(words.question.why, "w", toggleWhy, "why"),
    undoButton);
  const others = actions.list;
  others.style.setProperty("--columns", others.textContent.length > ONE_ROW ? "3" : "6");
  others.append(...notes.again);
  const frame = h("div", { class: "frame" }, card);
  const more = fading(frame, card);
  const start = welcome();
  const remarks = h("ul", { class: "remarks", "aria-label": words.notes.title });
  const reasons = reasonStrip();
  const comparing = comparingLine();
  const search = searchLine();
  const stage = h("div", { class: "stage" },
    h("div", { class: "column" }, start.element, h("div", { class: "meta" }, trail, reasons.element, notes.element, sum), comparing.element, search.element, frame, h("div", { class: "answers" }, control.element, actions.opener, others)), why.element);
  const view = h("section", { class: "question", "aria-label": words.views.question }, h("h1", { class: "aloud" }, words.views.question), stage);
  clear(root, view);

  /** @type {number | null} */
  let drawn = null;
  /** @type {Given[] | null} */
  let trailDrawn = null;
  /** @type {Comment[] | null} */
  let remarksDrawn = null;
  let { swallowed } = store;

  function draw() {
    const { question, finished, waiting, state, sending } = store;
    drawTrail();
    clear(sum, state && words.question.sum(state.labels, state.items));
    start.draw();
    start.element.hidden = !question || store.trail.length > 0 || Boolean(state?.undo) || look(WELCOMED) !== null;
    comparing.draw();
    search.draw();
    control.draw();
    newClass.hidden = !control.names();
    view.classList.toggle("idle", !question);
    card.classList.toggle("sending", Boolean(sending));
    press(sending);
    if (store.swallowed !== swallowed) flash(frame);
    ({ swallowed } = store);
    undoButton.disabled = !state?.undo;
    notes.draw();
    reasons.draw();
    drawRemarks();
    if (store.turns === drawn) return;
    drawn = store.turns;
    if (question) drawQuestion(question);
    else clear(card, finished ? farewell() : patience(waiting));
    drawWhy();
  }

  function drawRemarks() {
    const now = store.question?.comments ?? null;
    if (now === remarksDrawn) return;
    remarksDrawn = now;
    remarks.hidden = !now?.length;
    clear(remarks, commentLines(now ?? []));
    more.fade();
  }

  /** @param {Question} question */
  function drawQuestion({ item, by, opinions, copies, suggested }) {
    actions.shut();
    clear(card, h("div", { class: "fresh" },
      suggested.map(({ label, by: sources }, place) => h("p", { class: "opinions suggested" }, words.question.suggested(data(sources)),
        h("button", { class: "plain", onclick: () => answer("label", label) }, labelTag(label), place === 0 && h("kbd", {}, "Enter")))),
      by === "spot check" && !store.state?.comparing && h("p", { class: "opinions spot-check" }, h("b", {}, words.question.spotCheck), h("span", {}, ` ${words.question.spotCheckMeans}`)),
      by === "second reading" && h("p", { class: "opinions spot-check" }, h("b", {}, words.question.second), h("span", {}, ` ${words.question.secondMeans}`)),
      by === "sample" && h("p", { class: "opinions spot-check" }, h("b", {}, words.question.sample), h("span", {}, ` ${words.question.sampleMeans}`)),
      opinions > 0 && h("p", { class: "opinions" }, words.question.opinions(opinions)),
      copies > 0 && h("p", { class: "opinions" }, words.question.copies(copies)),
      whole(item), remarks));
    card.scrollTop = 0;
    stage.scrollTop = 0;
    more.fade();
    requestAnimationFrame(() => requestAnimationFrame(shown));
    if (item.image) fetchAhead();
    control.begin();
  }

  function drawTrail() {
    if (store.trail === trailDrawn) return;
    trailDrawn = store.trail;
    clear(trail, store.trail.map((one) => h("li", {}, h("button", { class: "mark", title: said(one), "aria-label": words.question.open(spoken(one)), onclick: () => openItem({ id: one.item ?? "" }) },
      one.kind === "label" ? labelMark(one.label ?? "") : h("span", { class: "dash" })))));
  }

  /** Marks the button of the answer under way.
   * @param {Given | null} sending
   */
  function press(sending) {
    for (const button of view.querySelectorAll(".pressed")) button.classList.remove("pressed");
    if (!sending) return;
    const pressed = sending.kind === "label" ? control.of(sending.label ?? "") : [others.querySelector(`[data-kind=${sending.kind}]`)];
    for (const one of pressed) one?.classList.add("pressed");
  }

  async function toggleWhy() {
    keep(WHY, whyOpen() ? "" : "open");
    await drawWhy();
    why.element.scrollIntoView({ block: "start" });
  }

  function drawWhy() {
    const id = whyOpen() ? store.question?.item.id ?? null : null;
    view.classList.toggle("with-why", id !== null);
    return why.show(id);
  }

  /** @param {KeyboardEvent} event */
  function scroll(event) {
    const idle = document.activeElement === document.body || document.activeElement === root || isEmptyFigures(document.activeElement);
    if (!idle || !(event.key in SCROLL) || event.ctrlKey || event.altKey || event.metaKey) return;
    card.scrollBy({ top: SCROLL[event.key] * card.clientHeight });
  }

  document.addEventListener("keydown", scroll);
  const stop = watch(draw);
  draw();

  return {
    leave() {
      stop();
      hidden();
      more.stop();
      why.show(null);
      document.removeEventListener("keydown", scroll);
    },
    key(key, event) {
      if (reasons.key(key) || (store.question && notes.key(key)) || control.key(key, event)) return true;
      /** @type {Record<string, () => unknown>} */
      const own = {
        s: () => answer("later"), c: () => answer("cannot"), x: () => answer("invalid"),
        w: toggleWhy, "+": () => store.question && enlarge(store.question.item),
      };
      const suggested = store.question?.suggested[0];
      if (!pressable(document.activeElement)) own.Enter = () => (suggested ? answer("label", suggested.label) : control.remind());
      own[key]?.();
      return Object.hasOwn(own, key);
    },
  };
}

/** Opens the panel of reasons with the next card. */
export const openWhy = () => keep(WHY, "open");

/** Names an answer in the trail; who speaks to the page says what is to be seen.
 * @param {Given} one
 */
function spoken(one) {
  const [name, seen] = [said(one), one.kind === "label" ? markText(one.label ?? "") : ""];
  return name.includes(seen) ? name : `${seen}, ${name}`;
}

/** Whether Enter presses this element itself.
 * @param {Element | null} element
 */
const pressable = (element) => Boolean(element?.closest("button, a, summary"));

const whyOpen = () => look(WHY) === "open";

/** @type {(name: string, key: string, onclick: () => unknown, kind?: string | null) => HTMLButtonElement} */
const action = (name, key, onclick, kind = null) => h("button", { class: "plain", "data-kind": kind, title: hintOf(kind), onclick }, name, h("kbd", {}, key));

/** @type {(kind: string | null) => string | null} */
const hintOf = (kind) => /** @type {Record<string, string>} */ (words.hints)[kind ?? ""] ?? null;

/** Tells in a line what to do. Help has the rest; who has answered or closed it does not see it again. */
function welcome() {
  const close = () => {
    keep(WELCOMED, "closed");
    element.hidden = true;
  };
  const text = h("span", {});
  const element = h("p", { class: "welcome" }, text,
    h("button", { class: "plain", onclick: openHelp }, words.welcome.more), h("button", { class: "plain", "aria-label": words.dialog.close, onclick: close }, "✕"));
  return { element, draw: () => clear(text, words.welcome.line[answers().kind]) };
}

/** @param {string | null} waiting */
const patience = (waiting) => h("div", { class: "empty" }, h("p", { class: "breathing" }, store.unsent ? words.question.sending : waiting ? translated(waiting) : words.frame.oneMoment));

const farewell = () => h("div", { class: "empty" },
  h("h2", {}, store.state?.items ? words.question.done : words.question.nothing),
  h("p", {}, store.state?.items ? words.question.allLabeled(store.state.aside) : words.question.noItems),
  h("p", { class: "ways" }, h("a", { class: "button", href: "#table" }, words.question.toTable), h("a", { class: "button", href: "#progress" }, words.question.toProgress)),
  Number(store.state?.items) > 0 && h("div", { class: "ways" }, exportMenu()));
