/** The contents of an item: its name, its image, its texts, its numbers. Data is shown as text; nothing in it is followed or run. */
import { imageOf } from "../lib/ahead.js";
import { clear, h } from "../lib/dom.js";
import { openDialog } from "./dialog.js";
import { words } from "../lib/words.js";

const LONG = 700; // characters: a longer text without line breaks is broken into paragraphs
const PARAGRAPH = 420; // characters after which such a paragraph ends with the sentence
const BRIEF = 40; // characters: a shorter field beside others stands in one line with its name
const TINY = 96; // pixels: a picture that is not wider keeps its pixels when it is enlarged

/** Returns the name of an item: what the column says that names items, else its id.
 * @param {Item} item
 */
export const nameOf = (item) => item.name ?? (/^\d+$/.test(item.id) ? words.item.title(item.id) : item.id);

/** @param {Item} item */
export function contents(item) {
  const brief = item.fields.filter((field) => isBrief(field, item));
  const texts = item.fields.filter((field) => field.kind === "text" && !brief.includes(field));
  const numbers = item.fields.filter((field) => field.kind !== "text");
  return [picture(item), facts(texts.length ? brief : [...brief, ...numbers]), texts.map((field) => passage(field, item.fields.length > 1)), texts.length > 0 && facts(numbers)];
}

/** Shows an item on a card: its name on top, or small under its picture or where it is only a number, and its contents.
 * @param {Item} item
 */
export function whole(item) {
  if (item.name || !pictured(item)) return [heading(item), contents(item)];
  const [image, ...rest] = contents(item);
  return [image, h("h2", { class: "small", dir: "auto" }, nameOf(item)), rest];
}

/** @param {Item} item */
const heading = (item) => h("header", { class: "naming" }, h("h2", { class: item.name || !item.numbered ? "" : "small", dir: "auto" }, nameOf(item)),
  item.name && !item.numbered && h("p", { class: "soft", dir: "auto" }, item.id));

/** @type {(field: ItemField, item: Item) => boolean} */
const isBrief = ({ kind, value }, { fields }) => kind === "text" && fields.length > 1 && value.length <= BRIEF && !value.includes("\n");

/** @param {Item} item */
const pictured = (item) => Boolean(item.image?.startsWith("/images/"));

/** Shows below a card that scrolls that there is more of it; `fade` looks again, `stop` ends this.
 * @type {(frame: HTMLElement, card: HTMLElement) => { fade: () => void, stop: () => void }}
 */
export function fading(frame, card) {
  const fade = () => { frame.classList.toggle("more", card.scrollHeight - card.clientHeight - card.scrollTop > 2); };
  const observer = new ResizeObserver(fade);
  observer.observe(card);
  card.addEventListener("scroll", fade, { passive: true });
  card.addEventListener("load", fade, { capture: true });
  return { fade, stop: () => observer.disconnect() };
}

/** @param {Item} item */
function picture(item) {
  if (!item.image || !pictured(item)) return null;
  const image = imageOf(item.image);
  image.alt = words.picture.of(item.id);
  /** @type {HTMLButtonElement} */
  const frame = h("button", { class: "picture", onclick: () => enlarge(item) }, h("span", { class: "sight" }, image), h("span", { class: "enlarge" }, words.picture.enlarge, h("kbd", { "aria-hidden": "true" }, "+")));
  const arrived = () => {
    if (!image.naturalWidth) return clear(frame, words.picture.broken);
    image.classList.toggle("tiny", image.naturalWidth <= TINY);
    frame.style.setProperty("--wide", String(image.naturalWidth));
    frame.style.setProperty("--high", String(image.naturalHeight));
  };
  if (image.complete) arrived(); // fetched ahead
  for (const end of ["load", "error"]) image.addEventListener(end, arrived);
  return frame;
}

/** Opens the image of an item in a window, if it has one.
 * @param {Item} item
 */
export function enlarge(item) {
  if (!pictured(item)) return;
  const { body } = openDialog(nameOf(item), { wide: true }, h("img", { class: "enlarged", src: item.image, alt: words.picture.of(item.id) }));
  body.tabIndex = 0;
}

/**
 * @param {ItemField} field
 * @param {boolean} titled
 */
function passage({ name, value }, titled) {
  const all = paragraphs(value);
  const short = all.length === 1 && value.length <= PARAGRAPH;
  return h("section", { class: short ? "passage short" : "passage" }, titled && h("h3", { dir: "auto" }, name), all.map((text) => h("p", { dir: "auto" }, text)));
}

/** Returns the paragraphs of a text: between its blank lines, or of a few sentences each where it is long and has none.
 * @param {string} text
 */
function paragraphs(text) {
  const given = text.trim().split(/\n\s*\n+/);
  return given.flatMap((one) => (one.length > LONG && !one.includes("\n") ? bySentences(one) : [one]));
}

/** @param {string} text */
function bySentences(text) {
  const found = [""];
  for (const one of text.split(/(?<=[.!?。！？]["'”’)\]]?)\s+(?=[\p{Lu}\p{Lo}"'“„(\d])/u)) {
    const last = found[found.length - 1];
    if (last.length > PARAGRAPH) found.push(one);
    else found[found.length - 1] = last ? `${last} ${one}` : one;
  }
  return found;
}

/** Lists short fields, each in a line with its name.
 * @param {ItemField[]} fields
 */
const facts = (fields) => fields.length > 0 && h("dl", { class: "facts" },
  fields.map(({ name, value }) => h("div", {}, h("dt", { dir: "auto" }, name), h("dd", { dir: "auto" }, value))));
