/** The guidelines, and the classes with their names, keys and descriptions: to read and to change. */
import { get } from "../lib/api.js";
import { clear, data, h } from "../lib/dom.js";
import { ago } from "../lib/format.js";
import { chooseClass } from "../parts/choose_class.js";
import { openDialog } from "../parts/dialog.js";
import { forLeads, leadsOnly } from "../parts/leads.js";
import { markdown } from "../parts/markdown.js";
import { settleClass } from "../parts/new_class.js";
import { noteSeen } from "../parts/welcome_guidelines.js";
import { sayError } from "../lib/notices.js";
import { save } from "../lib/session.js";
import { soughtWords } from "../parts/search.js";
import { swatch } from "../parts/palette.js";
import { answers, classes, store, watch } from "../lib/store.js";
import { words } from "../lib/words.js";

const LONGEST = 200; // characters of a name; the server refuses more
const SENTENCE = 500; // characters of a description

/** @type {MakeView} */
export function guidelinesView(root) {
  const text = h("div", { class: "prose" });
  const table = h("ul", { class: "rows class-list" });
  const changes = h("ul", { class: "rows past-changes" });
  const changesTitle = h("h2", {}, words.guidelines.changes);
  const fresh = h("input", { "aria-label": words.classes.newName, placeholder: words.classes.newName, maxlength: LONGEST, autocomplete: "off" });
  const heading = h("h2");
  const adding = h("button", { class: "button" });
  const meaning = h("p", { class: "soft" });
  const list = h("section", { class: "class-part", hidden: true }, heading, meaning,
    h("p", { class: "class-heads", "aria-hidden": "true" }, h("span", {}), [words.guidelines.name, words.guidelines.description, words.guidelines.given, words.guidelines.key].map((one) => h("span", {}, one))), table,
    forLeads(h("form", { class: "ways", onsubmit: add }, fresh, adding)));
  clear(root, h("section", { class: "page guidelines", "aria-labelledby": "title" },
    h("header", { class: "heading" }, h("h1", { id: "title" }, words.guidelines.title)), text, list, changesTitle, changes));
  /** @type {string | undefined} */
  let drawn;

  async function load() {
    const [rules, known] = await Promise.all([get("/api/guidelines"), get("/api/classes")]).catch((error) => [sayError(error), null]);
    if (!rules || !known) return;
    noteSeen(rules.version);
    drawList();
    if (!text.querySelector("textarea")) read(rules); // what somebody is writing stays
    const names = known.classes.map((/** @type {ClassInfo} */ one) => one.name);
    clear(table, known.classes.map((/** @type {ClassInfo} */ one, /** @type {number} */ place) => row(one, place, names, known.keys)));
    clear(changes, known.changes.map(past));
    changesTitle.hidden = !known.changes.length;
  }

  /** Says what the classes are here; numbers have none. */
  function drawList() {
    const ranked = answers().kind === "ordered";
    list.hidden = answers().kind === "numbers";
    heading.textContent = ranked ? words.guidelines.steps : words.classes.group;
    adding.textContent = ranked ? words.guidelines.addStep : words.guidelines.add;
    fresh.placeholder = fresh.ariaLabel = ranked ? words.guidelines.stepName : words.classes.newName;
    meaning.textContent = ranked ? words.guidelines.stepsMean : "";
    meaning.hidden = !ranked;
  }

  /** @param {Rules} rules */
  function read(rules) {
    clear(text, rules.text ? markdown(rules.text) : h("p", { class: "soft" }, words.guidelines.none[answers().kind]),
      h("p", { class: "ways" }, rules.version > 0 && h("span", { class: "soft" }, words.guidelines.version(rules.version, rules.who ?? "", ago(rules.at ?? ""))),
        forLeads(h("button", { class: "button", onclick: () => edit(rules) }, words.guidelines.edit))), leadsOnly());
  }

  /** Lets a person write; `mine` is what was written before somebody else saved these rules.
   * @param {Rules} rules
   * @param {string | null} mine
   */
  function edit(rules, mine = null) {
    const field = h("textarea", { rows: 14, "aria-label": words.guidelines.title, maxlength: 100_000 }, mine ?? rules.text);
    const theirs = mine !== null && h("section", { class: "theirs" }, h("p", { class: "clash", role: "alert" }, words.guidelines.clash(rules.who ?? "", rules.version)),
      h("textarea", { rows: 8, readonly: true, "aria-label": words.guidelines.theirs(rules.who ?? "") }, rules.text));
    clear(text, theirs, h("p", { class: "soft" }, words.guidelines.markdown), field, h("p", { class: "ways" },
      h("button", { class: "primary", onclick: () => write(field.value, rules.version) }, words.guidelines.save),
      h("button", { class: "plain", onclick: () => read(rules) }, mine === null ? words.guidelines.cancel : words.guidelines.takeTheirs)));
    field.focus();
  }

  /** Saves a text in place of the version that was read. If there is another one by now, both are shown.
   * @param {string} mine
   * @param {number} version
   */
  async function write(mine, version) {
    const clash = async (/** @type {Error & { status?: number }} */ refusal) => {
      const newest = refusal.status === 409 ? await get("/api/guidelines").catch(sayError) : sayError(refusal);
      if (newest) edit(newest, mine);
    };
    noteSeen(version + 1); // the one saved now or, if somebody was quicker, the one shown beside it
    if (!await save("/api/guidelines", { text: mine, read: version }, words.guidelines.saved, { refused: clash })) return;
    clear(text);
    load();
  }

  /** Changes a class and loads everything again.
   * @type {(kind: string, name: string | null, value: string | null) => Promise<void>}
   */
  async function change(kind, name, value) {
    await save("/api/classes", { kind, name, value }, words.guidelines.changedClass);
    load();
  }

  /** @param {SubmitEvent} event */
  function add(event) {
    event.preventDefault();
    const wanted = fresh.value.trim();
    if (!wanted) return;
    settleClass(wanted, (chosen) => {
      fresh.value = "";
      if (chosen === wanted) change("add", wanted, null);
    });
  }

  /** @type {(one: ClassInfo, place: number, names: string[], keys: string) => HTMLElement} */
  function row(one, place, names, keys) {
    const moved = (/** @type {number} */ to) => {
      const order = names.filter((name) => name !== one.name);
      order.splice(to, 0, one.name);
      change("order", null, JSON.stringify(order));
    };
    /** @type {(what: string, value: string, longest: number, kind: string) => HTMLElement} */
    const field = (what, value, longest, kind) => h("input", { value, "aria-label": `${what}: ${one.name}`, placeholder: what, maxlength: longest, autocomplete: "off", class: kind,
      onchange: (/** @type {{ target: HTMLInputElement }} */ { target }) => change(kind, one.name, target.value) });
    const merge = () => chooseClass(words.guidelines.mergeTitle(one.name), words.guidelines.mergeMeans(one.name, one.count), (into) => change("merge", one.name, into), one.name);
    return forLeads(h("li", {}, swatch(one.name),
      field(words.guidelines.name, one.name, LONGEST, "rename"),
      field(words.guidelines.description, one.description, SENTENCE, "describe"),
      h("span", { class: "soft" }, words.guidelines.labels(one.count)),
      h("button", { class: "plain key", "aria-label": words.guidelines.keyOf(one.name, one.key), onclick: () => chooseKey(one, keys) }, h("kbd", {}, one.key || "–")),
      names.length > 1 ? h("button", { class: "plain rare", "aria-label": words.guidelines.mergeTitle(one.name), onclick: merge }, words.guidelines.merge) : h("span", {}),
      h("button", { class: "plain", "aria-label": words.reasons.of(one.name), onclick: () => writeReasons(one) }, words.reasons.button(one.reasons.length)),
      h("span", { class: answers().kind === "ordered" ? "move" : "move rare" },
        h("button", { class: "plain", disabled: place === 0, "aria-label": words.guidelines.up(one.name), onclick: () => moved(place - 1) }, "↑"),
        h("button", { class: "plain", disabled: place === names.length - 1, "aria-label": words.guidelines.down(one.name), onclick: () => moved(place + 1) }, "↓"))));
  }

  /** Asks which reasons an answer of a class can have, one per line.
   * @param {ClassInfo} one
   */
  function writeReasons({ name, reasons }) {
    const field = h("textarea", { rows: 6, "aria-label": words.reasons.of(name) }, reasons.join("\n"));
    const { dialog } = openDialog(words.reasons.of(name), {}, h("p", { class: "soft" }, words.reasons.means),
      h("form", { class: "stacked", onsubmit: send }, field, h("button", { class: "primary" }, words.reasons.save)));
    field.focus();

    /** @param {SubmitEvent} event */
    function send(event) {
      event.preventDefault();
      dialog.close();
      change("reasons", name, JSON.stringify(field.value.split("\n").map((line) => line.trim()).filter(Boolean)));
    }
  }

  /** Asks for the key of a class: one is pressed, or clicked.
   * @param {ClassInfo} one
   * @param {string} keys
   */
  function chooseKey(one, keys) {
    const owner = (/** @type {string} */ key) => classes().find((other) => other.key === key)?.name ?? null;
    const { dialog, body } = openDialog(words.guidelines.keyTitle(one.name), { onkey: byKey }, h("p", { class: "soft" }, words.guidelines.keyMeans),
      h("div", { class: "key-list" }, [...keys].map((key) => h("button", { class: "button", "aria-pressed": String(key === one.key), "aria-label": [key, owner(key)].filter(Boolean).join(": "), onclick: () => choose(key) },
        h("kbd", {}, key), owner(key) && swatch(owner(key))))));
    body.tabIndex = -1;
    body.focus();

    /** @param {string} key */
    function byKey(key) {
      if (keys.includes(key)) choose(key);
      return keys.includes(key);
    }

    /** @param {string} key */
    function choose(key) {
      dialog.close();
      if (key !== one.key) change("key", one.name, key);
    }
  }

  /** @param {ClassChange} one */
  const past = (one) => h("li", { class: one.undone ? "past" : "" }, data(pastWords(one)), data(one.who, { class: "who" }), h("time", { class: "soft", datetime: one.at }, ago(one.at)),
    one.undone ? h("span", { class: "soft" }, words.answers.takenBack) : forLeads(h("button", { class: "plain", onclick: () => undo(one.seq) }, words.question.undo)));

  /** @param {ClassChange} one */
  const pastWords = ({ kind, name, value, like }) => (kind === "find" ? words.guidelines.past.find(name !== null || value ? soughtWords({ class: name, value }) : "", like) : words.guidelines.past[kind](name ?? "", value ?? ""));

  /** @param {number} seq */
  async function undo(seq) {
    await save("/api/classes/undo", { seq }, words.saved.takenBack);
    load();
  }

  const stop = watch(() => {
    const now = `${store.state?.changes}`;
    const typing = root.contains(document.activeElement) && document.activeElement?.matches("input, textarea, select");
    if (now === drawn || typing) return;
    drawn = now;
    load();
  });
  drawn = `${store.state?.changes}`;
  load();
  return { leave: stop };
}
