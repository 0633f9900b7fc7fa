/** All items with their labels: search, filter, sort, select several and label them in one step. */
import { get } from "../lib/api.js";
import { save } from "../lib/session.js";
import { changes, clear, data, h } from "../lib/dom.js";
import { exportLinks } from "../parts/exports.js";
import { itemLine } from "../parts/item_line.js";
import { openItem } from "../parts/item.js";
import { sayError } from "../lib/notices.js";
import { tag } from "../parts/palette.js";
import { classes, store, watch } from "../lib/store.js";
import { suspectList } from "../parts/suspects.js";
import { count, percent, plural, STATUS } from "../lib/format.js";

const PAGE = 100; // items per page
const PAUSE = 200; // milliseconds without typing after which the search begins
const AGAIN = 1_000; // milliseconds before loading again while the predictions lag
const COLUMNS = { id: "Item", title: "Content", label: "Label", probability: "Sure", status: "Status" };

/** @type {MakeView} */
export function tableView(root) {
  const query = { search: "", label: "", status: "", sort: "id", order: "asc", offset: 0 };
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

  const search = h("input", { type: "search", placeholder: "Search", "aria-label": "Search the items", oninput: () => later(() => filter("search", search.value.trim())) });
  /** @type {HTMLSelectElement} */
  const label = h("select", { "aria-label": "Class", onchange: () => filter("label", label.value) });
  /** @type {HTMLSelectElement} */
  const status = h("select", { "aria-label": "Status", onchange: () => filter("status", status.value) },
    h("option", { value: "" }, "Any status"), Object.entries(STATUS).map(([value, words]) => h("option", { value }, words)));
  const heads = h("tr", {});
  const body = h("tbody", {});
  const pager = h("div", { class: "pager" });
  const bar = h("div", { class: "selection", role: "region", "aria-label": "Selected items" });
  const suspects = suspectList(load);
  clear(root, h("section", { class: "page table", "aria-label": "Table" },
    h("header", { class: "heading" }, h("h1", {}, "All items"), exportLinks()),
    suspects.element,
    h("div", { class: "filters" }, search, label, status),
    h("table", { class: "items" }, h("thead", {}, heads), body), pager, bar));

  async function load() {
    const mine = ++latest;
    /** @type {{ items: TableRow[], total: number, lag: number } | void} */
    const found = await get("/api/items", { ...query, limit: PAGE }).catch(sayError);
    if (!found || mine !== latest) return;
    clearTimeout(behind);
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
    drawHeads();
    clear(body, rows.length ? rows.map(line) : h("tr", {}, h("td", { colspan: 6 }, h("p", { class: "empty" }, store.state?.items ? "No item matches." : "This project has no items yet."))));
    drawPager(total);
    drawBar();
  }

  function drawHeads() {
    clear(heads, h("th", { class: "pick-cell" }, all), Object.entries(COLUMNS).map(([key, words]) => h("th", {
      scope: "col", class: key, "aria-sort": query.sort === key ? (query.order === "asc" ? "ascending" : "descending") : "none",
    }, h("button", { onclick: () => sort(key) }, words))));
  }

  const all = h("input", { type: "checkbox", "aria-label": "Select all shown", onchange: () => {
    for (const row of rows) choose(row, all.checked);
    drawBar();
  } });

  /** @type {(row: TableRow, place: number) => HTMLElement} */
  function line(row, place) {
    const box = h("input", { type: "checkbox", "aria-label": `Select ${row.title}`, onclick: (event) => {
      const from = event.shiftKey && anchor !== null ? anchor : place;
      for (const one of rows.slice(Math.min(from, place), Math.max(from, place) + 1)) choose(one, box.checked);
      anchor = place;
      drawBar();
    } });
    box.checked = chosen.has(row.id);
    return h("tr", {}, h("td", { class: "pick-cell" }, h("label", {}, box)),
      h("td", { class: "id" }, data(row.id)),
      h("td", { class: "title" }, h("button", { class: "row", onclick: () => openItem({ id: row.id }, load) }, itemLine(row))),
      h("td", { class: "label" }, row.label === null ? null : tag(row.label, row.status !== "labeled")),
      h("td", { class: "probability" }, row.probability === null ? "" : percent(row.probability)),
      h("td", { class: "status" }, STATUS[row.status], row.who.length > 0 && h("span", { class: "soft" }, " by ", data(row.who.join(", ")))));
  }

  /** @type {(row: TableRow, on: boolean) => void} */
  function choose(row, on) {
    if (on) chosen.set(row.id, row);
    else chosen.delete(row.id);
  }

  /** @param {number} total */
  function drawPager(total) {
    const last = Math.min(query.offset + PAGE, total);
    const step = (/** @type {number} */ by) => () => { query.offset += by; anchor = null; load(); scrollTo({ top: 0 }); };
    clear(pager, total > 0 && h("span", { class: "soft" }, `${count(query.offset + 1)}–${count(last)} of ${count(total)}`),
      query.offset > 0 && h("button", { class: "plain", onclick: step(-PAGE) }, "Previous"),
      last < total && h("button", { class: "plain", onclick: step(PAGE) }, "Next"));
  }

  function drawBar() {
    const boxes = body.querySelectorAll("input");
    rows.forEach((row, i) => { if (boxes[i]) boxes[i].checked = chosen.has(row.id); });
    all.checked = rows.length > 0 && rows.every((row) => chosen.has(row.id));
    all.indeterminate = !all.checked && rows.some((row) => chosen.has(row.id));
    const predicted = [...chosen.values()].filter((row) => row.status === "predicted").map((row) => row.id);
    bar.hidden = chosen.size === 0;
    if (!otherBar([[...chosen.keys()], predicted, names()])) return;
    /** @type {HTMLSelectElement} */
    const give = h("select", { "aria-label": "Give them a class", onchange: () => confirm([...chosen.keys()], give.value) },
      h("option", { value: "" }, "Give them a class"), names().map((name) => h("option", { value: name }, name)));
    clear(bar, h("span", {}, `${count(chosen.size)} selected`),
      predicted.length > 0 && h("button", { class: "primary", onclick: () => confirm(predicted, null) }, `Confirm ${plural(predicted.length, "prediction")}`),
      give, h("button", { class: "plain", onclick: () => { chosen.clear(); drawBar(); } }, "Clear"));
  }

  /** Labels items with a class, or as predicted for null.
   * @param {string[]} items
   * @param {string | null} name
   */
  async function confirm(items, name) {
    chosen.clear();
    drawBar();
    await save("/api/confirm", { items, label: name }, name === null ? `${plural(items.length, "prediction")} confirmed` : `${plural(items.length, "item")} labeled ${name}`);
    load();
  }

  /** @param {string} key */
  function sort(key) {
    query.order = query.sort === key && query.order === "asc" ? "desc" : "asc";
    query.sort = key;
    restart();
  }

  /**
   * @param {"search" | "label" | "status"} name
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
    clear(label, h("option", { value: "" }, "Any class"), names().map((name) => h("option", { value: name }, name)));
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
      if (key === "/") search.focus();
      return key === "/";
    },
  };
}
