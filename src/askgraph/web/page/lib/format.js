/** Numbers, shares, times and answers as text. */
const number = new Intl.NumberFormat("en");

/** @type {(n: number) => string} */
export const count = (n) => number.format(n);

/** @type {(n: number, one: string, many?: string) => string} */
export const plural = (n, one, many = `${one}s`) => `${count(n)} ${n === 1 ? one : many}`;

/** Returns "93 %" for 0.934; a share that is not exactly 0 or 1 is never rounded to it.
 * @param {number} share
 */
export function percent(share) {
  if (share > 0 && share < 0.005) return "under 1 %";
  if (share < 1 && share > 0.995) return "over 99 %";
  return `${Math.round(100 * share)} %`;
}

/** @type {(text: string) => string} */
export const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

/** Gives a text a capital and a full stop.
 * @param {string} text
 */
export const sentence = (text) => (/[.!?]$/.test(text) ? capital(text) : `${capital(text)}.`);

/** @type {Record<AsideKind, string>} */
export const ASIDE = { later: "ask later", cannot: "cannot tell", invalid: "not a valid item" };

/** @type {Record<Status, string>} */
export const STATUS = { labeled: "labeled", predicted: "predicted", open: "no prediction yet", ...ASIDE };

/** Returns an answer in words.
 * @param {Given} given
 */
export const said = ({ kind, label }) => (kind === "label" ? label ?? "" : kind === "undo" ? "taken back" : ASIDE[kind]);

/** Returns how long ago a time was.
 * @param {string} iso
 */
export function ago(iso) {
  const then = new Date(iso);
  const minutes = Math.round((Date.now() - then.getTime()) / 60_000);
  if (minutes < 1) return "just now";
  if (minutes < 60) return `${minutes} min ago`;
  if (minutes < 12 * 60) return `${Math.round(minutes / 60)} h ago`;
  return then.toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" });
}
