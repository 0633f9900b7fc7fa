/** An item in a window: its contents, its answers, its prediction, and buttons to answer it. */
import { get } from "../lib/api.js";
import { save } from "../lib/session.js";
import { answerControl } from "./answer_control.js";
import { contents, nameOf } from "./card.js";
import { commentLines, noteButtons } from "./notes.js";
import { dialogOpen, openDialog } from "./dialog.js";
import { clear, data, h } from "../lib/dom.js";
import { sayError } from "../lib/notices.js";
import { labelTag } from "./label_tag.js";
import { rangeWords } from "../lib/labels.js";
import { ago, capital, percent, said } from "../lib/format.js";
import { store } from "../lib/store.js";
import { words } from "../lib/words.js";

/** Opens an item by its id or, for a point of the map, by its place; calls `onchange` after an answer was saved.
 * @param {{ id: string } | { at: number }} where
 * @param {() => void} onchange
 */
export async function openItem(where, onchange = () => {}) {
  /** @type {ItemReport | void} */
  const found = await get("/api/item", { ...where, reader: store.who }).catch(sayError);
  if (!found) return;
  const { id } = found.item;
  const { dialog, body } = openDialog(nameOf(found.item), { onkey: byKey });
  const openedAt = performance.now();
  dialog.dataset.item = id;
  const control = answerControl({ pick: (label) => give("label", label) });
  let noted = found;
  const notes = noteButtons(() => ({ id, comments: noted.comments, marked: noted.marked }), again);
  const remarks = h("ul", { class: "remarks", "aria-label": words.notes.title }, commentLines(noted.comments));
  clear(body, standing(found), h("div", { class: "inside" }, contents(found.item)), answers(found.answers), remarks, notes.element, choice(control, give));
  notes.draw();
  control.begin();

  /** Shows what is noted now. */
  async function again() {
    const now = await get("/api/item", { id, reader: store.who }).catch(sayError);
    if (!now) return;
    noted = now;
    notes.draw();
    clear(remarks, commentLines(noted.comments));
    onchange();
  }

  /** Notes something or answers, by a key.
   * @type {(key: string, event: KeyboardEvent) => boolean}
   */
  function byKey(key, event) {
    return notes.key(key) || control.key(key, event);
  }

  /**
   * @param {AnswerKind} kind
   * @param {Label | null} label
   */
  async function give(kind, label = null) {
    dialog.close();
    const seconds = Math.round(performance.now() - openedAt) / 1000;
    const answer = { item: id, kind, ...(label === null ? {} : { label }), seconds };
    if (await save("/api/answer", answer, words.saved.as(said({ kind, label })))) onchange();
  }
}

/** Shows all of an item in a window that a space closes again.
 * @param {string} id
 */
export async function lookAt(id) {
  /** @type {ItemReport | void} */
  const found = await get("/api/item", { id }).catch(sayError);
  if (!found || dialogOpen()) return;
  const { dialog, body } = openDialog(nameOf(found.item), { wide: true, onkey: byKey }, h("div", { class: "inside whole" }, contents(found.item)));
  body.tabIndex = -1;
  body.focus(); // a space would press the button that has the keyboard

  /** @param {string} key */
  function byKey(key) {
    if (key === " ") dialog.close();
    return key === " ";
  }
}

/** @param {ItemReport} report */
function standing({ label, status, prediction, decided }) {
  const parts = [];
  if (label !== null) parts.push(h("p", {}, words.item.labeled(labelTag(label))));
  else if (status === "unseen") parts.push(h("p", {}, words.notes.unseen));
  else if (status === "later" || status === "cannot" || status === "invalid") parts.push(h("p", {}, words.item.aside(words.answers[status])));
  if (decided !== null) parts.push(h("p", { class: "soft" }, words.item.decided(data(decided))));
  if (prediction) parts.push(h("p", {}, predictedText(prediction)));
  return h("div", { class: "standing" }, parts.length ? parts : h("p", {}, words.item.nothing));
}

const asideKinds = /** @type {const} */ (["later", "cannot", "invalid"]);

/** @param {HistoryLine[]} all */
const answers = (all) => all.length > 0 && h("section", {}, h("h3", {}, words.item.answers),
  h("ul", { class: "rows" }, all.map((one) => h("li", { class: one.current ? "" : "past" },
    data(one.who, { class: "who" }), one.kind === "label" ? labelTag(one.label ?? "") : h("span", {}, said(one)), one.reasons.length > 0 && h("span", { class: "soft" }, one.reasons.join(", ")),
    one.lead && h("span", { class: "soft" }, words.history.lead),
    h("span", { class: "soft" }, one.undone ? words.answers.takenBack : one.current ? "" : words.item.changedSince), h("time", { class: "soft", datetime: one.at }, ago(one.at))))));

/** Says what is predicted, how sure that is, and between what it probably lies.
 * @param {Prediction} prediction
 */
export const predictedText = ({ label, probability, range }) => [
  probability === null ? words.item.expected(labelTag(label, true, range)) : words.item.predicted(labelTag(label, true, range), percent(probability)),
  range && words.item.within(rangeWords(range))];

/** @type {(control: { element: HTMLElement, openNew: () => void, names: () => boolean }, give: (kind: AnswerKind) => unknown) => HTMLElement} */
function choice(control, give) {
  return h("section", { class: "choice" }, h("h3", {}, words.item.yourAnswer), control.element,
    h("div", { class: "others" }, asideKinds.map((kind) => h("button", { class: "plain", onclick: () => give(kind) }, capital(words.answers[kind]))),
      control.names() && h("button", { class: "plain", onclick: control.openNew }, words.item.newClass)));
}
