/** One answer to many items: first how many it would label and how sure they are, then a class for all of them, or each as predicted. */
import { post } from "../lib/api.js";
import { h } from "../lib/dom.js";
import { percent } from "../lib/format.js";
import { say, sayError } from "../lib/notices.js";
import { save } from "../lib/session.js";
import { answers, store } from "../lib/store.js";
import { words } from "../lib/words.js";
import { inWords } from "../lib/labels.js";
import { answerControl } from "./answer_control.js";
import { openDialog } from "./dialog.js";
import { labelTag } from "./label_tag.js";

const GUARD = 300; // milliseconds for which a new window takes no key: one pressed before was meant for what is below it

/** Asks what to answer to selected items, and answers them; `answered` is called afterwards.
 * @param {{ items: string[] } | { places: number[], edition: string }} selected
 * @param {string} path
 * @param {() => void} answered
 */
export async function answerTogether(selected, path, answered) {
  /** @type {Selected | void} */
  const found = await post("/api/selection", { who: store.who, ...selected }).catch(sayError);
  if (!found) return;
  if (!found.new) {
    say(words.together.none(found.selected), "done");
    return;
  }
  const openedAt = performance.now();
  const control = answerControl({ pick: (label) => give(label) });
  const { dialog, body } = openDialog(words.together.title(found.new), { onkey: byKey },
    found.selected > found.new && h("p", { class: "soft" }, words.together.leftOut(found.selected - found.new, found.selected)),
    found.predicted && found.predicted.new > 0 && asPredicted(found.predicted, (least) => give(null, least)),
    h("section", { class: "choice" }, h("h3", {}, words.together.oneClass[answers().kind](found.new)), control.element,
      control.names() && h("div", { class: "others" }, h("button", { class: "plain", onclick: control.openNew }, words.item.newClass))));
  body.tabIndex = -1;
  body.focus(); // Enter does nothing until something is chosen
  control.begin();

  /** Answers by a key, but not in the first moment.
   * @type {(key: string, event: KeyboardEvent) => boolean}
   */
  function byKey(key, event) {
    return performance.now() - openedAt >= GUARD && control.key(key, event);
  }

  /** Gives a label to all, or for null to each the one that is predicted, where that is at least so likely.
   * @param {Label | null} label
   * @param {number} least
   */
  async function give(label, least = 0) {
    dialog.close();
    const saved = await save(path, { ...selected, label, at_least: least }, (reply) => told(reply, label), { undo: true });
    if (saved) answered();
  }
}

/** Says what an answer to many items has done; only what is new counts.
 * @param {Together} reply
 * @param {Label | null} label
 */
export function told({ saved, copies }, label) {
  if (!saved) return words.together.nothing;
  const done = label === null ? words.saved.confirmed(saved) : words.saved.labeled(saved, inWords(label));
  return copies ? words.saved.withCopies(done, copies) : done;
}

/** Shows how sure the predictions are; only those that are all but certain can be confirmed, or all.
 * @param {NonNullable<Selected["predicted"]>} predicted
 * @param {(least: number) => unknown} confirm
 */
function asPredicted({ new: all, right, classes: each, certain }, confirm) {
  const some = certain.new > 0 && certain.new < all;
  const wrong = Math.round(all * (1 - (right ?? 0)));
  return h("section", { class: "as-predicted" }, h("h3", {}, words.together.predicted),
    h("p", { class: "shares" }, each.map(({ label, count }) => h("span", {}, labelTag(label, true), " ", h("span", { class: "soft" }, String(count))))),
    h("p", {}, words.together.sure(all, percent(right ?? 0)), " ", wrong > 0 && h("span", { class: "soft" }, words.together.wrong(wrong))),
    h("div", { class: "ways" },
      some && h("button", { class: "primary", onclick: () => confirm(certain.least) }, words.together.certain(certain.new, percent(certain.least))),
      h("button", { class: certain.new === all ? "primary" : "button", onclick: () => confirm(0) }, words.together.all(all))));
}
