/** The first rows of a table; the head of each column says what it is for, and can be told otherwise. */
import { clear, data, h } from "../lib/dom.js";
import { capital } from "../lib/format.js";
import { words } from "../lib/words.js";

const say = words.start;
const NAMED = 6; // columns that a sentence names; of more it says how many
const NUMBERS = new Set(["number", "boolean"]);
const TEXTS = new Set(["text", "short"]);

/** @typedef {"text" | "short" | "number" | "boolean" | "date" | "picture" | "empty"} ColumnKind */
/** @typedef {"compare" | "id" | "label" | "show" | "leave"} Use what a person can say that a column is for */
/** @typedef {{ name: string, kind: ColumnKind, use: "id" | "compared" | "label" | "picture" | null, offered?: boolean, values?: number, empty?: number, answers?: import("./answers.js").Offered | null }} Column */
/** @typedef {{ kind: ColumnKind, use: Column["use"], count: number }} More columns that are not shown, of one kind and use */
/** @typedef {{ columns: Column[], more: More[], rows: string[][], by_pictures: boolean }} Table */

/** What the columns are for, as the heads say it now. */
export class Heads {
  /**
   * @param {Table} table
   * @param {(labels: Column | null) => void} labeled is told of the column that has labels
   */
  constructor(table, labeled) {
    this.table = table;
    this.labeled = labeled;
    this.rest = h("input", { type: "checkbox", checked: true, onchange: () => this.show() });
    this.wanted = table.columns.map(proposed);
    this.last = table.columns.map(() => 0); // when each was said, by a count
    this.saying = 0;
    this.uses = this.wanted;
    this.restLine = h("label", { class: "mark-column" }, this.rest, h("span"));
    this.summary = h("p", { class: "summary", role: "status" });
    this.offers = h("div", { class: "offers" });
    this.heads = table.columns.map((one, k) => this.#head(one, k));
    this.cells = table.rows.map((row) => row.map((cell) => h("td", {}, data(cell))));
    this.element = frame(h("table", {}, h("thead", {}, h("tr", {}, this.heads.map(({ th }) => th), h("th", { scope: "col", class: "end" }, this.#end()))),
      h("tbody", {}, this.cells.map((row) => h("tr", {}, row, h("td", { class: "end" }))))), say.sample);
    this.show();
  }

  /** The names of the columns of this use, and of these kinds.
   * @param {Use} use
   * @param {Set<string>} [kinds]
   */
  named(use, kinds) {
    return this.table.columns.filter((one, k) => this.uses[k] === use && (!kinds || kinds.has(one.kind))).map((one) => one.name);
  }

  /** What a request to make a project says of the columns. */
  get said() {
    return { id: this.named("id")[0] ?? null, label: this.named("label")[0] ?? null, left_out: this.named("leave"),
      text: this.named("compare", TEXTS), features: this.named("compare", NUMBERS), rest: this.rest.checked };
  }

  /** Whether anything is compared. */
  get compares() {
    return this.table.by_pictures || this.named("compare").length > 0 || this.#restCompared() > 0;
  }

  /** Says what a column is for. What another column loses by it, as the name of items, it has again once this one is for something else.
   * @param {number} k
   * @param {string} use
   */
  mark(k, use) {
    this.wanted[k] = /** @type {Use} */ (use);
    this.last[k] = ++this.saying;
    this.show();
  }

  /** Returns what each column is for: one names items, and one has labels.
   * @returns {Use[]}
   */
  #uses() {
    const first = (/** @type {Use} */ use) => this.wanted.reduce((best, one, k) => (one === use && (best < 0 || this.#when(k) > this.#when(best)) ? k : best), -1);
    const [id, label] = [first("id"), first("label")];
    return this.wanted.map((one, k) => ((one === "id" && k !== id) || (one === "label" && k !== label) ? "show" : one));
  }

  /** @param {number} k */
  #when(k) {
    return this.last[k] ?? 0;
  }

  /** @param {Column} one */
  #asks(one) {
    return Boolean(one.offered) && this.uses[this.table.columns.indexOf(one)] === "leave";
  }

  /** Brings everything that is seen to what is chosen. */
  show() {
    this.uses = this.#uses();
    this.heads.forEach(({ th, select, why }, k) => {
      const use = /** @type {Use} */ (this.uses[k]);
      if (select) select.value = use;
      why.textContent = this.#asks(/** @type {Column} */ (this.table.columns[k])) ? say.asked : "";
      for (const cell of [th, ...this.cells.map((row) => /** @type {HTMLElement} */ (row[k]))]) cell.dataset.use = use;
    });
    const rest = this.#more((one) => one.use === "compared");
    this.restLine.hidden = !rest;
    /** @type {HTMLElement} */ (this.restLine.lastElementChild).textContent = rest ? say.restCompared(rest, say.columnKinds[this.#restKind()]) : "";
    clear(this.offers, this.table.columns.filter((one) => this.#asks(one)).map((one) => this.#offer(one)));
    clear(this.summary, this.#sentences());
    this.labeled(this.table.columns.find((one, k) => this.uses[k] === "label") ?? null);
  }

  /** @param {Column} one @param {number} k */
  #head(one, k) {
    const why = h("span", { class: "why-not" });
    const select = one.kind === "picture" || one.kind === "empty" ? null : this.#select(one, k);
    const th = h("th", { scope: "col" }, h("div", { class: "head", "data-kind": one.kind }, data(one.name, { class: "name" }), h("span", { class: "soft" }, say.columnKinds[one.kind]), select, why));
    return { th, select, why };
  }

  /** @param {Column} one @param {number} k */
  #select(one, k) {
    const compares = !this.table.by_pictures && (TEXTS.has(one.kind) || NUMBERS.has(one.kind));
    /** @type {Use[]} */
    const uses = [...(compares ? /** @type {Use[]} */ (["compare"]) : []), "id", "label", "show", "leave"];
    /** @type {HTMLSelectElement} */
    const select = h("select", { "aria-label": say.useOf(one.name), onchange: () => this.mark(k, select.value) },
      uses.map((use) => h("option", { value: use }, say.uses[use])));
    return select;
  }

  /** @param {Column} one */
  #offer(one) {
    const k = this.table.columns.indexOf(one);
    return h("section", { class: "offer" }, h("p", {}, say.offer(one.name, one.values ?? 0, one.empty ?? 0)),
      h("div", { class: "choices" },
        h("button", { class: "button", type: "button", onclick: () => this.mark(k, "label") }, say.offerYes),
        h("button", { class: "button", type: "button", onclick: () => this.mark(k, "show") }, say.offerNo)));
  }

  /** Says what is compared, what is not and why, and what items are called by. */
  #sentences() {
    const { columns, by_pictures } = this.table;
    const compared = this.named("compare");
    const left = columns.map((one, k) => [one, this.uses[k]]).filter(([, use]) => use !== "compare").map(([one, use]) => this.#reason(/** @type {Column} */ (one), /** @type {Use} */ (use)));
    const more = this.#restCompared();
    const rest = this.#more(() => true) - more;
    return [
      h("span", {}, !this.compares ? say.nothingCompared : by_pictures ? say.byPictures : say.compared(several(compared, more))),
      (left.length > 0 || rest > 0) && h("span", {}, say.notCompared(several(left, rest))),
      h("span", {}, say.calledBy(this.named("id")[0] ?? null)),
    ];
  }

  /** @param {Column} one @param {Use} use */
  #reason(one, use) {
    const shown = TEXTS.has(one.kind) && one.kind !== "short" || NUMBERS.has(one.kind) ? say.onlyShown : say.columnKinds[one.kind];
    return `${one.name} (${this.#asks(one) ? say.asked : use === "show" ? shown : say.whys[/** @type {"id" | "label" | "leave"} */ (use)]})`;
  }

  /** @param {(one: More) => boolean} which */
  #more(which) {
    return this.table.more.filter(which).reduce((sum, one) => sum + one.count, 0);
  }

  /** @returns {ColumnKind} */
  #restKind() {
    return this.table.more.some((one) => one.use === "compared" && NUMBERS.has(one.kind)) ? "number" : "text";
  }

  #restCompared() {
    return this.rest.checked ? this.#more((one) => one.use === "compared") : 0;
  }

  #end() {
    const more = this.#more(() => true);
    return more ? `… ${say.moreColumns(more)}` : say.end;
  }
}

/** @type {(one: Column) => Use} */
function proposed(one) {
  if (one.offered) return "leave";
  return one.use === "compared" ? "compare" : one.use === "id" || one.use === "label" ? one.use : "show";
}

/** Lists the first names, and says how many others there are.
 * @type {(names: string[], more: number) => string}
 */
function several(names, more) {
  const others = Math.max(0, names.length - NAMED) + more;
  return names.length ? [names.slice(0, NAMED).join(", "), others && say.andMore(others)].filter(Boolean).join(" ") : say.moreColumns(others);
}

/** Puts a table into a box of its own that scrolls; a shade at its side says that there is more.
 * @param {HTMLElement} table
 * @param {string} name
 */
export function frame(table, name) {
  const inner = h("div", { class: "sample", tabindex: "0", role: "region", "aria-label": capital(name), onscroll: () => look() }, table);
  const outer = h("div", { class: "sample-frame" }, inner);
  const look = () => {
    outer.classList.toggle("more", inner.scrollLeft + inner.clientWidth < inner.scrollWidth - 2);
    outer.classList.toggle("before", inner.scrollLeft > 2);
  };
  new ResizeObserver(look).observe(inner);
  return outer;
}
