/** How many of what is sought were found after how many answers, beside how many random order would have found. */
import { h, svg } from "../lib/dom.js";
import { count } from "../lib/numbers.js";
import { words } from "../lib/words.js";
import { axes, EDGE, grid, HEIGHT } from "./curve.js";

/** Draws the curve; random order only where it can be said how many there are.
 * @param {Findings} find
 * @param {number} items
 */
export function recallCurve({ recall, known, found, value }, items) {
  const [last, most] = recall[recall.length - 1];
  const chance = known ? ((found + value) / Math.max(1, items)) * last : null;
  const { width, x, y } = axes(0, last, most * 1.1);
  const end = chance === null ? null : { x: x(last), y: y(chance) };
  return h("figure", { class: "curve recall" },
    svg("svg", { viewBox: `0 0 ${width} ${HEIGHT}`, role: "img", "aria-label": words.find.drawn(most, last) },
      grid(most * 1.1, 1, width, y, count),
      end && [svg("line", { class: "chance", x1: x(0), y1: y(0), x2: end.x, y2: end.y }), svg("text", { class: "chance-name", x: end.x, y: end.y - 8, "text-anchor": "end" }, words.find.byChance)],
      svg("path", { class: "line", d: `M${recall.map(([n, hits]) => `${x(n).toFixed(1)} ${y(hits).toFixed(1)}`).join("L")}` }),
      svg("circle", { class: "now", cx: x(last), cy: y(most), r: 5 }),
      [0, last].map((n, place) => svg("text", { x: place ? width - EDGE.right : EDGE.left, y: HEIGHT - 10, "text-anchor": place ? "end" : "start" }, words.find.answered(n)))),
    chance === null && h("figcaption", { class: "soft" }, words.find.noChance));
}
