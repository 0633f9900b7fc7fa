/** The picture of a neighborhood: a shape and a color for each class, full where labeled, hollow where predicted. */
import { clear, h, svg } from "../lib/dom.js";
import { thumb } from "./item_line.js";
import { openItem } from "./item.js";
import { inWords, named, predictedWords } from "../lib/labels.js";
import { outline, rising, tint, tinted } from "./palette.js";
import { percent } from "../lib/format.js";
import { words } from "../lib/words.js";

const WIDTH = 360; // pixels of the picture before it is scaled, as all lengths here
const HEIGHT = 250;
const MARGIN = 16;
const RADIUS = 5.5;

/** @param {Point} node */
const across = ({ x }) => MARGIN + x * (WIDTH - 2 * MARGIN);
/** @param {Point} node */
const down = ({ y }) => MARGIN + y * (HEIGHT - 2 * MARGIN);

/** Moves the nodes so that they fill the picture.
 * @param {MapNode[]} nodes
 */
function spread(nodes) {
  const fitted = (/** @type {"x" | "y"} */ axis) => {
    const all = nodes.map((node) => node[axis]);
    const least = Math.min(...all);
    const reach = Math.max(...all) - least;
    return (/** @type {MapNode} */ node) => (reach > 0 ? (node[axis] - least) / reach : 0.5);
  };
  const [x, y] = [fitted("x"), fitted("y")];
  return nodes.map((node) => ({ ...node, x: x(node), y: y(node) }));
}

/** Draws the neighborhood of an item.
 * @param {MapNode[]} found
 * @param {MapEdge[]} edges
 */
export function neighborhood(found, edges) {
  const nodes = spread(found);
  const colorOf = coloring(nodes);
  const caption = h("p", { class: "caption", dir: "auto" }, legend(nodes));
  const tell = (/** @type {MapNode} */ node) => () => clear(caption, thumb(node.image), `${node.title} · ${standing(node)}`);
  const untell = () => clear(caption, legend(nodes));
  const marks = [...nodes].sort((a, b) => rank(a) - rank(b)).map((node) => mark(node, colorOf(said(node)), tell(node), untell));
  return h("figure", { class: "neighbors" },
    svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "group", "aria-label": summary(nodes) },
      svg("g", { class: "edges" }, edges.map(([a, b, weight]) => edge(nodes[a], nodes[b], weight))), marks),
    caption);
}

/** @type {(a: MapNode, b: MapNode, weight: number) => Child} */
const edge = (a, b, weight) => svg("line", { x1: across(a), y1: down(a), x2: across(b), y2: down(b), "stroke-opacity": (0.25 + 0.75 * weight).toFixed(2) });

/** @param {MapNode} node */
const rank = (node) => (node.center ? 2 : node.label !== null ? 1 : 0);

/** @param {MapNode} node */
const said = (node) => node.label ?? node.predicted;

/** Returns the colors of labels: of numbers, by where they lie among those of the picture.
 * @param {MapNode[]} nodes
 * @returns {(label: Label | null) => Record<string, string>}
 */
function coloring(nodes) {
  const numbers = nodes.map(said).filter((label) => typeof label === "number");
  const [low, high] = [Math.min(...numbers), Math.max(...numbers)];
  return (label) => (typeof label === "number" ? tinted(rising(high > low ? (label - low) / (high - low) : 0.5)) : tint(classOf(label)));
}

/** The class whose mark stands for a label: the first that it names.
 * @param {Label | null} label
 */
const classOf = (label) => (label === null ? null : named(label)[0] ?? null);

/**
 * @param {MapNode} node
 * @param {Record<string, string>} colors
 * @param {() => void} tell
 * @param {() => void} untell
 */
function mark(node, colors, tell, untell) {
  const name = classOf(said(node));
  const size = RADIUS * (node.center ? 1.7 : 1);
  const kind = node.label !== null ? "given" : "guessed";
  const open = () => openItem({ id: node.item });
  return svg("g", {
    class: `node tinted ${kind}${node.center ? " center" : ""}`, transform: `translate(${across(node)} ${down(node)}) scale(${size})`, vars: colors,
    tabindex: "0", role: "button", "aria-label": `${node.title}, ${standing(node)}`,
    onclick: open, onkeydown: (event) => event.key === "Enter" && !event.repeat && open(),
    onpointerenter: tell, onfocus: tell, onpointerleave: untell, onblur: untell,
  },
    svg("circle", { class: "reach", r: 1.8 }),
    node.center && svg("circle", { class: "halo", r: 1.75 }),
    svg("path", { class: "shape", d: outline(name), "fill-opacity": node.label !== null ? 1 : (0.1 + 0.3 * (node.p ?? 0)).toFixed(2), "stroke-opacity": node.label !== null ? 1 : (0.35 + 0.65 * (node.p ?? 0)).toFixed(2) }));
}

/** @param {MapNode} node */
function standing(node) {
  if (node.label !== null) return words.why.labeled(inWords(node.label));
  if (node.predicted === null) return words.statuses.open;
  return typeof node.predicted === "number" ? words.why.expected(predictedWords(node.predicted, null)) : words.why.probably(inWords(node.predicted), percent(node.p ?? 0));
}

/** @param {MapNode[]} nodes */
const given = (nodes) => nodes.filter((node) => node.label !== null);

/** @param {MapNode[]} nodes */
const legend = (nodes) => words.why.legend(given(nodes).length);

/** @param {MapNode[]} nodes */
function summary(nodes) {
  const counts = new Map();
  for (const { label } of given(nodes)) counts.set(inWords(label ?? ""), (counts.get(inWords(label ?? "")) ?? 0) + 1);
  const list = [...counts].map(([name, n]) => `${n} ${name}`).join(", ");
  return words.why.neighbors(nodes.length - 1, list);
}
