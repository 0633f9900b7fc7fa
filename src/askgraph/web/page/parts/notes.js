/** What people note on an item: comments, which everybody sees, and a person's own mark to come back to it. */
import { get } from "../lib/api.js";
import { changes, clear, data, h } from "../lib/dom.js";
import { ago } from "../lib/format.js";
import { sayError } from "../lib/notices.js";
import { save } from "../lib/session.js";
import { store } from "../lib/store.js";
import { words } from "../lib/words.js";
import { nameOf } from "./card.js";
import { openDialog } from "./dialog.js";

const LONGEST = 2000; // characters of a comment; the server refuses more
export const COMMENT_KEY = ";";
export const RETURN_KEY = ":";

/** Makes the two buttons of the item that `current` returns; `noted` is called after something was noted.
 * @param {() => (Noted & { id: string }) | null} current
 * @param {() => unknown} noted
 */
export function noteButtons(current, noted = () => {}) {
  const comment = h("button", { class: "plain", onclick: write });
  const mark = h("button", { class: "plain", onclick: turn });
  const changed = changes();
  const element = h("div", { class: "note-buttons", role: "group", "aria-label": words.notes.group }, comment, mark);

  function draw() {
    const one = current();
    element.hidden = one === null;
    if (one === null) return;
    const n = one.comments.length;
    if (!changed([n, one.marked])) return;
    comment.setAttribute("aria-label", words.notes.comments(n));
    clear(comment, h("span", { class: "wide" }, words.notes.comments(n)), h("span", { class: "narrow", "aria-hidden": "true" }, `✎ ${n || ""}`), h("kbd", { "aria-hidden": "true" }, COMMENT_KEY));
    mark.setAttribute("aria-pressed", String(one.marked));
    mark.setAttribute("aria-label", words.notes.mark);
    clear(mark, h("span", { "aria-hidden": "true" }, "⚑"), h("span", { class: "wide" }, words.notes.mark), h("kbd", { "aria-hidden": "true" }, RETURN_KEY));
  }

  function write() {
    const one = current();
    if (one) openComments(one.id, noted);
  }

  async function turn() {
    const one = current();
    if (one && await save("/api/mark", { item: one.id, on: !one.marked }, one.marked ? words.notes.unmarked : words.notes.marked)) noted();
  }

  /** Uses a key; returns whether it did.
   * @param {string} key
   */
  function use(key) {
    if (key !== COMMENT_KEY && key !== RETURN_KEY) return false;
    if (key === COMMENT_KEY) write();
    else turn();
    return true;
  }

  /** The same for the menu of a low window, which has no room for them beside the card. */
  const again = [h("button", { class: "plain noting", onclick: write }, words.notes.comments(0), h("kbd", {}, COMMENT_KEY)), h("button", { class: "plain noting", onclick: turn }, words.notes.mark, h("kbd", {}, RETURN_KEY))];

  return { element, again, draw, key: use };
}

/** Lists comments with their authors.
 * @param {Comment[]} all
 * @param {((one: Comment) => unknown) | null} takeBack what takes back a comment of this person
 */
export const commentLines = (all, takeBack = null) => all.map((one) => h("li", {}, data(one.who, { class: "who" }), h("span", { class: "said", dir: "auto" }, one.text),
  h("time", { class: "soft", datetime: one.at }, ago(one.at)),
  takeBack && one.who === store.who && h("button", { class: "plain", onclick: () => takeBack(one) }, words.notes.takeBack)));

/** Opens the comments on an item, to read, to write one and to take back one's own; `changed` is called after that.
 * @param {string} id
 * @param {() => unknown} changed
 */
export async function openComments(id, changed = () => {}) {
  const found = await look(id);
  if (!found) return;
  const list = h("ul", { class: "rows comments" });
  const field = h("textarea", { rows: 3, maxlength: LONGEST, placeholder: words.notes.write, "aria-label": words.notes.write, onkeydown: byEnter });
  const { dialog } = openDialog(words.notes.of(nameOf(found.item)), {},
    found.status === "unseen" && h("p", { class: "soft" }, words.notes.unseen), list,
    h("form", { class: "stacked", onsubmit: send }, field, h("button", { class: "primary" }, words.notes.save, h("kbd", {}, "⏎"))));
  draw(found.comments);
  field.focus();

  /** @param {Comment[]} all */
  function draw(all) {
    clear(list, commentLines(all, takeBack));
  }

  /** @param {Comment} one */
  async function takeBack({ seq }) {
    if (!await save("/api/comment/undo", { seq }, words.notes.takenBack)) return;
    const now = await look(id);
    if (now) draw(now.comments);
    field.focus();
    changed();
  }

  /** @param {KeyboardEvent} event */
  function byEnter(event) {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    field.form?.requestSubmit();
  }

  /** @param {SubmitEvent} event */
  async function send(event) {
    event.preventDefault();
    const text = field.value.trim();
    if (!text) return;
    dialog.close();
    if (await save("/api/comment", { item: id, text }, words.notes.saved)) changed();
  }
}

/** @type {(id: string) => Promise<ItemReport | void>} */
const look = (id) => get("/api/item", { id, reader: store.who }).catch(sayError);
