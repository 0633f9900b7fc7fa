/** All items with their labels: search, filter, sort, select several and label them in one step. */
import { get } from "../lib/api.js";
import { changes, clear, data, h } from "../lib/dom.js";
import { exportMenu } from "../parts/exports.js";
import { lines, thumb } from "../parts/item_line.js";
import { bold, boldTyped, wordsOf } from "../parts/bold.js";
import { openItem } from "../parts/item.js";
import { sayError } from "../lib/notices.js";
import { rangeWords } from "../lib/labels.js";
import { labelTag } from "../parts/label_tag.js";
import { answers, classes, store, update, watch } from "../lib/store.js";
import { suspectList } from "../parts/suspects.js";
import { answerTogether } from "../parts/together.js";
import { percent, translated } from "../lib/format.js";
import { words } from "../lib/words.js";

const PAGE = 100; // items per page
const PAUSE = 200; // milliseconds without typing after which the search begins
const AGAIN = 1_000; // milliseconds before loading again while the predictions lag

/** @type {MakeView} */
export function tableView(root) {
  const query = { search: "", like: "", label: "", status: "", noted: "", sort: "probability", order: "asc", offset: 0, inside: store.inside };
  /** @type {Map<string, TableRow>} */
  const chosen = new Map();
  const otherBar = changes();
  const otherClasses = changes();
  const names = () => classes().map((one) => one.name);
  /** @type {TableRow[]} */
  let rows = [];
  /** @type {number | null} */
  let anchor = null;
  let latest = 0;
  let seq = store.state?.seq;
  let timer = 0;
  let behind = 0;

  const search = h("input", { type: "search", placeholder: words.table.search, "aria-label": words.table.searchItems, oninput: () => later(seek) });
  const like = h("input", { type: "checkbox", onchange: seek });
  const alike = h("label", { class: "check" }, like, words.table.like);
  /** @type {HTMLSelectElement} */
  const label = h("select", { "aria-label": words.table.class, onchange: () => filter("label", label.value) });
  /** @type {HTMLSelectElement} */
  const status = h("select", { "aria-label": words.table.status, onchange: () => filter("status", status.value) },
    h("option", { value: "" }, words.table.anyStatus), Object.entries(words.statuses).map(([value, name]) => h("option", { value }, name)));
  /** @type {HTMLSelectElement} */
  const noted = h("select", { "aria-label": words.notes.group, onchange: () => filter("noted", noted.value) },
    h("option", { value: "" }, words.notes.any), h("option", { value: "comment" }, words.notes.commented), h("option", { value: "return" }, words.notes.toReturn));
  const part = h("button", { class: "button", onclick: () => { update({ inside: "" }); query.inside = ""; part.hidden = true; restart(); } }, words.table.inside);
  part.hidden = !store.inside;
  const gist = h("p", { class: "soft" });
  const heads = h("tr", {});
  const body = h("tbody", {});
  const sheet = h("table", { class: "items" }, h("thead", {}, heads), body);
  const pager = h("div", { class: "pager" });
  const bar = h("div", { class: "selection", role: "region", "aria-label": words.table.selection });
  const suspects = suspectList(load);
  clear(root, h("section", { class: "page table", "aria-label": words.views.table },
    h("header", { class: "heading" }, h("div", {}, h("h1", {}, words.table.heading), gist), exportMenu()),
    suspects.element,
    h("div", { class: "filters" }, search, store.state?.texts && alike, label, status, noted, part),
    sheet, pager, bar));

  async function load() {
    const mine = ++latest;
    /** @type {{ items: TableRow[], total: number, lag: number, waiting?: undefined } | { waiting: string } | void} */
    const found = await get("/api/items", { ...query, reader: store.who, limit: PAGE }).catch(sayError);
    if (!found || mine !== latest) return;
    clearTimeout(behind);
    if (found.waiting !== undefined) {
      behind = setTimeout(load, AGAIN);
      clear(body, note(h("span", { class: "breathing", role: "status" }, translated(found.waiting))));
      return;
    }
    if (found.lag) behind = setTimeout(load, AGAIN);
    if (!found.items.length && query.offset > 0) {
      query.offset = 0;
      load();
      return;
    }
    rows = found.items;
    for (const row of rows) if (chosen.has(row.id)) chosen.set(row.id, row);
    draw(found.total);
  }

  /** @param {number} total */
  function draw(total) {
    sheet.dataset.kind = answers().kind;
    sheet.dataset.ids = rows.every((row) => row.named && row.id === row.title) ? "names" : ""; // then the same would be said twice
    drawHeads();
    clear(body, rows.length ? rows.map(line) : note(!store.state?.items ? words.table.empty : query.like ? words.table.nothingLike : words.table.noMatch));
    drawPager(total);
    drawBar();
  }

  /** @param {Child} said */
  const note = (said) => h("tr", {}, h("td", { colspan: 6 }, h("p", { class: "empty" }, said)));

  function drawHeads() {
    gist.textContent = query.like ? words.table.gistLike : words.table.gist;
    clear(heads, h("th", { class: "pick-cell" }, all), Object.entries({ ...words.table.columns, ...words.table.heads[answers().kind] }).map(([key, name]) => h("th", {
      scope: "col", class: key, "aria-sort": query.sort === key && !query.like ? (query.order === "asc" ? "ascending" : "descending") : "none",
    }, h("button", { onclick: () => sort(key) }, name))));
  }

  const all = h("input", { type: "checkbox", "aria-label": words.table.selectAll, onchange: () => {
    for (const row of rows) choose(row, all.checked);
    drawBar();
  } });

  /** @type {(row: TableRow, place: number) => HTMLElement} */
  function line(row, place) {
    const box = h("input", { type: "checkbox", "aria-label": words.table.select(row.title), onclick: (event) => {
      const from = event.shiftKey && anchor !== null ? anchor : place;
      for (const one of rows.slice(Math.min(from, place), Math.max(from, place) + 1)) choose(one, box.checked);
      anchor = place;
      drawBar();
    } });
    box.checked = chosen.has(row.id);
    return h("tr", {}, h("td", { class: "pick-cell" }, h("label", {}, box)),
      h("td", { class: "id" }, data(row.id)),
      h("td", { class: "title" }, h("button", { class: "row", onclick: () => openItem({ id: row.id }, load) }, h("span", { class: "what" }, thumb(row.image), lines(row, row.common.columns, mark(row))))),
      h("td", { class: "label" }, row.label === null ? null : labelTag(row.label, row.status !== "labeled", row.range)),
      h("td", { class: "probability" }, sureness(row)),
      h("td", { class: "status" }, words.statuses[row.status], row.who.length > 0 && h("span", { class: "soft" }, words.table.by(data(row.who.join(", ")))), row.decided !== null && h("span", { class: "soft" }, words.item.decided(data(row.decided))),
        row.comments > 0 && h("span", { class: "soft" }, `, ${words.notes.comments(row.comments)}`), row.marked && h("span", { title: words.notes.toReturn }, h("span", { "aria-hidden": "true" }, " ⚑"), h("span", { class: "aloud" }, words.notes.toReturn))));
  }

  /** Returns what shows a text of a row: with what is looked for in bold, or else with what the row has in common with others of its class.
   * @type {(row: TableRow) => (text: string) => Child}
   */
  const mark = (row) => (text) => (query.search ? boldTyped(text, query.search) : bold(text, query.like ? wordsOf(query.like) : row.common.words));

  /** @type {(row: TableRow, on: boolean) => void} */
  function choose(row, on) {
    if (on) chosen.set(row.id, row);
    else chosen.delete(row.id);
  }

  /** @param {number} total */
  function drawPager(total) {
    const last = Math.min(query.offset + PAGE, total);
    const step = (/** @type {number} */ by) => () => { query.offset += by; anchor = null; load(); scrollTo({ top: 0 }); };
    clear(pager, total > 0 && h("span", { class: "soft" }, words.table.shown(query.offset + 1, last, total)),
      query.offset > 0 && h("button", { class: "plain", onclick: step(-PAGE) }, words.table.previous),
      last < total && h("button", { class: "plain", onclick: step(PAGE) }, words.table.next));
  }

  function drawBar() {
    const boxes = body.querySelectorAll("input");
    rows.forEach((row, i) => { if (boxes[i]) boxes[i].checked = chosen.has(row.id); });
    all.checked = rows.length > 0 && rows.every((row) => chosen.has(row.id));
    all.indeterminate = !all.checked && rows.some((row) => chosen.has(row.id));
    bar.hidden = chosen.size === 0;
    if (!otherBar(chosen.size)) return;
    clear(bar, h("span", {}, words.table.selected(chosen.size)),
      h("button", { class: "primary", onclick: answer }, words.together.open, h("kbd", {}, "⏎")),
      h("button", { class: "plain", onclick: release }, words.table.clear));
  }

  function release() {
    chosen.clear();
    drawBar();
  }

  /** Asks what to answer to the selected items. */
  function answer() {
    answerTogether({ items: [...chosen.keys()] }, "/api/confirm", () => {
      release();
      load();
    });
  }

  /** Shows the items that hold what was typed, or all that are like it, the most alike first. */
  function seek() {
    const typed = search.value.trim();
    Object.assign(query, like.checked ? { search: "", like: typed } : { search: typed, like: "" });
    restart();
  }

  /** @param {string} key */
  function sort(key) {
    if (query.like) {
      like.checked = false;
      Object.assign(query, { search: query.like, like: "" });
    }
    query.order = query.sort === key && query.order === "asc" ? "desc" : "asc";
    query.sort = key;
    restart();
  }

  /**
   * @param {"label" | "status" | "noted"} name
   * @param {string} value
   */
  function filter(name, value) {
    query[name] = value;
    restart();
  }

  function restart() {
    query.offset = 0;
    anchor = null;
    load();
  }

  /** @param {() => void} action */
  function later(action) {
    clearTimeout(timer);
    timer = setTimeout(action, PAUSE);
  }

  function drawClasses() {
    if (!otherClasses(names())) return;
    label.hidden = !names().length;
    clear(label, h("option", { value: "" }, words.table.any[answers().kind]), names().map((name) => h("option", { value: name }, name)));
    label.value = query.label;
  }

  const stop = watch(() => {
    if (store.state?.seq === seq) return;
    seq = store.state?.seq;
    drawClasses();
    load();
    suspects.load();
  });
  bar.hidden = true;
  drawClasses();
  load();
  suspects.load();
  return {
    leave() {
      latest += 1;
      clearTimeout(timer);
      clearTimeout(behind);
      suspects.leave();
      stop();
    },
    key(key) {
      const elsewhere = document.activeElement?.closest("button, a, summary");
      if (key === "/") search.focus();
      else if (key === "Enter" && chosen.size && !elsewhere) answer();
      else return false;
      return true;
    },
  };
}

/** Says how sure a prediction is, and between what it probably lies.
 * @param {TableRow} row
 */
const sureness = ({ status, probability, range }) => (probability === null ? range && rangeWords(range)
  : [percent(probability), range && status === "predicted" && range[0] !== range[1] && h("span", { class: "soft range" }, rangeWords(range))]);
