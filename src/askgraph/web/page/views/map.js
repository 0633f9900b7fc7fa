/** The map of all items: drag, wheel, pinch or keys move it; a click selects the nearest point. */
import { bytes, get } from "../lib/api.js";
import { clear, data, h } from "../lib/dom.js";
import { gestures } from "../lib/gestures.js";
import { openItem } from "../parts/item.js";
import { colorsOf, shapeOf, tag } from "../parts/palette.js";
import { LABELED, painter, unitOf } from "../parts/paint.js";
import { classes, store, watch } from "../lib/store.js";
import { percent, sentence, STATUS } from "../lib/format.js";

const AGAIN = 700; // milliseconds before loading again what is still being computed
const NEAR = 22; // pixels: a point farther away is not selected
const NONE = 65_535; // the class of an item without label and prediction
const FARTHEST = 0.7; // magnification
const CLOSEST = 400;
const STEP = 80; // pixels that an arrow key moves the map
const REST = 160; // milliseconds without motion after which the map is drawn in full
const GROUND = { light: { ink: "#1d1d20", ground: "#f6f5f2" }, dark: { ink: "#ececf0", ground: "#131418" } };
const dark = matchMedia("(prefers-color-scheme: dark)");

/** @type {MakeView} */
export function mapView(root) {
  const canvas = h("canvas", { tabindex: "0", role: "img", "aria-label": "Map of all items. The table lists the same items as text." });
  const hint = h("div", { class: "hint", "aria-hidden": "true" });
  const peek = h("section", { class: "peek", "aria-label": "Selected item", "aria-live": "polite" });
  const legend = h("ul", { class: "legend", "aria-label": "Legend" });
  const wait = h("p", { class: "empty breathing" }, "One moment.");
  const tools = h("div", { class: "zoom" }, h("button", { "aria-label": "Zoom in", onclick: () => zoom(1.5) }, "+"), h("button", { "aria-label": "Zoom out", onclick: () => zoom(1 / 1.5) }, "−"), h("button", { "aria-label": "See all", onclick: fit }, "All"));
  const view = h("section", { class: "map drawing", "aria-label": "Map" }, h("h1", { class: "aloud" }, "Map"), canvas, wait, legend, tools, hint, peek);
  clear(root, view);

  const paint = painter(canvas);
  const eye = { x: 0.5, y: 0.5, scale: 1 };
  /** @type {Float32Array<ArrayBuffer> | null} */
  let points = null;
  /** @type {DataView<ArrayBuffer> | null} */
  let marks = null;
  /** @type {string[]} */
  let names = [];
  /** @type {string | null} */
  let layout = null;
  let selected = -1;
  /** @type {number | undefined} */
  let seq;
  let timer = 0;
  let frame = 0;
  let rest = 0;
  let gone = false;
  hint.hidden = true;
  peek.hidden = true;

  async function load() {
    clearTimeout(timer);
    const found = await get("/api/map").catch((error) => ({ waiting: error.message }));
    if (gone) return;
    if (found.waiting) {
      timer = setTimeout(load, AGAIN);
      wait.textContent = sentence(found.waiting);
      return;
    }
    if (found.lag) timer = setTimeout(load, AGAIN);
    const [place, state] = await Promise.all([found.layout === layout ? null : bytes(found.layout), bytes(found.state)]).catch(() => []);
    if (gone || !state) return;
    if (place) adoptLayout(found.layout, new Float32Array(place));
    marks = new DataView(state);
    names = found.classes;
    wait.hidden = true;
    view.classList.remove("drawing");
    recolor();
    drawLegend();
  }

  /**
   * @param {string} address
   * @param {Float32Array<ArrayBuffer>} places
   */
  function adoptLayout(address, places) {
    const first = points === null;
    layout = address;
    points = places;
    paint.points(places);
    if (first) fit();
  }

  function recolor() {
    if (!marks) return;
    const known = classes().map((one) => one.name);
    const theme = dark.matches ? "dark" : "light";
    const places = names.map((name, i) => (known.includes(name) ? known.indexOf(name) : i));
    const looks = places.map((place, i) => ({ color: colorsOf(place, names[i])[theme], shape: shapeOf(place) }));
    paint.marks(new Uint8Array(marks.buffer), looks, { none: colorsOf(-1)[theme], ...GROUND[theme] });
    redraw();
  }

  function redraw() {
    frame ||= requestAnimationFrame(() => {
      frame = 0;
      draw(true);
    });
    clearTimeout(rest);
    rest = setTimeout(() => draw(), REST);
  }

  function draw(moving = false) {
    if (points && marks && canvas.clientWidth && canvas.clientHeight) paint.draw(eye, selected, moving);
  }

  const unit = () => unitOf(canvas.clientWidth, canvas.clientHeight, eye);

  function fit() {
    Object.assign(eye, { x: 0.5, y: 0.5, scale: 1 });
    redraw();
  }

  /** @type {(dx: number, dy: number) => void} */
  function move(dx, dy) {
    eye.x = between(eye.x - dx / unit(), -0.2, 1.2);
    eye.y = between(eye.y - dy / unit(), -0.2, 1.2);
    redraw();
  }

  /** Magnifies the map and keeps one point in its place.
   * @param {number} by
   * @param {Point} at
   */
  function zoom(by, at = { x: canvas.clientWidth / 2, y: canvas.clientHeight / 2 }) {
    const dx = at.x - canvas.clientWidth / 2;
    const dy = at.y - canvas.clientHeight / 2;
    const before = unit();
    eye.scale = between(eye.scale * by, FARTHEST, CLOSEST);
    eye.x += dx / before - dx / unit();
    eye.y += dy / before - dy / unit();
    redraw();
  }

  /** Returns the number of the point nearest to a place on the screen, or -1.
   * @param {Point} at
   */
  function nearest({ x, y }) {
    if (!points) return -1;
    const px = eye.x + (x - canvas.clientWidth / 2) / unit();
    const py = eye.y + (y - canvas.clientHeight / 2) / unit();
    let best = -1;
    let least = (NEAR / unit()) ** 2;
    for (let i = 0; i < points.length / 2; i += 1) {
      const far = (points[2 * i] - px) ** 2 + (points[2 * i + 1] - py) ** 2;
      if (far < least) [best, least] = [i, far];
    }
    return best;
  }

  const stop = watch(() => {
    if (!store.state || store.state.seq === seq) return;
    seq = store.state.seq;
    load();
  });
  const hands = gestures(canvas, { move, zoom, click: (at) => select(nearest(at)), over: (at) => tell(at, nearest(at)), out: () => { hint.hidden = true; } });
  const observer = new ResizeObserver(redraw);

  /** Shows the class of a point beside it.
   * @param {Point} at
   * @param {number} i
   */
  function tell(at, i) {
    hint.hidden = i < 0 || !marks;
    if (i < 0 || !marks) return;
    const known = marks.getUint16(4 * i, true);
    const given = marks.getUint8(4 * i + 3) & LABELED;
    hint.textContent = known === NONE ? "no prediction yet" : `${names[known]} · ${given ? "labeled" : percent(marks.getUint8(4 * i + 2) / 255)}`;
    hint.style.left = `${at.x}px`;
    hint.style.top = `${at.y}px`;
  }

  /** @param {number} i */
  async function select(i) {
    selected = i;
    redraw();
    const found = i < 0 ? null : await get("/api/item", { at: i }).catch(() => null);
    if (selected !== i) return;
    peek.hidden = !found;
    if (found) clear(peek, glimpse(found), h("button", { class: "primary", onclick: () => openItem({ id: found.item.id }, load) }, "Open"));
  }

  function drawLegend() {
    clear(legend, names.map((name) => h("li", {}, tag(name))), h("li", { class: "soft" }, h("span", { class: "ringed" }), "labeled"), h("li", { class: "soft" }, "paler: less sure"));
  }

  /** @type {Record<string, () => void>} */
  const KEYS = { ArrowLeft: () => move(STEP, 0), ArrowRight: () => move(-STEP, 0), ArrowUp: () => move(0, STEP), ArrowDown: () => move(0, -STEP), "+": () => zoom(1.3), "=": () => zoom(1.3), "-": () => zoom(1 / 1.3), 0: fit };

  /** @param {KeyboardEvent} event */
  function press(event) {
    if (event.ctrlKey || event.altKey || event.metaKey || document.querySelector("dialog[open]") || !Object.hasOwn(KEYS, event.key)) return;
    event.preventDefault();
    KEYS[event.key]();
  }

  observer.observe(canvas);
  document.addEventListener("keydown", press);
  dark.addEventListener("change", recolor);
  seq = store.state?.seq;
  load();
  return {
    leave() {
      gone = true;
      clearTimeout(timer);
      clearTimeout(rest);
      cancelAnimationFrame(frame);
      document.removeEventListener("keydown", press);
      dark.removeEventListener("change", recolor);
      observer.disconnect();
      hands.leave();
      stop();
    },
  };
}

/** @type {(value: number, low: number, high: number) => number} */
const between = (value, low, high) => Math.min(high, Math.max(low, value));

/** Shows an item in short.
 * @param {ItemReport} report
 */
function glimpse({ item, label, status, prediction }) {
  const says = label !== null ? tag(label) : prediction && status === "predicted" ? [tag(prediction.label, true), `, ${percent(prediction.probability)} sure`] : STATUS[status];
  return [item.image?.startsWith("/images/") && h("img", { src: item.image, alt: "" }), h("p", { class: "title" }, data(item.title)), h("p", {}, says)];
}
