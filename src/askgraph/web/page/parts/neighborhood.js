/** The picture of a neighborhood: a shape and a color for each class, full where labeled, hollow where predicted. */
import { clear, h, svg } from "../lib/dom.js";
import { thumb } from "./item_line.js";
import { openItem } from "./item.js";
import { outline, tint } from "./palette.js";
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
  const caption = h("p", { class: "caption", dir: "auto" }, legend(nodes));
  const tell = (/** @type {MapNode} */ node) => () => clear(caption, thumb(node.image), `${node.title} · ${standing(node)}`);
  const untell = () => clear(caption, legend(nodes));
  const marks = [...nodes].sort((a, b) => rank(a) - rank(b)).map((node) => mark(node, tell(node), untell));
  return h("figure", { class: "neighbors" },
    svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "group", "aria-label": summary(nodes) },
      svg("g", { class: "edges" }, edges.map(([a, b, weight]) => edge(nodes[a], nodes[b], weight))), marks),
    caption);
}

/** @type {(a: MapNode, b: MapNode, weight: number) => Child} */
const edge = (a, b, weight) => svg("line", { x1: across(a), y1: down(a), x2: across(b), y2: down(b), "stroke-opacity": (0.25 + 0.75 * weight).toFixed(2) });

/** @param {MapNode} node */
const rank = (node) => (node.center ? 2 : node.label !== null ? 1 : 0);

/**
 * @param {MapNode} node
 * @param {() => void} tell
 * @param {() => void} untell
 */
function mark(node, tell, untell) {
  const name = node.label ?? node.predicted;
  const size = RADIUS * (node.center ? 1.7 : 1);
  const kind = node.label !== null ? "given" : "guessed";
  const open = () => openItem({ id: node.item });
  return svg("g", {
    class: `node tinted ${kind}${node.center ? " center" : ""}`, transform: `translate(${across(node)} ${down(node)}) scale(${size})`, vars: tint(name),
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
  if (node.label !== null) return words.why.labeled(node.label);
  return node.predicted === null ? words.statuses.open : words.why.probably(node.predicted, percent(node.p ?? 0));
}

/** @param {MapNode[]} nodes */
const given = (nodes) => nodes.filter((node) => node.label !== null);

/** @param {MapNode[]} nodes */
const legend = (nodes) => words.why.legend(given(nodes).length);

/** @param {MapNode[]} nodes */
function summary(nodes) {
  const counts = new Map();
  for (const { label } of given(nodes)) counts.set(label, (counts.get(label) ?? 0) + 1);
  const list = [...counts].map(([name, n]) => `${n} ${name}`).join(", ");
  return words.why.neighbors(nodes.length - 1, list);
}
