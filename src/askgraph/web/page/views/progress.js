/** Progress: whether to stop or go on, how good the labels are expected to be, and how that came about. */
import { get } from "../lib/api.js";
import { clear, data, h } from "../lib/dom.js";
import { curve } from "../parts/curve.js";
import { exportGroups } from "../parts/exports.js";
import { itemLine } from "../parts/item_line.js";
import { openItem } from "../parts/item.js";
import { chooseSought, lookFor } from "../parts/choose_sought.js";
import { histogram } from "../parts/histogram.js";
import { labelTag } from "../parts/label_tag.js";
import { measure } from "../parts/measure.js";
import { certifyOffer } from "../parts/certify.js";
import { recallCurve } from "../parts/recall_curve.js";
import { findings, proven, reading, seekNothing, sought, soughtWords } from "../parts/search.js";
import { sourceList } from "../parts/sources.js";
import { forLeads, leadsOnly } from "../parts/leads.js";
import { secondReading } from "../parts/second.js";
import { takeBackSince } from "../parts/take_back.js";
import { targetChoice } from "../parts/target.js";
import { tag, tint } from "../parts/palette.js";
import { answers, mayLead, store, watch } from "../lib/store.js";
import { inUnit } from "../lib/labels.js";
import { capital, percent, translated } from "../lib/format.js";
import { count, rough } from "../lib/numbers.js";
import { words } from "../lib/words.js";

const NAMED = 5; // classes that were never seen and are named
const AGAIN = 700; // milliseconds before loading again what is still being computed

/** @type {MakeView} */
export function progressView(root) {
  const page = h("section", { class: "page progress", "aria-label": words.progress.title }, h("h1", { class: "aloud" }, words.progress.title), h("p", { class: "empty breathing" }, words.frame.oneMoment));
  const sources = sourceList(() => load());
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
      : [report(found, load), sources.element]);
    if (!found.waiting) sources.load();
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
      sources.leave();
      stop();
    },
  };
}

/** @type {(found: Progress, changed: () => void) => Child} */
const report = (found, changed) => [
  h("section", { class: enough(found) ? "lead-in enough" : "lead-in" }, headline(found), h("div", { class: "aims" }, !searching(found) && forLeads(targetChoice(found.goal.target, changed)), seek(found)), leadsOnly(),
    enough(found) && [h("h2", {}, words.exports.title), exportGroups()],
    h("p", { class: "soft" }, [
      words.progress.labeled(found.labels, found.items), found.aside > 0 && words.progress.aside(found.aside), found.lag > 0 && words.progress.behind(found.lag),
    ].filter(Boolean).join(" · "))),
  searching(found) && found.find ? ofSearch(found.find, found.items) : ofAll(found),
  found.numbers && panel(words.progress.numbers, histogram(found.numbers)),
  found.classes.length > 0 && panel(answers().kind === "ordered" ? words.guidelines.steps : words.progress.classes, perClass(found.classes)),
  found.reasons.some((one) => one.count > 0) && panel(words.reasons.title, reasonCounts(found.reasons)),
  (found.people.some((one) => one.name !== store.who) || found.agreement || found.disputed.length > 0) && panel(words.progress.people, together(found, changed)),
  !enough(found) && panel(words.exports.title, exportGroups()),
];

/** How a search goes; the expected error says nothing of it.
 * @type {(find: Findings, items: number) => Child}
 */
const ofSearch = (find, items) => [
  find.recall.length > 1 && panel(words.find.curve, recallCurve(find, items)),
  (find.offers.length > 0 || find.lost) && forLeads(panel(words.certify.title, certifyOffer(find))),
];

/** How good the predictions of all items are, and what may help.
 * @param {Progress} found
 */
const ofAll = (found) => [
  found.error && unseen(found.classes),
  grown(found.curve) && panel(measure().say.curve, curve(found.curve, found.goal.target)),
  advice(found).length > 0 && panel(words.progress.advice, h("ul", { class: "advice" }, advice(found).map((one) => h("li", {}, one)))),
];

/** Names the classes that no item is labeled with, and leads to the search for one.
 * @param {ClassCount[]} all
 */
function unseen(all) {
  const none = all.filter((one) => one.count === 0);
  return none.length > 0 && panel(words.progress.unseen, h("ul", { class: "rows unseen" }, none.slice(0, NAMED).map(({ name }) => h("li", {},
    h("p", {}, words.find.unseen(tag(name))), forLeads(h("button", { class: "button", onclick: () => lookFor(name) }, words.find.lookFor))))),
    none.length > NAMED && h("p", { class: "soft" }, words.find.othersUnseen(none.length - NAMED)));
}

/** @type {(title: string, ...children: Child[]) => HTMLElement} */
const panel = (title, ...children) => h("section", { class: "panel" }, h("h2", {}, title), children);

/** Whether labels have come since the curve began.
 * @param {CurvePoint[]} all
 */
const grown = (all) => all.length > 1 && all[0].labels < all[all.length - 1].labels;

/** What may help: the page has words of its own for what is said of classes.
 * @param {Progress} found
 */
const advice = ({ hints, advice: said }) => (hints.length ? hints.map((one) => words.progress.hints[one]) : said.map(translated));

/** Whether a class is sought of which something is known.
 * @param {Progress} found
 */
const searching = ({ find }) => find !== null && find.found > 0 && store.state?.find?.text === find.text;

/** Whether one can stop: by the search if there is one, else by the target.
 * @param {Progress} found
 */
const enough = (found) => (searching(found) ? Boolean(found.find && (found.find.certified || found.find.reached)) : found.goal.reached);

/** Says in one sentence what is certified of a search, or whether all of a class is found, and then how many are.
 * @param {Progress} found
 */
const searched = ({ find }) => find && [
  h("h1", {}, proven(find) ?? reading(find) ?? headOf(find)),
  find.certificate && h("p", { class: "gist" }, find.certificate.share === null ? words.certify.whole : words.certify.by(find.certificate)),
  h("p", { class: "gist" }, find.known ? findings(find) : words.find.between(find.found, find.low, find.high)),
  find.last.labels > 0 && h("p", { class: "gist" }, words.find.lately(find.last.found, find.last.labels)),
];

/** Says whether to go on with a search.
 * @param {Findings} find
 */
function headOf({ reached, known, share, value, high }) {
  if (reached) return words.find.stop(sought(), percent(share));
  if (!known) return words.find.goOnUnknown(sought());
  return Math.round(value) ? words.find.goOn(sought(), Math.round(value)) : words.find.goOnUpTo(sought(), high);
}

/** Says in one sentence how good the predictions are and whether one can stop, and then what that rests on and how long it takes.
 * @param {Progress} found
 */
function headline(found) {
  const { error, goal, checks } = found;
  if (found.labels + found.aside === found.items && found.items > 0) return h("h1", {}, words.question.done);
  if (searching(found)) return searched(found);
  if (!error) return [h("h1", {}, words.progress.early), h("p", { class: "gist" }, words.progress.earlyMore[answers().kind])];
  const { say, said } = measure();
  const [about, bound] = [said(error.value), said(error.high)];
  const by = words.progress.evidence(words.progress.measured(error.measured), found.labels - found.together, checks?.count ?? 0, found.together);
  const evidence = checks && checks.right !== null && checks.count > 2 && words.progress.checks(checks.count, checks.right);
  return goal.reached
    ? [h("h1", {}, say.stop(about, bound, by)), h("p", { class: "gist" }, evidence)]
    : [h("h1", {}, say.now(about, bound)), h("p", { class: "gist" }, capital(by), "."), h("p", { class: "gist" }, evidence), h("p", { class: "gist" }, words.progress.goOn(left(found)))];
}

/** Lets a person choose what to find all items of, or nothing.
 * @param {Progress} found
 */
function seek({ classes }) {
  const find = store.state?.find ?? null;
  const { choose, one, another, means } = words.find.by[answers().kind];
  const button = h("button", { class: "button", onclick: chooseSought }, find === null ? one : another);
  return (classes.length > 0 || answers().kind === "numbers") && forLeads(h("div", { class: "aim seek" }, h("span", {}, choose),
    h("div", { class: "ways" }, find !== null && [find.class !== null && find.value === null ? tag(find.class) : soughtWords(find), h("button", { class: "button", onclick: seekNothing }, words.find.end)], button),
    h("p", { class: "soft" }, means)));
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

/** @param {ClassCount[]} all */
function perClass(all) {
  const longest = Math.max(1, ...all.map((one) => one.count + one.predicted));
  return h("ul", { class: "bars wide" }, all.map((one) => h("li", {}, tag(one.name),
    h("span", { class: "track tinted", vars: { ...tint(one.name), share: one.count / longest, guess: one.predicted / longest } }, one.count > 0 && h("span", { class: "part given" }), h("span", { class: "part guessed" })),
    h("span", { class: "amount" }, words.progress.counts(one.count, one.predicted)))));
}

/** Counts the items per reason, those most often given first.
 * @param {ReasonCount[]} all
 */
const reasonCounts = (all) => h("ul", { class: "rows reason-counts" }, all.filter((one) => one.count > 0).sort((a, b) => b.count - a.count)
  .map((one) => h("li", {}, data(one.reason), tag(one.class), h("span", { class: "amount" }, count(one.count)))));

/** Says how often people agree, and by how much they differ where answers can be near.
 * @param {Agreement} agreement
 */
function agreed({ items, share, apart }) {
  const distance = apart === null ? null : answers().kind === "numbers" ? inUnit(rough(apart)) : words.progress.steps(rough(apart));
  return [share !== null && (items === 1 ? words.progress.agreeOnOne(share === 1) : words.progress.agree(percent(share), items)), distance !== null && words.progress.differ(distance, items)].filter(Boolean).join(" ");
}

/**
 * @param {Progress} found
 * @param {() => void} changed
 */
function together({ people, agreement, disputed, decided, second }, changed) {
  return [
    agreement && h("p", { class: "gist" }, agreed(agreement)),
    h("table", { class: "people-table" }, h("thead", {}, h("tr", {}, Object.values(words.progress.columns).map((one) => h("th", { scope: "col" }, one)))),
      h("tbody", {}, people.map((one) => h("tr", {}, h("td", {}, data(one.name), one.role && h("span", { class: "soft" }, ` · ${words.people.roles[one.role]}`), one.active && h("span", { class: "soft" }, words.progress.hereNow),
        mayLead() && [" ", h("button", { class: "plain", "aria-label": words.takeBack.title(one.name), onclick: () => takeBackSince(one.name, changed) }, words.takeBack.open)]), h("td", {}, count(one.answers)), h("td", {}, one.seconds === null ? "–" : one.seconds.toFixed(1)))))),
    Object.entries(decided).map(([who, n]) => h("p", { class: "gist" }, words.progress.decided(data(who), n))),
    people.length > 1 && forLeads(secondReading(second, changed)),
    disputed.length > 0 && [h("h3", {}, words.progress.disputed), h("ul", { class: "rows" }, disputed.map((one) => h("li", {}, h("button", { class: "row", onclick: () => openItem({ id: one.item }, changed) },
      itemLine(one), one.answers.map(({ who, label }) => h("span", { class: "vote" }, data(who, { class: "who" }), label === null ? words.progress.setAside : labelTag(label))))))) ],
  ];
}
