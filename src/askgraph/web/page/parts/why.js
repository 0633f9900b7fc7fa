/** Why this item is asked: its probabilities, the labels that vote for them, the effect of an answer, the neighborhood. */
import { get } from "../lib/api.js";
import { clear, h } from "../lib/dom.js";
import { itemLine } from "./item_line.js";
import { openItem } from "./item.js";
import { neighborhood } from "./neighborhood.js";
import { rangeWords } from "../lib/labels.js";
import { labelTag } from "./label_tag.js";
import { tag, tint } from "./palette.js";
import { answers, store } from "../lib/store.js";
import { percent, translated } from "../lib/format.js";
import { words } from "../lib/words.js";

const AGAIN = 500; // milliseconds before loading again what is still being computed
const FEW = 4; // classes listed; the others are summed up

export function whyPanel() {
  const element = h("aside", { class: "why", "aria-label": words.why.title, tabindex: "0" });
  /** @type {string | null} */
  let current = null;
  let timer = 0;
  element.hidden = true;

  /** Shows the reasons for an item; resolves when they are there. Null closes the panel.
   * @param {string | null} id
   */
  function show(id) {
    if (id === current) return null;
    current = id;
    clearTimeout(timer);
    element.hidden = id === null;
    clear(element, h("h2", {}, words.why.title), h("p", { class: "soft breathing" }, words.frame.oneMoment));
    return id === null ? null : load(id);
  }

  /** @param {string} id */
  async function load(id) {
    const why = await get("/api/why", { id, reader: store.who }).catch((error) => ({ waiting: error.message }));
    if (id !== current) return;
    if (why.waiting) timer = setTimeout(() => load(id), AGAIN);
    clear(element, h("h2", {}, words.why.title), why.unseen ? h("p", { class: "soft" }, words.why.unseen) : why.waiting ? h("p", { class: "soft" }, translated(why.waiting)) : reasons(why));
  }

  return { element, show };
}

/** @param {Why} why */
const reasons = (why) => [change(why.changes), hub(why.counts_for), now(why), picture(why), voters(why.voters)];

/** @param {number | null} items */
function change(items) {
  if (items === null) return null;
  const n = Math.round(items);
  return h("p", { class: "gist" }, n < 1 ? words.why.hardly : words.why.settles(n));
}

/** @param {number} share */
const hub = (share) => share < 1 && h("p", { class: "soft" }, words.why.hub(percent(share)));

/** Says what is predicted by now.
 * @param {Why} why
 */
function now({ predicted, range, probabilities }) {
  if (probabilities.length) return chances(probabilities, range);
  if (predicted === null) return h("p", { class: "soft" }, words.why.nothing);
  return h("section", {}, h("h3", {}, words.why.now), h("p", { class: "gist" }, words.item.expected(labelTag(predicted, true, range)), range && words.item.within(rangeWords(range))));
}

/** @type {(all: Why["probabilities"], range: Between) => Child} */
function chances(all, range) {
  const { kind } = answers();
  const others = kind === "ordered" ? words.why.otherSteps : words.why.others;
  const rest = all.slice(FEW).reduce((sum, one) => sum + one.p, 0);
  return h("section", {}, h("h3", {}, words.why.now),
    h("ul", { class: "bars" }, all.slice(0, FEW).map((one) => bar(one.class, one.p)),
      all.length > FEW && kind !== "several" && h("li", {}, h("span", { class: "soft" }, others(all.length - FEW)), h("span", {}), h("span", { class: "amount" }, percent(rest)))),
    range && h("p", { class: "soft" }, words.why.range(rangeWords(range))));
}

/** @type {(name: string, p: number) => Child} */
const bar = (name, p) => h("li", {}, tag(name), h("span", { class: "track tinted", vars: { ...tint(name), share: p } }, h("span", { class: "part" })), h("span", { class: "amount" }, percent(p)));

/** @param {Why["voters"]} all */
const voters = (all) => all.length > 0 && h("section", {}, h("h3", {}, words.why.similar),
  h("ul", { class: "voters" }, all.map((one) => h("li", {}, h("button", { class: "row", onclick: () => openItem({ id: one.item }) },
    labelTag(one.label), itemLine(one))))));

/** @param {Why} why */
const picture = ({ nodes, edges }) => nodes.length > 1 && h("section", {}, h("h3", {}, words.why.around), neighborhood(nodes, edges));
