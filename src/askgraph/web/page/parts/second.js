/** The second reading: which share of the answers another person reads unseen, and how far both agree. */
import { h } from "../lib/dom.js";
import { percent } from "../lib/format.js";
import { inUnit } from "../lib/labels.js";
import { rough } from "../lib/numbers.js";
import { save } from "../lib/session.js";
import { answers } from "../lib/store.js";
import { words } from "../lib/words.js";

const FEW = 10; // items: with fewer, alpha says nothing
const SHARES = [0, 0.05, 0.1, 0.2];

/** Shows what is read twice, and lets a person choose how much; `changed` is called after that.
 * @param {SecondReading | null} found
 * @param {() => void} changed
 */
export function secondReading(found, changed) {
  const share = found?.share ?? 0;
  /** @param {number} wanted */
  const choose = async (wanted) => {
    if (await save("/api/classes", { kind: "second", name: null, value: String(wanted) }, words.second.changed)) changed();
  };
  return h("div", { class: "second" }, h("h3", {}, words.second.title),
    h("div", { class: "steps", role: "group", "aria-label": words.second.title }, [...new Set([...SHARES, share])].sort((a, b) => a - b).map((one) => h("button", {
      class: "plain", "aria-pressed": String(one === share), onclick: () => choose(one) }, one ? percent(one) : words.second.none))),
    h("p", { class: "soft" }, words.second.means),
    found && h("p", { class: "gist" }, outcome(found)));
}

/** @param {SecondReading} found */
function outcome({ read, left, same, apart, alpha }) {
  const distance = apart === null ? null : answers().kind === "numbers" ? inUnit(rough(apart)) : words.progress.steps(rough(apart));
  return [words.second.read(read, left), read > 0 && same !== null && words.second.same(same, read), distance !== null && words.second.apart(distance),
    alpha !== null && alpha.items >= FEW && words.second.alpha(rough(alpha.value), rough(alpha.low), rough(alpha.high))].filter(Boolean).join(" ");
}
