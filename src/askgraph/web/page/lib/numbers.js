/** Numbers as text, as the language of the page writes them. */
import { language } from "./language.js";

const number = new Intl.NumberFormat(language);

/** @type {(n: number) => string} */
export const count = (n) => number.format(n);

/** @type {(n: number, one: string, many: string) => string} */
export const plural = (n, one, many) => `${count(n)} ${n === 1 ? one : many}`;
