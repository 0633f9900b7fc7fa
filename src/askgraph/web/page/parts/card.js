/** The contents of an item: its image, its texts, its numbers. Data is shown as text; nothing in it is followed or run. */
import { clear, h } from "../lib/dom.js";
import { openDialog } from "./dialog.js";

const SHORT = 160; // characters: a first text that is not longer is set as a headline

/** @param {Item} item */
export function contents(item) {
  const texts = item.fields.filter((field) => field.kind === "text");
  const numbers = item.fields.filter((field) => field.kind !== "text");
  return [picture(item), texts.map((field, i) => passage(field, i, item.fields.length)), figures(numbers)];
}

/** @param {Item} item */
function picture(item) {
  if (!item.image?.startsWith("/images/")) return null;
  const image = h("img", { src: item.image, alt: `Image of item ${item.id}`, onerror: () => clear(frame, "The image cannot be shown.") });
  /** @type {HTMLButtonElement} */
  const frame = h("button", { class: "picture", title: "Enlarge", onclick: () => enlarge(item) }, image);
  return frame;
}

/** @param {Item} item */
const enlarge = (item) => openDialog(`Item ${item.id}`, { wide: true }, h("img", { class: "enlarged", src: item.image, alt: `Image of item ${item.id}` }));

/**
 * @param {ItemField} field
 * @param {number} place
 * @param {number} fields
 */
function passage({ name, value }, place, fields) {
  const lead = place === 0 && value.length <= SHORT;
  return h("section", { class: lead ? "passage lead" : "passage" },
    fields > 1 && !lead && h("h3", { dir: "auto" }, name),
    h("p", { dir: "auto" }, value));
}

/** @param {ItemField[]} fields */
const figures = (fields) => fields.length > 0 && h("dl", { class: "figures" },
  fields.map(({ name, value }) => h("div", {}, h("dt", { dir: "auto" }, name), h("dd", { dir: "auto" }, value))));
