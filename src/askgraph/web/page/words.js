const number = new Intl.NumberFormat("en");

export const count = (n) => number.format(n);

export const plural = (n, one, many = `${one}s`) => `${count(n)} ${n === 1 ? one : many}`;

/** 0.934 is "93 %"; what is close to nought or one is not rounded onto it. */
export function percent(share) {
  if (share > 0 && share < 0.005) return "under 1 %";
  if (share < 1 && share > 0.995) return "over 99 %";
  return `${Math.round(100 * share)} %`;
}

export const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

export const sentence = (text) => (/[.!?]$/.test(text) ? capital(text) : `${capital(text)}.`);

export const ASIDE = { later: "ask later", cannot: "cannot tell", invalid: "not a valid item" };

export const STATUS = { labeled: "labeled", predicted: "predicted", open: "no prediction yet", ...ASIDE };

/** What an answer says, in words. */
export const said = ({ kind, label }) => (kind === "label" ? label : kind === "undo" ? "taken back" : ASIDE[kind]);

export function ago(iso) {
  const then = new Date(iso);
  const minutes = Math.round((Date.now() - then) / 60_000);
  if (minutes < 1) return "just now";
  if (minutes < 60) return `${minutes} min ago`;
  if (minutes < 12 * 60) return `${Math.round(minutes / 60)} h ago`;
  return then.toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" });
}
