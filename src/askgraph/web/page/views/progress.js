/** Progress: whether to stop or go on, how good the labels are expected to be, and how that came about. */
import { get } from "../lib/api.js";
import { save } from "../lib/session.js";
import { clear, data, h } from "../lib/dom.js";
import { curve } from "../parts/curve.js";
import { exportLinks } from "../parts/exports.js";
import { itemLine } from "../parts/item_line.js";
import { openItem } from "../parts/item.js";
import { chooseClass } from "../parts/choose_class.js";
import { findings, seekAll } from "../parts/search.js";
import { tag, tint } from "../parts/palette.js";
import { store, watch } from "../lib/store.js";
import { percent, translated } from "../lib/format.js";
import { count } from "../lib/numbers.js";
import { words } from "../lib/words.js";

const AGAIN = 700; // milliseconds before loading again what is still being computed
const TARGETS = [0.2, 0.1, 0.05, 0.03, 0.02, 0.01]; // shares of wrong predictions to aim at

/** @type {MakeView} */
export function progressView(root) {
  const page = h("section", { class: "page progress", "aria-label": words.progress.title }, h("h1", { class: "aloud" }, words.progress.title), h("p", { class: "empty breathing" }, words.frame.oneMoment));
  const exports = exportLinks();
  clear(root, page);
  /** @type {string | undefined} */
  let known;
  let timer = 0;
  let gone = false;

  async function load() {
    clearTimeout(timer);
    const found = await get("/api/progress").catch((error) => ({ waiting: error.message }));
    if (gone) return;
    if (found.waiting || found.lag) timer = setTimeout(load, AGAIN);
    clear(page, found.waiting
      ? [h("h1", { class: "aloud" }, words.progress.title), h("p", { class: "empty breathing" }, translated(found.waiting))]
      : report(found, load, exports));
  }

  function refresh() {
    const { seq, lag, changes, find } = store.state ?? {};
    const now = JSON.stringify([seq, lag, changes, find]);
    if (now === known) return;
    known = now;
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
  h("section", { class: enough(found) ? "lead-in enough" : "lead-in" }, headline(found), h("div", { class: "aims" }, !searching(found) && aim(found, changed), seek(found)), enough(found) && exports,
    h("p", { class: "soft" }, [
      words.progress.labeled(found.labels, found.items), found.aside > 0 && words.progress.aside(found.aside), found.lag > 0 && words.progress.behind(found.lag),
    ].filter(Boolean).join(" · "))),
  found.curve.length > 1 && panel(words.progress.curve, curve(found.curve, found.goal.target)),
  found.classes.length > 0 && panel(words.progress.classes, perClass(found.classes)),
  found.hints.length > 0 && panel(words.progress.advice, h("ul", { class: "advice" }, found.hints.map((one) => h("li", {}, words.progress.hints[one])))),
  (found.people.length > 1 || found.agreement || found.disputed.length > 0) && panel(words.progress.people, together(found, changed)),
];

/** @type {(title: string, ...children: Child[]) => Child} */
const panel = (title, ...children) => h("section", { class: "panel" }, h("h2", {}, title), children);

/** Whether a class is sought of which something is known.
 * @param {Progress} found
 */
const searching = ({ find }) => find !== null && find.found > 0 && store.state?.find?.class === find.class;

/** Whether one can stop: by the search if there is one, else by the target.
 * @param {Progress} found
 */
const enough = (found) => (searching(found) ? Boolean(found.find?.reached) : found.goal.reached);

/** Says in one sentence whether all of a class is found, and then how many are.
 * @param {Progress} found
 */
const searched = ({ find }) => find && [
  h("h1", {}, find.reached ? words.find.stop(find.class, percent(find.share)) : words.find.goOn(find.class, Math.max(1, Math.round(find.value)))),
  h("p", { class: "gist" }, findings(find)),
];

/** Says in one sentence what to do, and then how good the predictions are.
 * @param {Progress} found
 */
function headline(found) {
  const { error, goal, checks } = found;
  if (found.labels + found.aside === found.items && found.items > 0) return h("h1", {}, words.question.done);
  if (searching(found)) return searched(found);
  if (!error) return [h("h1", {}, words.progress.early), h("p", { class: "gist" }, words.progress.earlyMore)];
  const right = percent(1 - error.value);
  const least = percent(1 - error.high);
  const by = words.progress.evidence(words.progress.measured(error.measured), found.labels - found.together, checks?.count ?? 0, found.together);
  const evidence = checks && checks.count > 2 && words.progress.checks(checks.count, checks.right);
  return goal.reached
    ? [h("h1", {}, words.progress.stop(right, least, by)), h("p", { class: "gist" }, evidence)]
    : [h("h1", {}, words.progress.goOn(left(found))), h("p", { class: "gist" }, words.progress.now(right, least, by)), h("p", { class: "gist" }, evidence)];
}

/** Lets a person choose a class to find all items of, or none.
 * @param {Progress} found
 */
function seek({ classes }) {
  const sought = store.state?.find?.class ?? null;
  const choose = h("button", { class: "button", onclick: () => chooseClass(words.find.which, words.find.means, seekAll, sought) }, sought === null ? words.find.one : words.find.another);
  return classes.length > 0 && h("div", { class: "aim seek" }, h("span", {}, words.find.choose),
    h("div", { class: "ways" }, sought !== null && [tag(sought), h("button", { class: "button", onclick: () => seekAll(null) }, words.find.end)], choose),
    h("p", { class: "soft" }, words.find.means));
}

/** Returns how long it takes until one can stop: minutes at this person's pace, else labels; null if nobody knows.
 * @param {Progress} found
 */
function left({ goal: { until }, people, left: open }) {
  if (!until) return null;
  const pace = people.find((one) => one.name === store.who)?.seconds ?? people.find((one) => one.seconds !== null)?.seconds;
  if (!pace) return words.progress.moreLabels(until.low, until.high, open);
  const [low, high] = [until.low, until.high].map((labels) => Math.max(1, Math.round((labels * pace) / 60)));
  return high > 120 ? words.progress.hours(Math.max(1, Math.round(low / 60)), Math.round(high / 60)) : words.progress.minutes(low, high);
}

/** @type {(found: Progress, changed: () => void) => Child} */
function aim({ goal: { target } }, changed) {
  /** @param {number} share */
  const choose = async (share) => { if (await save("/api/target", { target: share }, words.saved.target)) changed(); };
  const shares = [...new Set([...TARGETS, target])].sort((a, b) => b - a);
  return h("div", { class: "aim" }, h("span", { id: "target" }, words.progress.aim),
    h("div", { class: "steps", role: "group", "aria-labelledby": "target" }, shares.map((one) => h("button", {
      class: "plain", "aria-pressed": String(one === target), "aria-label": words.progress.rightShare(percent(1 - one)), onclick: () => choose(one),
    }, percent(1 - one))), h("span", { class: "soft", "aria-hidden": "true" }, words.progress.right)));
}

/** @param {ClassCount[]} all */
function perClass(all) {
  const longest = Math.max(1, ...all.map((one) => one.count + one.predicted));
  return h("ul", { class: "bars wide" }, all.map((one) => h("li", {}, tag(one.name),
    h("span", { class: "track tinted", vars: { ...tint(one.name), share: one.count / longest, guess: one.predicted / longest } }, one.count > 0 && h("span", { class: "part given" }), h("span", { class: "part guessed" })),
    h("span", { class: "amount" }, words.progress.counts(one.count, one.predicted)))));
}

/**
 * @param {Progress} found
 * @param {() => void} changed
 */
function together({ people, agreement, disputed }, changed) {
  return [
    agreement && h("p", { class: "gist" }, words.progress.agree(percent(agreement.share), agreement.items)),
    h("table", { class: "people-table" }, h("thead", {}, h("tr", {}, Object.values(words.progress.columns).map((one) => h("th", { scope: "col" }, one)))),
      h("tbody", {}, people.map((one) => h("tr", {}, h("td", {}, data(one.name), one.active && h("span", { class: "soft" }, words.progress.hereNow)), h("td", {}, count(one.answers)), h("td", {}, one.seconds === null ? "–" : one.seconds.toFixed(1)))))),
    disputed.length > 0 && [h("h3", {}, words.progress.disputed), h("ul", { class: "rows" }, disputed.map((one) => h("li", {}, h("button", { class: "row", onclick: () => openItem({ id: one.item }, changed) },
      itemLine(one), one.answers.map(({ who, label }) => h("span", { class: "vote" }, data(who, { class: "who" }), label === null ? words.progress.setAside : tag(label))))))) ],
  ];
}
