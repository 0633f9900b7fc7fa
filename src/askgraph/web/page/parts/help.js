/** How the page works, the list of keys, and the language of the page. */
import { openDialog } from "./dialog.js";
import { h } from "../lib/dom.js";
import { swatch } from "./palette.js";
import { answers, classes } from "../lib/store.js";
import { language, speak } from "../lib/language.js";
import { NAMES, words } from "../lib/words.js";

const { help } = words;
/** @type {[string, Child][]} */
const ANSWERS = [["s", help.later], ["c", help.cannot], ["x", help.invalid], ["+", help.enlarge], [";", help.comment], [":", help.mark], ["- 1", help.reason], [help.back, help.undo]];
/** Keys of each kind of answers.
 * @type {Record<Answers["kind"], [string, Child][]>}
 */
const OWN = {
  classes: [["n", help.newClass], [help.shiftKey, help.or], ["Enter", help.suggested]],
  ordered: [[help.shiftKey, help.or], ["Enter", help.suggested]],
  several: [["n", help.newClass], ["0", help.none], ["Enter", help.sendChecked], ["Esc", help.uncheck]],
  numbers: [["0 – 9", help.number], ["Enter", help.sendNumber], ["Esc", help.clearNumber]],
};
/** @type {[string, Child][]} */
const VIEWS = [["w", help.why], ["g", help.groups], ["i", help.guidelines], ["r", help.review], ["t", help.table], ["m", help.map], ["p", help.progress], ["h", help.history], ["Esc", help.question], ["?", help.help]];
/** @type {[string, Child][]} */
const REST = [["/", help.search], [help.scrollKeys, help.scroll], ["← ↑ → ↓", help.move], ["+ − 0", help.zoom], ["s", help.select], [help.spaceKey, help.look], ["o", help.odd], ["Enter", help.together]];

export function openHelp() {
  /** @type {[string, Child][]} */
  const own = classes().filter((one) => one.key).map((one) => [one.key, h("span", { class: "tag" }, swatch(one.name), h("bdi", {}, one.name))]);
  openDialog(words.people.help, {}, h("section", {}, h("h3", {}, words.welcome.title), h("div", { class: "prose" }, h("ol", {}, [words.welcome.first[answers().kind], ...words.welcome.lines].map((line) => h("li", {}, line))))), languages(),
    h("div", { class: "keys" }, table(answers().kind === "ordered" ? words.guidelines.steps : help.classes, own), table(help.answers, [...OWN[answers().kind], ...ANSWERS]), table(help.views, VIEWS), table(help.moving, REST)));
}

/** @type {(title: string, rows: [string, Child][]) => Child} */
const table = (title, rows) => rows.length > 0 && h("section", {}, h("h3", {}, title),
  h("dl", {}, rows.map(([key, name]) => h("div", {}, h("dt", {}, h("kbd", {}, key)), h("dd", {}, name)))));

const languages = () => h("p", { class: "language", role: "group", "aria-label": help.language }, help.language,
  Object.entries(NAMES).map(([code, name]) => h("button", { class: "plain", lang: code, "aria-pressed": String(code === language), onclick: () => speak(code) }, name)));
