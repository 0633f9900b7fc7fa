/** The map of all items: drag, wheel, pinch or keys move it; a click selects the nearest point, a line around many selects them. */
import { bytes, get } from "../lib/api.js";
import { clear, data, h } from "../lib/dom.js";
import { gestures } from "../lib/gestures.js";
import { openItem, predictedText } from "../parts/item.js";
import { labelTag } from "../parts/label_tag.js";
import { colored, hasChances, mapColors, NONE } from "../parts/map_colors.js";
import { colorsOf } from "../parts/palette.js";
import { LABELED, painter, unitOf } from "../parts/paint.js";
import { store, update, watch } from "../lib/store.js";
import { answerTogether } from "../parts/together.js";
import { percent, translated } from "../lib/format.js";
import { words } from "../lib/words.js";

const AGAIN = 700; // milliseconds before loading again what is still being computed
const NEAR = 22; // pixels: a point farther away is not selected
const FARTHEST = 0.7; // magnification
const CLOSEST = 400;
const DOUBTFUL = 0.8; // the probability below which an item is doubtful
const MOST = 10_000; // items that can be labeled in one step
const CORNERS = 120; // most corners of a selection that the table is told of
const PAUSE = 250; // milliseconds without typing after which the search begins
const STEP = 80; // pixels that an arrow key moves the map
const REST = 160; // milliseconds without motion after which the map is drawn in full
const GROUND = { light: { ink: "#1d1d20", ground: "#f6f5f2" }, dark: { ink: "#ececf0", ground: "#131418" } };
const dark = matchMedia("(prefers-color-scheme: dark)");

/** @type {MakeView} */
export function mapView(root) {
  const canvas = h("canvas", { tabindex: "0", role: "img", "aria-label": words.map.canvas });
  const hint = h("div", { class: "hint", "aria-hidden": "true" });
  const peek = h("section", { class: "peek", "aria-label": words.map.selected, "aria-live": "polite" });
  const legend = h("ul", { class: "legend", "aria-label": words.map.legend });
  const wait = h("p", { class: "empty breathing" }, words.frame.oneMoment);
  const tools = h("div", { class: "zoom" }, h("button", { "aria-label": words.map.zoomIn, onclick: () => zoom(1.5) }, "+"), h("button", { "aria-label": words.map.zoomOut, onclick: () => zoom(1 / 1.5) }, "−"), h("button", { "aria-label": words.map.seeAll, onclick: fit }, words.map.all));
  const search = h("input", { type: "search", placeholder: words.map.search, "aria-label": words.map.search, oninput: () => { clearTimeout(typing); typing = setTimeout(find, PAUSE); } });
  const doubtful = h("input", { type: "checkbox", onchange: sift });
  const lasso = h("button", { class: "plain", "aria-pressed": "false", title: words.map.lassoHint, onclick: () => toggle(!drawing) }, words.map.lasso, h("kbd", { "aria-hidden": "true" }, "s"));
  const doubts = h("label", { class: "check" }, doubtful, words.map.doubtful);
  const sieve = h("div", { class: "sieve", role: "group", "aria-label": words.map.tools }, search, doubts, lasso);
  const view = h("section", { class: "map drawing", "aria-label": words.map.title }, h("h1", { class: "aloud" }, words.map.title), canvas, wait, sieve, legend, tools, hint, peek);
  clear(root, view);

  const paint = painter(canvas);
  const eye = { x: 0.5, y: 0.5, scale: 1 };
  /** @type {Float32Array<ArrayBuffer> | null} */
  let points = null;
  /** @type {DataView<ArrayBuffer> | null} */
  let marks = null;
  /** @type {MapParts | null} */
  let parts = null;
  /** @type {import("../parts/map_colors.js").MapColors | null} */
  let colors = null;
  let wanting = ""; // the class that is looked for, where items have several
  /** @type {string | null} */
  let layout = null;
  let selected = -1;
  let edition = ""; // of the items
  /** @type {number | undefined} */
  let seq;
  let timer = 0;
  let frame = 0;
  let rest = 0;
  let gone = false;
  /** @type {Region[]} */
  let regions = [];
  /** The line of a selection, in units of the map, and the places inside it.
   * @type {Point[]}
   */
  let line = [];
  /** @type {number[]} */
  let chosen = [];
  /** @type {Set<number> | null} */
  let sought = null;
  /** @type {Map<number, HTMLImageElement>} */
  let pictures = new Map();
  let drawing = false;
  let byShift = false; // the pen was taken by a press with Shift, and is put down with it
  let typing = 0;
  const started = performance.now();
  hint.hidden = true;
  peek.hidden = true;

  async function load() {
    clearTimeout(timer);
    const found = await get("/api/map", { reader: store.who }).catch((error) => ({ waiting: error.message }));
    if (gone) return;
    if (found.waiting) {
      timer = setTimeout(load, AGAIN);
      wait.textContent = `${translated(found.waiting)} ${words.map.waited(Math.round((performance.now() - started) / 1000))}`;
      return;
    }
    if (found.lag) timer = setTimeout(load, AGAIN);
    const [place, state] = await Promise.all([found.layout === layout ? null : bytes(found.layout), bytes(found.state)]).catch(() => []);
    if (gone || !state) return;
    if (place) adoptLayout(found.layout, new Float32Array(place));
    marks = new DataView(state);
    if (edition !== found.edition) pictures = new Map(); // items came or went: places mean other ones
    edition = found.edition;
    parts = found;
    regions = found.regions;
    wait.hidden = true;
    view.classList.remove("drawing");
    recolor();
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
    if (!marks || !parts) return;
    const theme = dark.matches ? "dark" : "light";
    colors = mapColors(parts, wanting, (name) => {
      wanting = name;
      recolor();
    });
    const looks = colors.looks.map((one) => ({ ...one, color: one[theme] }));
    paint.marks(colored(marks.buffer, colors), looks, { none: colorsOf(-1)[theme], ...GROUND[theme] });
    drawLegend(colors);
    doubts.hidden = !hasChances();
    sift();
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
    if (points && marks && canvas.clientWidth && canvas.clientHeight) paint.draw(eye, selected, moving, { regions, line, panels: panels(), pictureOf: parts?.pictures ? pictureOf : null });
  }

  /** Returns where panels cover the map. */
  function panels() {
    const from = canvas.getBoundingClientRect();
    return [sieve, legend, tools, peek].filter((one) => !one.hidden).map((one) => {
      const { left, top, width, height } = one.getBoundingClientRect();
      return { x: left - from.left, y: top - from.top, width, height };
    });
  }

  /** Returns the picture of an item, once it is there; what is drawn before that is drawn again then.
   * @param {number} i
   */
  function pictureOf(i) {
    const known = pictures.get(i);
    if (known) return known.complete && known.naturalWidth ? known : null;
    const image = new Image();
    image.onload = redraw;
    image.src = `/images/${i}?of=${edition}`;
    pictures.set(i, image);
    return null;
  }

  const unit = () => unitOf(canvas.clientWidth, canvas.clientHeight, eye);

  function fit() {
    Object.assign(eye, { x: 0.5, y: 0.5, scale: 1 });
    redraw();
  }

  /** @type {(at: Point) => Point} */
  const placeOf = ({ x, y }) => ({ x: eye.x + (x - canvas.clientWidth / 2) / unit(), y: eye.y + (y - canvas.clientHeight / 2) / unit() });

  /** Turns the pointer into a pen, or back.
   * @param {boolean} on
   */
  function toggle(on) {
    drawing = on;
    lasso.setAttribute("aria-pressed", String(on));
    view.classList.toggle("selecting", on);
    if (on) release();
  }

  /** Lets go of the selection. */
  function release() {
    [line, chosen] = [[], []];
    peek.hidden = true;
    sift();
  }

  /** Returns whether each point is looked for; null if nothing in particular is. */
  function wanted() {
    if (!marks || !points || (!sought && !doubtful.checked && !chosen.length)) return null;
    const mask = new Uint8Array(points.length / 2);
    const inside = new Set(chosen);
    for (let i = 0; i < mask.length; i += 1) {
      const unsure = !(marks.getUint8(4 * i + 3) & LABELED) && marks.getUint8(4 * i + 2) < 255 * DOUBTFUL;
      mask[i] = Number((!sought || sought.has(i)) && (!doubtful.checked || unsure) && (!inside.size || inside.has(i)));
    }
    return mask;
  }

  function sift() {
    paint.only(wanted());
    redraw();
  }

  async function find() {
    const text = search.value.trim();
    /** @type {{ places: number[] } | null} */
    const found = text ? await get("/api/map/search", { text }).catch(() => null) : null;
    if (gone || text !== search.value.trim()) return;
    sought = found && new Set(found.places);
    sift();
  }

  /** Begins to draw a line where Shift is held.
   * @param {boolean} shift
   */
  function begin(shift) {
    byShift = shift && !drawing;
    if (byShift) toggle(true);
  }

  /** Ends a selection: what is inside the line and looked for is chosen. */
  function close() {
    if (byShift && line.length < 3) toggle(false);
    if (!drawing || line.length < 3 || !points) return;
    const mask = wanted();
    chosen = [];
    for (let i = 0; i < points.length / 2; i += 1) {
      if ((!mask || mask[i]) && within(line, points[2 * i], points[2 * i + 1])) chosen.push(i);
    }
    toggle(false);
    if (chosen.length) showChosen();
    else release();
    sift();
  }

  function showChosen() {
    selected = -1;
    peek.hidden = false;
    const many = chosen.length > MOST;
    clear(peek, h("p", { class: "title" }, words.map.chosen(chosen.length)),
      many ? h("p", { class: "soft" }, words.map.tooMany(MOST)) : h("button", { class: "primary", onclick: answer }, words.together.open, h("kbd", {}, "⏎")),
      h("div", { class: "ways" }, h("button", { class: "plain", onclick: inTable }, words.map.inTable), h("button", { class: "plain", onclick: release }, words.table.clear)));
  }

  /** Asks what to answer to the selected items. */
  function answer() {
    answerTogether({ places: chosen, edition }, "/api/confirm/places", () => {
      release();
      load();
    });
  }

  /** Shows the items inside the line in the table. */
  function inTable() {
    const step = Math.ceil(line.length / CORNERS);
    update({ inside: line.filter((_, i) => i % step === 0).flatMap(({ x, y }) => [x.toFixed(4), y.toFixed(4)]).join(",") });
    location.hash = "table";
  }

  /** Moves the map, or draws the line of a selection.
   * @type {(dx: number, dy: number, at?: Point, fingers?: number) => void}
   */
  function move(dx, dy, at, fingers = 1) {
    if (drawing && at && fingers === 1) {
      line.push(placeOf(at));
      redraw();
      return;
    }
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
  const hands = gestures(canvas, { begin, move, end: close, zoom, click: (at) => !drawing && select(nearest(at)), over: (at) => tell(at, nearest(at)), out: () => { hint.hidden = true; } });
  const observer = new ResizeObserver(redraw);

  /** Shows the class of a point beside it.
   * @param {Point} at
   * @param {number} i
   */
  function tell(at, i) {
    hint.hidden = i < 0 || !marks;
    if (i < 0 || !marks || !colors) return;
    const known = marks.getUint16(4 * i, true);
    const given = marks.getUint8(4 * i + 3) & LABELED;
    const sure = hasChances() && percent(marks.getUint8(4 * i + 2) / 255);
    hint.textContent = known === NONE ? words.statuses.open : [colors.text(known), given ? words.map.labeled : sure].filter(Boolean).join(" · ");
    hint.style.left = `${at.x}px`;
    hint.style.top = `${at.y}px`;
  }

  /** @param {number} i */
  async function select(i) {
    selected = i;
    if (chosen.length) release();
    redraw();
    const found = i < 0 ? null : await get("/api/item", { at: i, reader: store.who }).catch(() => null);
    if (selected !== i) return;
    peek.hidden = !found;
    if (found) clear(peek, glimpse(found), h("button", { class: "primary", onclick: () => openItem({ id: found.item.id }, load) }, words.map.open));
  }

  /** @param {import("../parts/map_colors.js").MapColors} meant */
  function drawLegend(meant) {
    clear(legend, meant.legend(), h("li", { class: "soft" }, h("span", { class: "ringed" }), words.map.labeled), h("li", { class: "soft" }, words.map.paler));
  }

  /** @type {Record<string, () => void>} */
  const KEYS = { ArrowLeft: () => move(STEP, 0), ArrowRight: () => move(-STEP, 0), ArrowUp: () => move(0, STEP), ArrowDown: () => move(0, -STEP), "+": () => zoom(1.3), "=": () => zoom(1.3), "-": () => zoom(1 / 1.3), 0: fit, s: () => toggle(!drawing) };

  /** @param {KeyboardEvent} event */
  function press(event) {
    const typed = event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement;
    if (typed || event.ctrlKey || event.altKey || event.metaKey || document.querySelector("dialog[open]") || !Object.hasOwn(KEYS, event.key)) return;
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
      clearTimeout(typing);
      clearTimeout(rest);
      cancelAnimationFrame(frame);
      document.removeEventListener("keydown", press);
      dark.removeEventListener("change", recolor);
      observer.disconnect();
      hands.leave();
      stop();
    },
    key(key) {
      const takes = key === "Enter" && chosen.length > 0 && chosen.length <= MOST && !document.activeElement?.closest("button, a");
      if (takes) answer();
      return takes;
    },
  };
}

/** @type {(value: number, low: number, high: number) => number} */
const between = (value, low, high) => Math.min(high, Math.max(low, value));

/** Returns whether a point lies inside a line, by the even-odd rule.
 * @type {(line: Point[], x: number, y: number) => boolean}
 */
function within(line, x, y) {
  let inside = false;
  for (let i = 0, j = line.length - 1; i < line.length; j = i, i += 1) {
    const [a, b] = [line[i], line[j]];
    if (a.y > y !== b.y > y && x < a.x + ((y - a.y) / (b.y - a.y)) * (b.x - a.x)) inside = !inside;
  }
  return inside;
}

/** Shows an item in short.
 * @param {ItemReport} report
 */
function glimpse({ item, label, status, prediction }) {
  const says = label !== null ? labelTag(label) : prediction && status === "predicted" ? predictedText(prediction) : words.statuses[status];
  return [item.image?.startsWith("/images/") && h("img", { src: item.image, alt: "" }), h("p", { class: "title" }, data(item.title)), h("p", {}, says)];
}
