/** An item in a list: its image if it has one, its title, and the start of what it is compared by. */
import { data, h } from "../lib/dom.js";
import { words } from "../lib/words.js";

/** @param {{ image: string | null, title: string }} one */
export const itemLine = (one) => h("span", { class: "what" }, thumb(one.image), data(one.title, { class: "title" }));

/** @param {string | null} image */
export const thumb = (image) => image?.startsWith("/images/") && h("img", { class: "thumb", src: image, alt: "", loading: "lazy" });

/** Shows the name of an item, and below it the start of what it is compared by. The number of a row, or the name of a file under its picture, is only read aloud.
 * @param {Excerpt & { title: string, image: string | null }} one
 * @param {string[]} columns those that it has in common with others
 * @param {(text: string) => Child} mark shows a text with what it has in common, or what is looked for, in bold
 */
export const lines = ({ title, named, about, image }, columns, mark) => h("span", { class: "lines" },
  (named || !about.length) && h("bdi", { class: named || !image ? "title" : "aloud" }, mark(title)),
  about.length > 0 && h("span", { class: "about" }, about.map((part) => [partOf(part, columns, mark, about.length > 1), " "])));

/** @type {(part: Part, columns: string[], mark: (text: string) => Child, several: boolean) => HTMLElement} */
const partOf = ({ name, text }, columns, mark, several) => h("span", { class: "part" },
  name === null ? words.item.linked : several && [data(name, { class: "soft" }), " "], h(name !== null && columns.includes(name) ? "b" : "bdi", { dir: "auto" }, mark(text)));
