/** The question: one card in the middle, the answers under it. */
import { answer, hidden, shown, undo } from "../lib/session.js";
import { answerButtons } from "../parts/buttons.js";
import { contents } from "../parts/card.js";
import { clear, data, h } from "../lib/dom.js";
import { exportLinks } from "../parts/exports.js";
import { openItem } from "../parts/item.js";
import { swatch } from "../parts/palette.js";
import { keep, look } from "../lib/storage.js";
import { classes, store, watch } from "../lib/store.js";
import { ASIDE, capital, count, plural, said, sentence } from "../lib/format.js";
import { whyPanel } from "../parts/why.js";

const WHY = "askgraph.why";
/** @type {{ kind: AsideKind, key: string }[]} */
const ASIDE_KEYS = [{ kind: "later", key: "s" }, { kind: "cannot", key: "c" }, { kind: "invalid", key: "x" }];
/** Keys that scroll a long item, and by which share of its height.
 * @type {Record<string, number>}
 */
const SCROLL = { ArrowDown: 0.15, ArrowUp: -0.15, PageDown: 0.9, PageUp: -0.9, " ": 0.9 };

/** @type {MakeView} */
export function questionView(root) {
  const trail = h("ol", { class: "trail", "aria-label": "Your last answers" });
  const sum = h("p", { class: "sum" });
  const card = h("article", { class: "card", tabindex: "0", "aria-label": "The item to label" });
  const why = whyPanel();
  const buttons = answerButtons({ pick: (label) => answer("label", label) });
  const undoButton = action("Undo", "⌫", undo, "undo");
  const others = h("div", { class: "others" },
    ASIDE_KEYS.map(({ kind, key }) => action(capital(ASIDE[kind]), key, () => answer(kind), kind)),
    action("New class", "n", buttons.openNew),
    action("Why this one", "w", toggleWhy, "why"),
    undoButton);
  const stage = h("div", { class: "stage" }, h("div", { class: "column" }, h("div", { class: "meta" }, trail, sum), card), why.element);
  const view = h("section", { class: "question", "aria-label": "Question" },
    h("h1", { class: "aloud" }, "Question"), stage,
    h("div", { class: "answers" }, buttons.element, others));
  clear(root, view);

  /** @type {number | null} */
  let drawn = null;
  /** @type {Given[] | null} */
  let trailDrawn = null;

  function draw() {
    const { question, finished, waiting, state, sending } = store;
    drawTrail();
    clear(sum, question && [data(question.item.id), " · "], state && `${count(state.labels)} of ${plural(state.items, "item")} labeled`);
    buttons.draw();
    view.classList.toggle("idle", !question);
    card.classList.toggle("sending", Boolean(sending));
    press(sending);
    undoButton.disabled = !state?.undo;
    if (store.turns === drawn) return;
    drawn = store.turns;
    if (question) drawQuestion(question);
    else clear(card, finished ? farewell(finished) : patience(waiting));
    drawWhy();
  }

  /** @param {Question} question */
  function drawQuestion({ item, opinions, spot_check, suggested }) {
    clear(card, h("div", { class: "fresh" },
      suggested.map(({ label, by }, place) => h("p", { class: "opinions suggested" }, "Suggested by ", data(by), ": ",
        h("button", { class: "plain", onclick: () => answer("label", label) }, swatch(label), data(label), place === 0 && h("kbd", {}, "Enter")))),
      spot_check && h("p", { class: "opinions" }, "A spot check: drawn at random, to see how good the predictions are."),
      opinions > 0 && h("p", { class: "opinions" }, `${plural(opinions, "other person has", "other people have")} answered this one.`),
      contents(item)));
    card.scrollTop = 0;
    stage.scrollTop = 0;
    requestAnimationFrame(() => requestAnimationFrame(shown));
    if (!classes().length) buttons.openNew();
  }

  function drawTrail() {
    if (store.trail === trailDrawn) return;
    trailDrawn = store.trail;
    clear(trail, store.trail.map((one) => h("li", {}, h("button", { class: "mark", title: said(one), "aria-label": `${said(one)}: open`, onclick: () => openItem({ id: one.item ?? "" }) },
      one.kind === "label" ? swatch(one.label ?? null) : h("span", { class: "dash" })))));
  }

  /** Marks the button of the answer under way.
   * @param {Given | null} sending
   */
  function press(sending) {
    for (const button of view.querySelectorAll(".pressed")) button.classList.remove("pressed");
    if (!sending) return;
    const pressed = sending.kind === "label" ? buttons.of(sending.label ?? "") : others.querySelector(`[data-kind=${sending.kind}]`);
    pressed?.classList.add("pressed");
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
    const idle = document.activeElement === document.body || document.activeElement === root;
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
      why.show(null);
      document.removeEventListener("keydown", scroll);
    },
    key(key) {
      const chosen = classes().find((one) => one.key === key);
      /** @type {Record<string, () => unknown>} */
      const own = {
        s: () => answer("later"), c: () => answer("cannot"), x: () => answer("invalid"),
        n: buttons.openNew, w: toggleWhy, "/": buttons.openFilter,
      };
      const suggested = store.question?.suggested[0];
      if (suggested && !pressable(document.activeElement)) own.Enter = () => answer("label", suggested.label);
      const does = chosen ? () => answer("label", chosen.name) : own[key];
      does?.();
      return Boolean(does);
    },
  };
}

/** Opens the panel of reasons with the next card. */
export const openWhy = () => keep(WHY, "open");

/** Whether Enter presses this element itself.
 * @param {Element | null} element
 */
const pressable = (element) => Boolean(element?.closest("button, a, summary"));

const whyOpen = () => look(WHY) === "open";

/** @type {(words: string, key: string, onclick: () => unknown, kind?: string | null) => HTMLButtonElement} */
const action = (words, key, onclick, kind = null) => h("button", { class: "plain", "data-kind": kind, onclick }, words, h("kbd", {}, key));

/** @param {string | null} waiting */
const patience = (waiting) => h("div", { class: "empty" }, h("p", { class: "breathing" }, store.unsent ? "Sending your last answer first." : sentence(waiting ?? "one moment")));

/** @param {string} finished */
const farewell = (finished) => h("div", { class: "empty" },
  h("h1", {}, store.state?.items ? "All done" : "Nothing to label"),
  h("p", {}, sentence(finished.replace(/^finished:\s*/, ""))),
  h("p", { class: "ways" }, h("a", { class: "button", href: "#table" }, "Look at the table"), h("a", { class: "button", href: "#progress" }, "Where I am")),
  Number(store.state?.items) > 0 && h("div", { class: "ways" }, exportLinks()));
