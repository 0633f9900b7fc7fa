/** Progress: how good the labels are expected to be, how many more are needed, and when to stop. */
import { get } from "../lib/api.js";
import { clear, data, h } from "../lib/dom.js";
import { curve } from "../parts/curve.js";
import { exportLinks } from "../parts/exports.js";
import { itemLine } from "../parts/item_line.js";
import { openItem } from "../parts/item.js";
import { tag, tint } from "../parts/palette.js";
import { store, watch } from "../lib/store.js";
import { count, percent, plural, sentence } from "../lib/format.js";

const AGAIN = 700; // milliseconds before loading again what is still being computed

/** @type {MakeView} */
export function progressView(root) {
  const page = h("section", { class: "page progress", "aria-label": "Where I am" }, h("p", { class: "empty breathing" }, "One moment."));
  const exports = exportLinks();
  clear(root, page);
  /** @type {number | undefined} */
  let seq;
  /** @type {number | undefined} */
  let lag;
  let timer = 0;
  let gone = false;

  async function load() {
    clearTimeout(timer);
    const found = await get("/api/progress").catch((error) => ({ waiting: error.message }));
    if (gone) return;
    if (found.waiting || found.lag) timer = setTimeout(load, AGAIN);
    clear(page, found.waiting ? h("p", { class: "empty breathing" }, sentence(found.waiting)) : report(found, load, exports));
  }

  function refresh() {
    if (store.state?.seq === seq && store.state?.lag === lag) return;
    seq = store.state?.seq;
    lag = store.state?.lag;
    load();
  }

  const stop = watch(refresh);
  if (store.state) refresh();
  return {
    leave() {
      gone = true;
      clearTimeout(timer);
      stop();
    },
  };
}

/** @type {(found: Progress, changed: () => void, exports: HTMLElement) => Child} */
const report = (found, changed, exports) => [
  found.stop && enough(found.stop, exports),
  h("div", { class: "lead-in" }, headline(found), h("p", { class: "soft" }, [
    `${count(found.labels)} of ${plural(found.items, "item")} labeled`, found.aside > 0 && `${count(found.aside)} set aside`, found.lag > 0 && `these figures lag ${plural(found.lag, "label")}`,
  ].filter(Boolean).join(" · "))),
  found.curve.length > 1 && panel("Expected error as you label", curve(found.curve, found.needed?.target ?? null)),
  found.classes.length > 0 && panel("Classes", perClass(found.classes)),
  found.advice.length > 0 && panel("Advice", h("ul", { class: "advice" }, found.advice.map((one) => h("li", { dir: "auto" }, sentence(one))))),
  (found.people.length > 1 || found.agreement || found.disputed.length > 0) && panel("People", together(found, changed)),
  panel("How it works here", machinery(found)),
];

/** @type {(title: string, ...children: Child[]) => Child} */
const panel = (title, ...children) => h("section", { class: "panel" }, h("h2", {}, title), children);

/** @type {(text: string, exports: HTMLElement) => Child} */
const enough = (text, exports) => h("section", { class: "enough", role: "status" }, h("h2", {}, "You can stop here"), h("p", {}, sentence(text.replace(/^enough:\s*/, ""))), exports);

/** @param {Progress} found */
function headline({ error, needed, checks }) {
  if (!error) return [h("h1", {}, "Too early to say"), h("p", { class: "gist" }, "A few more labels, and the expected error shows here.")];
  return [
    h("h1", {}, `About ${percent(1 - error.value)} of all labels are right`),
    h("p", { class: "gist" }, `The expected error is ${percent(error.value)}, probably between ${percent(error.low)} and ${percent(error.high)}.`,
      error.audited > 0 && ` ${audited(error.audited)}`),
    checks && h("p", { class: "gist" }, `Of ${plural(checks.count, "item")} drawn at random, ${count(checks.right)} had been predicted right before the answer.`),
    needed && percent(error.value) !== percent(needed.target) && h("p", { class: "gist" }, more(needed)),
  ];
}

/** @param {number} n */
const audited = (n) => `${plural(n, "label")} drawn at random ${n === 1 ? "was" : "were"} used to check it.`;

/** @param {Needed} needed */
function more({ target, low, high }) {
  const right = percent(1 - target);
  if (high <= 0) return `${right} right is reached.`;
  return low === high ? `About ${plural(high, "more label", "more labels")} for ${right}.` : `About ${count(low)} to ${plural(high, "more label", "more labels")} for ${right}.`;
}

/** @param {ClassCount[]} all */
function perClass(all) {
  const longest = Math.max(1, ...all.map((one) => one.count + one.predicted));
  return [h("p", { class: "key soft" }, h("span", { class: "part given" }), "given", h("span", { class: "part guessed" }), "predicted"),
    h("ul", { class: "bars wide" }, all.map((one) => h("li", {}, tag(one.name),
      h("span", { class: "track tinted", vars: { ...tint(one.name), share: one.count / longest, guess: one.predicted / longest } }, h("span", { class: "part" }), h("span", { class: "part guessed" })),
      h("span", { class: "amount" }, h("b", {}, count(one.count)), ` + ${count(one.predicted)}`))))];
}

/**
 * @param {Progress} found
 * @param {() => void} changed
 */
function together({ people, agreement, disputed }, changed) {
  return [
    agreement && h("p", { class: "gist" }, `People agree on ${percent(agreement.share)} of the ${plural(agreement.items, "item")} that several have answered.`),
    h("table", { class: "people-table" }, h("thead", {}, h("tr", {}, ["Name", "Answers", "Seconds each"].map((one) => h("th", { scope: "col" }, one)))),
      h("tbody", {}, people.map((one) => h("tr", {}, h("td", {}, data(one.name), one.active && h("span", { class: "soft" }, " here now")), h("td", {}, count(one.answers)), h("td", {}, one.seconds === null ? "–" : one.seconds.toFixed(1)))))),
    disputed.length > 0 && [h("h3", {}, "People disagree on these"), h("ul", { class: "rows" }, disputed.map((one) => h("li", {}, h("button", { class: "row", onclick: () => openItem({ id: one.item }, changed) },
      itemLine(one), one.answers.map(({ who, label }) => h("span", { class: "vote" }, data(who, { class: "who" }), label === null ? "set aside" : tag(label))))))) ],
  ];
}

/** @param {Progress} found */
const machinery = ({ engine, sampler, readout }) => h("dl", { class: "machinery" },
  [["Engine", engine], ["Picks questions by", sampler], ["Reads labels by", readout]].map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))));
