/** The guidelines, and the classes with their names, keys and descriptions: to read and to change. */
import { get } from "../lib/api.js";
import { clear, data, h } from "../lib/dom.js";
import { ago } from "../lib/format.js";
import { markdown } from "../parts/markdown.js";
import { noteSeen } from "../parts/welcome_guidelines.js";
import { sayError } from "../lib/notices.js";
import { save } from "../lib/session.js";
import { swatch } from "../parts/palette.js";
import { store, watch } from "../lib/store.js";
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
  clear(root, h("section", { class: "page guidelines", "aria-labelledby": "title" },
    h("header", { class: "heading" }, h("h1", { id: "title" }, words.guidelines.title)), text,
    h("h2", {}, words.classes.group),
    h("p", { class: "class-heads", "aria-hidden": "true" }, h("span", {}), [words.guidelines.name, words.guidelines.description, words.guidelines.given, words.guidelines.key].map((one) => h("span", {}, one))), table,
    h("form", { class: "ways", onsubmit: add }, fresh, h("button", { class: "button" }, words.guidelines.add)),
    changesTitle, changes));
  /** @type {string | undefined} */
  let drawn;

  async function load() {
    const [rules, known] = await Promise.all([get("/api/guidelines"), get("/api/classes")]).catch((error) => [sayError(error), null]);
    if (!rules || !known) return;
    noteSeen(rules.version);
    read(rules);
    const names = known.classes.map((/** @type {ClassInfo} */ one) => one.name);
    clear(table, known.classes.map((/** @type {ClassInfo} */ one, /** @type {number} */ place) => row(one, place, names, known.keys)));
    clear(changes, known.changes.map(past));
    changesTitle.hidden = !known.changes.length;
  }

  /** @param {Rules} rules */
  function read(rules) {
    clear(text, rules.text ? markdown(rules.text) : h("p", { class: "soft" }, words.guidelines.none),
      h("p", { class: "ways" }, rules.version > 0 && h("span", { class: "soft" }, words.guidelines.version(rules.version, rules.who ?? "", ago(rules.at ?? ""))),
        h("button", { class: "button", onclick: () => edit(rules) }, words.guidelines.edit)));
  }

  /** @param {Rules} rules */
  function edit(rules) {
    const field = h("textarea", { rows: 14, "aria-label": words.guidelines.title, maxlength: 100_000 }, rules.text);
    const write = async () => { if (await save("/api/guidelines", { text: field.value }, words.guidelines.saved)) load(); };
    clear(text, h("p", { class: "soft" }, words.guidelines.markdown), field, h("p", { class: "ways" },
      h("button", { class: "primary", onclick: write }, words.guidelines.save), h("button", { class: "plain", onclick: () => read(rules) }, words.guidelines.cancel)));
    field.focus();
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
    if (fresh.value.trim()) change("add", fresh.value.trim(), null);
    fresh.value = "";
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
    /** @type {(what: string, kind: string, chosen: string, options: string[]) => HTMLElement} */
    const choice = (what, kind, chosen, options) => {
      /** @type {HTMLSelectElement} */
      const made = h("select", { "aria-label": `${what}: ${one.name}`, onchange: () => change(kind, one.name, made.value) },
        kind === "merge" && h("option", { value: "" }, what), options.map((name) => h("option", { value: name }, name)));
      made.value = chosen;
      return made;
    };
    return h("li", {}, swatch(one.name),
      field(words.guidelines.name, one.name, LONGEST, "rename"),
      field(words.guidelines.description, one.description, SENTENCE, "describe"),
      h("span", { class: "soft" }, words.guidelines.labels(one.count)),
      choice(words.guidelines.key, "key", one.key, [...new Set([one.key, ...keys])]),
      names.length > 1 ? choice(words.guidelines.merge, "merge", "", names.filter((name) => name !== one.name)) : h("span", {}),
      h("span", { class: "move" },
        h("button", { class: "plain", disabled: place === 0, "aria-label": words.guidelines.up(one.name), onclick: () => moved(place - 1) }, "↑"),
        h("button", { class: "plain", disabled: place === names.length - 1, "aria-label": words.guidelines.down(one.name), onclick: () => moved(place + 1) }, "↓")));
  }

  /** @param {ClassChange} one */
  const past = (one) => h("li", { class: one.undone ? "past" : "" }, data(words.guidelines.past[one.kind](one.name ?? "", one.value ?? "")), data(one.who, { class: "who" }), h("time", { class: "soft", datetime: one.at }, ago(one.at)),
    one.undone ? h("span", { class: "soft" }, words.answers.takenBack) : h("button", { class: "plain", onclick: () => undo(one.seq) }, words.question.undo));

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
