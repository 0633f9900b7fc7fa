/** An item in a line of a list: its picture if it has one, and what stands for it. */
import { data, h } from "./dom.js";

export const glance = (one) => h("span", { class: "what" }, thumb(one.image), data(one.title, { class: "title" }));

export const thumb = (image) => image?.startsWith("/images/") && h("img", { class: "thumb", src: image, alt: "", loading: "lazy" });
