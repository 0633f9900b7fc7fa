/** The projects of the folder, to go on with one of them. */
import { get } from "../lib/api.js";
import { clear, data, h } from "../lib/dom.js";
import { ago, translated } from "../lib/format.js";
import { words } from "../lib/words.js";

const say = words.start;
const FIRST = 6; // projects that are shown before somebody asks for all

/** @typedef {{ name: string, items: number, labels: number, used: string, wrong: string | null, is_open: boolean }} Project */

/** Returns the name of a project without the end that all have.
 * @param {string} name
 */
export const bare = (name) => name.replace(/\.ask$/i, "");

/** Returns a list that fills itself, and stays away where there is no project.
 * @param {(name: string) => void} goOn
 */
export function projects(goOn) {
  const section = h("section", { class: "projects", hidden: true });
  get("/api/start/projects").then((/** @type {Project[]} */ found) => {
    section.hidden = !found.length;
    show(found, FIRST);
  }, () => undefined); // without it files can be dropped all the same
  return section;

  /** @param {Project[]} found @param {number} most */
  function show(found, most) {
    clear(section, h("h2", {}, say.goOnWith), h("ul", {}, found.slice(0, most).map((one) => row(one, goOn))),
      found.length > most && h("button", { class: "plain strong", onclick: () => show(found, found.length) }, say.allProjects(found.length)));
  }
}

/** @type {(one: Project, goOn: (name: string) => void) => HTMLElement} */
const row = (one, goOn) => h("li", {},
  data(bare(one.name), { class: "name" }),
  one.wrong ? h("span", { class: "why-not" }, translated(one.wrong)) : h("span", { class: "soft" }, say.labeledOf(one.labels, one.items)),
  h("time", { class: "soft", datetime: one.used }, one.is_open ? say.isOpen : ago(one.used)),
  !one.wrong && h("button", { class: "button", "aria-label": say.goOnNamed(bare(one.name)), onclick: () => goOn(one.name) }, say.goOn));
