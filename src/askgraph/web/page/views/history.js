/** All answers, newest first; each can be opened and changed. */
import { get } from "../lib/api.js";
import { changes, clear, data, h } from "../lib/dom.js";
import { itemLine } from "../parts/item_line.js";
import { openItem } from "../parts/item.js";
import { sayError } from "../lib/notices.js";
import { labelTag } from "../parts/label_tag.js";
import { answers, classes, store, watch } from "../lib/store.js";
import { ago, moment, said } from "../lib/format.js";
import { words } from "../lib/words.js";

const PAGE = 50; // answers loaded at a time
const MOST = 500; // answers loaded again when there are new ones

/** @type {MakeView} */
export function historyView(root) {
  const list = h("ul", { class: "rows history" });
  const more = h("button", { class: "plain", onclick: () => load(last) }, words.history.more);
  const label = h("select", { "aria-label": words.table.class, onchange: () => load() });
  const who = h("select", { "aria-label": words.history.who, onchange: () => load() });
  const otherChoices = changes();
  clear(root, h("section", { class: "page", "aria-labelledby": "title" },
    h("header", { class: "heading" }, h("h1", { id: "title" }, words.history.title), h("div", { class: "filters" }, label, who)), list, more));
  /** @type {number | null} */
  let last = null;
  /** @type {number | undefined} */
  let seq;

  /**
   * @param {number | null} before
   * @param {number} limit
   */
  async function load(before = null, limit = PAGE) {
    /** @type {{ answers: LogLine[], more: boolean } | void} */
    const found = await get("/api/history", { limit, before, who: who.value, label: label.value, reader: store.who }).catch(sayError);
    if (!found) return;
    const rows = found.answers.map((one) => row(one, () => load()));
    if (before === null) clear(list, rows.length ? rows : h("li", { class: "empty" }, who.value || label.value ? words.history.noMatch : words.history.empty));
    else list.append(...rows);
    last = found.answers.at(-1)?.seq ?? null;
    more.hidden = !found.more;
  }

  /** Offers the classes and people that there are; what is chosen stays. */
  function choices() {
    const names = classes().map((one) => one.name);
    const people = (store.state?.people ?? []).filter((one) => one.answers > 0).map((one) => one.name);
    if (!otherChoices([names, people])) return;
    label.hidden = !names.length;
    offer(label, words.table.any[answers().kind], names);
    offer(who, words.history.anybody, people);
  }

  const stop = watch(() => {
    choices();
    if (store.state?.seq === seq) return;
    seq = store.state?.seq;
    load(null, Math.min(Math.max(PAGE, list.children.length), MOST));
  });
  more.hidden = true;
  choices();
  seq = store.state?.seq;
  load();
  return { leave: stop };
}

/** @type {(choice: HTMLSelectElement, any: string, names: string[]) => void} */
function offer(choice, any, names) {
  const chosen = choice.value;
  clear(choice, h("option", { value: "" }, any), names.map((name) => h("option", { value: name }, name)));
  choice.value = names.includes(chosen) ? chosen : "";
}

/** @type {(one: LogLine, changed: () => void) => HTMLElement} */
const row = (one, changed) => h("li", { class: one.current || (isNote(one) && !one.undone) ? "" : "past" },
  h("button", { class: "row", onclick: () => openItem({ id: one.item }, changed) },
    one.kind === "label" ? labelTag(one.label ?? "") : h("span", { class: "tag" }, h("span", { class: "dash" }), spoken(one)),
    itemLine(one),
    h("span", { class: "soft note", title: one.how === "copy" ? words.history.copyMeans : null }, notes(one).join(", ")),
    data(one.who, { class: "who" }),
    h("span", { class: "soft took" }, one.seconds !== null && took(one.seconds)),
    h("time", { class: "soft", datetime: one.at, title: moment(one.at) }, ago(one.at)),
    h("span", { class: "change" }, words.history.change)));

/** @param {LogLine} one */
const isNote = ({ kind }) => kind === "comment" || kind === "reasons";

/** Says an answer, a comment, or what reasons were given.
 * @param {LogLine} one
 */
const spoken = (one) => (one.kind === "comment" ? h("span", { class: "said", dir: "auto" }, one.text) : one.kind === "reasons" ? one.reasons.join(", ") || words.reasons.none : said(one));

/** How an answer came about, where that is not the usual way.
 * @param {LogLine} one
 */
const notes = (one) => [one.lead && words.history.lead, one.how && words.history.how[one.how], one.predicted !== null && words.history.spotCheck, one.kind === "comment" && words.notes.one, one.kind === "reasons" && words.reasons.title, one.undone && words.answers.takenBack].filter(Boolean);

/** @param {number} seconds */
function took(seconds) {
  const shown = seconds < 10 ? seconds.toFixed(1) : String(Math.round(seconds));
  return [h("span", { "aria-hidden": "true" }, words.history.seconds(shown)), h("span", { class: "aloud" }, words.history.took(shown))];
}
