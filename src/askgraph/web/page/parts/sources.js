/** Where suggestions come from: how many items each source speaks of, how often it is right, and where it errs or is contradicted. */
import { get } from "../lib/api.js";
import { clear, data, h } from "../lib/dom.js";
import { percent } from "../lib/format.js";
import { count } from "../lib/numbers.js";
import { words } from "../lib/words.js";
import { itemLine } from "./item_line.js";
import { openItem } from "./item.js";
import { labelTag } from "./label_tag.js";

const AGAIN = 1_000; // milliseconds before loading again what is still being computed

/** Lists the sources of suggestions, once it is loaded and if there are any; `changed` is called after an item was answered.
 * @param {() => void} changed
 */
export function sourceList(changed) {
  const element = h("section", { class: "panel sources", hidden: true });
  let timer = 0;
  let gone = false;

  async function load() {
    clearTimeout(timer);
    /** @type {Sources | { waiting: string }} */
    const found = await get("/api/sources").catch((error) => ({ waiting: error.message }));
    if (gone) return;
    if ("waiting" in found) timer = setTimeout(load, AGAIN);
    else draw(found);
  }

  /** @param {Sources} found */
  function draw(found) {
    const say = words.sources;
    element.hidden = found.sources.length === 0;
    /** @type {Record<string, string>} */
    const names = Object.fromEntries(found.sources.map((one) => [one.name, one.rule?.text ?? one.name]));
    clear(element, h("h2", {}, say.title), h("p", { class: "soft" }, say.means),
      h("table", { class: "people-table" }, h("thead", {}, h("tr", {}, Object.values(say.columns).map((one) => h("th", { scope: "col" }, one)))),
        h("tbody", {}, found.sources.map((one) => h("tr", {}, h("td", {}, data(names[one.name]), one.rule && [" ", labelTag(one.rule.class, true)]), h("td", {}, say.share(count(one.guesses), percent(one.share))), h("td", {}, precision(one)))))),
      found.pairs.length > 0 && h("ul", { class: "advice" }, found.pairs.map(({ sources: [one, other], both, differ }) => h("li", {}, say.differ(names[one], names[other], differ, both)))),
      found.items.length > 0 && [h("h3", {}, say.disputed(found.against, found.between)), h("ul", { class: "rows" }, found.items.map((one) => h("li", {}, h("button", { class: "row", onclick: () => openItem({ id: one.item }, changed) },
        itemLine(one), one.label !== null && vote(say.people, one.label), one.guesses.map(({ source, label }) => vote(names[source], label, true))))))]);
  }

  function leave() {
    gone = true;
    clearTimeout(timer);
  }

  return { element, load, leave };
}

/** Says how many suggestions of a source agree with people, and between which ends that share is.
 * @param {GuessSource} one
 */
const precision = ({ compared, agreed, low, high }) => (low === null || high === null ? words.sources.none : words.sources.agree(agreed, compared, percent(low), percent(high)));

/** @type {(who: string, label: string, hollow?: boolean) => HTMLElement} */
const vote = (who, label, hollow = false) => h("span", { class: "vote" }, data(who, { class: "who" }), labelTag(label, hollow));
