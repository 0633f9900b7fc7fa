/** The expected error over the labels, with its band and the target. */
import { h, svg } from "../lib/dom.js";
import { measure } from "./measure.js";
import { words } from "../lib/words.js";

const WIDEST = 720; // pixels, as all lengths here
export const HEIGHT = 260;
const BEGIN = 1 / 8; // share of the labels at which the curve begins: before, it falls from 100 %, and the rest would be flat
export const EDGE = { left: 44, right: 14, top: 12, bottom: 34 };
const LINES = 5; // most grid lines above zero
const NICE = [1, 2, 5, 10]; // distances between grid lines to choose from, times a power of ten

/** Draws the curve as wide as the window is now, so that its text keeps its size on a phone.
 * @param {CurvePoint[]} all
 * @param {number | null} target
 */
export function curve(all, target) {
  const { error, axis, least, most } = measure();
  const points = all.filter((one) => one.labels >= all[all.length - 1].labels * BEGIN);
  const first = points[0].labels;
  const end = points[points.length - 1];
  const last = end.labels;
  const top = Math.min(most, Math.max(target ?? 0, end.high, ...points.map((one) => one.value)) * 1.1) || 0.01;
  const { width, x, y } = axes(first, last, top);
  const way = (/** @type {"value" | "low" | "high"} */ key, list = points) => list.map((one) => `${x(one.labels).toFixed(1)} ${y(Math.min(one[key], top)).toFixed(1)}`).join("L");
  return h("figure", { class: "curve" },
    svg("svg", { viewBox: `0 0 ${width} ${HEIGHT}`, role: "img", "aria-label": summary(points, error) },
      grid(top, least, width, y, axis),
      svg("path", { class: "band", d: `M${way("high")}L${way("low", [...points].reverse())}Z` }),
      target !== null && target < top && svg("line", { class: "target", x1: EDGE.left, x2: width - EDGE.right, y1: y(target), y2: y(target) }),
      target !== null && target < top && svg("text", { class: "aim", x: EDGE.left + 6, y: y(target) - 6 }, words.progress.target(error(target))),
      svg("path", { class: "line", d: `M${way("value")}` }),
      svg("circle", { class: "now", cx: x(end.labels), cy: y(end.value), r: 5 }),
      [first, last].map((labels, i) => svg("text", { x: x(labels), y: HEIGHT - 10, "text-anchor": i ? "end" : "start" }, words.progress.labels(labels)))));
}

/** Returns how wide a curve is, and where its values lie.
 * @type {(first: number, last: number, top: number) => { width: number, x: (labels: number) => number, y: (value: number) => number }}
 */
export function axes(first, last, top) {
  const width = Math.min(WIDEST, innerWidth - 32);
  return {
    width,
    x: (labels) => EDGE.left + ((labels - first) / Math.max(1, last - first)) * (width - EDGE.left - EDGE.right),
    y: (value) => HEIGHT - EDGE.bottom - (value / top) * (HEIGHT - EDGE.top - EDGE.bottom),
  };
}

/** Draws lines to read values by.
 * @type {(top: number, least: number, width: number, y: (value: number) => number, axis: (value: number) => string) => Child}
 */
export const grid = (top, least, width, y, axis) => levels(top, least).map((value) => [svg("line", { class: "level", x1: EDGE.left, x2: width - EDGE.right, y1: y(value), y2: y(value) }),
  svg("text", { x: EDGE.left - 8, y: y(value) + 4, "text-anchor": "end" }, axis(value))]);

/** @type {(top: number, least: number) => number[]} */
function levels(top, least) {
  const power = 10 ** Math.floor(Math.log10(top / LINES));
  const step = Math.max(least, power * (NICE.find((one) => top / (power * one) <= LINES) ?? 1));
  return Array.from({ length: Math.floor(top / step + 1e-9) + 1 }, (_, i) => i * step);
}

/** @type {(points: CurvePoint[], error: (value: number) => string) => string} */
function summary(points, error) {
  const [a, b] = [points[0], points[points.length - 1]];
  return words.progress.drawn(error(a.value), words.progress.labels(a.labels), error(b.value), words.progress.labels(b.labels), error(b.low), error(b.high));
}
