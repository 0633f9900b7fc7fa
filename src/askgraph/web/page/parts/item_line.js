/** An item in a line of a list: its image if it has one, and its title. */
import { data, h } from "../lib/dom.js";

/** @param {{ image: string | null, title: string }} one */
export const itemLine = (one) => h("span", { class: "what" }, thumb(one.image), data(one.title, { class: "title" }));

/** @param {string | null} image */
export const thumb = (image) => image?.startsWith("/images/") && h("img", { class: "thumb", src: image, alt: "", loading: "lazy" });
