/** The answer where an item has any of several classes: they are checked by their buttons or keys, and Enter sends them; 0 says none. */
import { clear, h } from "../lib/dom.js";
import { inWords, named } from "../lib/labels.js";
import { announce, say } from "../lib/notices.js";
import { save } from "../lib/session.js";
import { classes } from "../lib/store.js";
import { words } from "../lib/words.js";
import { classList } from "./class_list.js";

const NONE = "0"; // the key that says that an item has none of the classes, which no class has then

/** @type {MakeControl} */
export function classChecks({ pick }) {
  /** @type {Set<string>} */
  const checked = new Set();
  const list = classList({ press: toggle, add: check, role: "checkbox" });
  const none = h("button", { class: "button", onclick: sendNone }, words.labels.none, h("kbd", {}, NONE));
  const send = h("button", { class: "primary", onclick: sendChecked });

  const chosen = () => classes().map((one) => one.name).filter((name) => checked.has(name));

  function show() {
    for (const { name } of classes()) list.of(name)?.setAttribute("aria-checked", String(checked.has(name)));
    send.setAttribute("aria-disabled", String(checked.size === 0));
    clear(send, words.labels.sendChecked(checked.size), h("kbd", {}, "⏎"));
  }

  /** @param {string} name */
  function toggle(name) {
    if (!checked.delete(name)) checked.add(name);
    show();
    announce(checked.size ? words.labels.checked(inWords(chosen())) : words.labels.nothingChecked);
  }

  /** Checks a class that was named by typing, and adds it to the classes if it is a new one.
   * @param {string} name
   */
  async function check(name) {
    const known = classes().some((one) => one.name === name);
    if (!known && !await save("/api/classes", { kind: "add", name, value: null }, words.labels.added(name))) return;
    checked.add(name);
    show();
  }

  function sendChecked() {
    if (checked.size) pick(chosen());
    else remind();
  }

  function sendNone() {
    if (checked.size) say(words.labels.uncheckFirst);
    else pick([]);
  }

  function begin() {
    checked.clear();
    show();
    if (!classes().length) list.openNew();
  }

  const remind = () => say(words.labels.chooseSome);

  return {
    element: h("div", { class: "pick" }, list.element, h("div", { class: "ways sending-ways" }, none, send)),
    draw() {
      if (list.draw()) show();
    },
    begin,
    key(key) {
      const wanted = classes().find((one) => one.key === key);
      if (wanted) toggle(wanted.name);
      else if (key === NONE) sendNone();
      else if (key === "Enter" && document.activeElement !== none && (checked.size || list.element.contains(document.activeElement))) sendChecked();
      else if (key === "Escape" && checked.size) begin();
      else if (key === "n") list.openNew();
      else return key === "/" && list.openFilter();
      return true;
    },
    of: (label) => (named(label).length ? named(label).map((name) => list.of(name)) : [none]),
    openNew: list.openNew,
    remind,
  };
}
