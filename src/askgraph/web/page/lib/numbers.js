/** Numbers as text, and back, as the language of the page writes them. */
import { language } from "./language.js";

const number = new Intl.NumberFormat(language);
/** @type {object} */
const DIGITS = { maximumFractionDigits: 0, useGrouping: "min2", roundingPriority: "morePrecision" };
const HUGE = 1e15;
const TINY = 1e-6;
const WRITTEN = /^[-+]?(\d+([.,]\d*)?|[.,]\d+)$/;
const GROUPED = { en: /^[-+]?[1-9]\d{0,2},\d{3}$/, de: /^[-+]?[1-9]\d{0,2}\.\d{3}$/ }[language]; // thousands, or a part: nobody knows

/** @type {(n: number) => string} */
export const count = (n) => number.format(n);

/** @type {(n: number, one: string, many: string) => string} */
export const plural = (n, one, many) => `${count(n)} ${n === 1 ? one : many}`;

/** Writes a number that somebody gave, to six digits at least.
 * @param {number} value
 */
export const figure = (value) => written(value, { maximumSignificantDigits: 6 });

/** Writes a number that is computed, as precisely as the width of what it may be is known.
 * @param {number} value
 * @param {number} width
 */
export const rough = (value, width = Math.abs(value)) => written(value, { maximumSignificantDigits: 2, maximumFractionDigits: decimals(width) });

/** Writes a number in three digits at most, as 1.2M.
 * @param {number} value
 */
export const brief = (value) => new Intl.NumberFormat(language, { notation: "compact", maximumSignificantDigits: 3 }).format(value);

/** Reads a number; null for what is none, or what could be two of them: 1,234 is a thousand to some.
 * @param {string} text
 * @param {string} unit may follow it
 */
export function readFigure(text, unit = "") {
  const bare = (unit && text.trim().endsWith(unit) ? text.trim().slice(0, -unit.length) : text).trim().replace(/^−/, "-");
  if (!WRITTEN.test(bare) || GROUPED.test(bare)) return null;
  const value = Number(bare.replace(",", "."));
  return Number.isFinite(value) ? value : null;
}

/** @param {number} width */
const decimals = (width) => (width > 0 && Number.isFinite(width) ? Math.min(12, Math.max(0, 1 - Math.floor(Math.log10(width)))) : 0);

/** @type {(value: number, digits: Record<string, number>) => string} */
function written(value, digits) {
  const size = Math.abs(value);
  const notation = size >= HUGE || (size > 0 && size < TINY) ? "scientific" : "standard";
  return new Intl.NumberFormat(language, { ...DIGITS, ...digits, notation }).format(value);
}
