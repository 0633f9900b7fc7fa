/**
 * Paints the map. Many points are blended straight into the pixels, so that 100,000 of them move smoothly, also without a
 * graphics card; when few are in sight, each is drawn as the shape of its class.
 */
import { SHAPES } from "./palette.js";

export const LABELED = 1; // flag of an item that has a label
const ASIDE = 2; // flag of an item that is set aside
const MAX_SHAPES = 2_500; // points in sight: up to here shapes are drawn, beyond dots
const MAX_MOVING = 150_000; // points: beyond, only some of them are drawn while the map moves
const ODD = 0xff00ff; // the red and blue bytes of a pixel
const OPAQUE = 0xff000000;
const FILLING = 0.92; // share of the shorter side that the whole map takes
const FAINT = 10; // the weight of a point that is not looked for, of 256
const NAME = { size: 13, edge: 3, apart: 4, high: 22 }; // pixels of the letters of a name, its halo, and how near two names may be
const NEAREST = 90; // pixels: a name that a panel would cover is moved at most so far
const PICTURES = { most: 150, least: 24, largest: 80, share: 0.7, frame: 2 }; // points in sight up to which pictures are drawn; pixels; of the space of each
const MARGIN = 9; // pixels beyond the edge at which a point is still drawn

const paths = SHAPES.map((outline) => new Path2D(outline));

/** Returns the pixels per unit of the map.
 * @type {(width: number, height: number, eye: Eye) => number}
 */
export const unitOf = (width, height, eye) => Math.min(width, height) * FILLING * eye.scale;

/** Returns the functions that draw on a canvas.
 * @param {HTMLCanvasElement} canvas
 */
export function painter(canvas) {
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d", { alpha: false }));
  let places = new Float32Array();
  let states = new Uint8Array();
  /** @type {Look[]} */
  let classes = [];
  /** @type {Theme} */
  let theme = { none: "#808080", ink: "#000000", ground: "#ffffff" };
  let tones = new Uint32Array();
  let weights = new Uint16Array();
  /** @type {number[]} */
  let ringed = [];
  let seen = new Uint32Array();
  /** @type {Uint8Array | null} */
  let bright = null;
  let image = context.createImageData(1, 1);
  let pixels = new Uint32Array(image.data.buffer);

  const kindOf = (/** @type {number} */ i) => states[4 * i] | (states[4 * i + 1] << 8);
  const looksOf = (/** @type {number} */ i) => classes[kindOf(i)] ?? { color: theme.none, shape: 0 };

  /** Computes the color and the weight (0 to 256) of every point, once and not for every frame. */
  function mix() {
    const count = states.length / 4;
    const colors = classes.map((one) => packed(one.color));
    const none = packed(theme.none);
    tones = new Uint32Array(count);
    weights = new Uint16Array(count);
    ringed = [];
    for (let i = 0; i < count; i += 1) {
      const flags = states[4 * i + 3];
      tones[i] = colors[kindOf(i)] ?? none;
      weights[i] = flags & ASIDE ? 38 : 41 + 189 * (states[4 * i + 2] / 255) ** 2;
      if (bright) weights[i] = bright[i] ? Math.max(150, weights[i]) : FAINT;
      if (flags & LABELED && (!bright || bright[i])) ringed.push(i);
    }
  }

  /** @param {number} ratio */
  function resize(ratio) {
    const width = Math.round(canvas.clientWidth * ratio);
    const height = Math.round(canvas.clientHeight * ratio);
    if (image.width === width && image.height === height) return;
    Object.assign(canvas, { width, height });
    image = context.createImageData(width, height);
    pixels = new Uint32Array(image.data.buffer);
  }

  /** @param {Eye} eye */
  function aim(eye) {
    const unit = unitOf(image.width, image.height, eye);
    return { unit, left: image.width / 2 - eye.x * unit, top: image.height / 2 - eye.y * unit };
  }

  /** Puts the numbers of the points in sight, of every `stride`th point, into `seen` and returns how many there are.
   * @param {ReturnType<typeof aim>} view
   * @param {number} stride
   */
  function look({ unit, left, top }, stride) {
    const { width, height } = image;
    const count = Math.min(places.length / 2, tones.length);
    let n = 0;
    for (let i = 0; i < count; i += stride) {
      const x = places[2 * i] * unit + left;
      const y = places[2 * i + 1] * unit + top;
      if (x > -MARGIN && y > -MARGIN && x < width + MARGIN && y < height + MARGIN) seen[n++] = i;
    }
    return n;
  }

  /** Blends a square into the pixels, two color channels at a time: red and blue share one number.
   * @param {number} x
   * @param {number} y
   * @param {number} reach
   * @param {number} tone
   * @param {number} weight
   */
  function splat(x, y, reach, tone, weight) {
    const { width, height } = image;
    const rest = 256 - weight;
    const odd = Math.imul(tone & ODD, weight);
    const even = Math.imul((tone >>> 8) & 0xff, weight);
    const left = Math.max(0, x - reach);
    const right = Math.min(width - 1, x + reach);
    const bottom = Math.min(height - 1, y + reach);
    for (let row = Math.max(0, y - reach); row <= bottom; row += 1) {
      for (let at = row * width + left, end = row * width + right; at <= end; at += 1) {
        const under = pixels[at];
        const redBlue = ((odd + Math.imul(under & ODD, rest)) >>> 8) & ODD;
        const green = (even + Math.imul((under >>> 8) & 0xff, rest)) & 0xff00;
        pixels[at] = OPAQUE | redBlue | green;
      }
    }
  }

  /**
   * @param {ReturnType<typeof aim>} view
   * @param {number} n
   * @param {number} size
   */
  function dots({ unit, left, top }, n, size) {
    const reach = Math.max(1, Math.round((size - 1) / 2));
    pixels.fill(OPAQUE | packed(theme.ground));
    for (let k = 0; k < n; k += 1) {
      const i = seen[k];
      splat(Math.round(places[2 * i] * unit + left), Math.round(places[2 * i + 1] * unit + top), reach, tones[i], weights[i]);
    }
    context.putImageData(image, 0, 0);
  }

  /**
   * @param {ReturnType<typeof aim>} view
   * @param {number} n
   * @param {number} size
   */
  function shapes(view, n, size) {
    context.fillStyle = theme.ground;
    context.fillRect(0, 0, image.width, image.height);
    for (const i of seen.subarray(0, n)) shape(i, view, size / 2, weights[i] / 256);
  }

  /**
   * @param {number} i
   * @param {ReturnType<typeof aim>} view
   * @param {number} radius
   * @param {number} opacity
   */
  function shape(i, { unit, left, top }, radius, opacity) {
    const looks = looksOf(i);
    const reach = radius * (looks.size ?? 1);
    context.setTransform(reach, 0, 0, reach, places[2 * i] * unit + left, places[2 * i + 1] * unit + top);
    context.globalAlpha = opacity;
    context.fillStyle = looks.color;
    context.fill(paths[looks.shape]);
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.globalAlpha = 1;
  }

  /**
   * @param {number} i
   * @param {ReturnType<typeof aim>} view
   * @param {number} radius
   * @param {number} line
   */
  function ring(i, view, radius, line) {
    shape(i, view, radius * 0.62, 1);
    context.beginPath();
    context.arc(places[2 * i] * view.unit + view.left, places[2 * i + 1] * view.unit + view.top, radius, 0, 7);
    context.strokeStyle = theme.ink;
    context.lineWidth = line;
    context.stroke();
  }

  /** Moves the middle of a name so far that all of it is on the canvas, unless its region is out of sight.
   * @type {(x: number, half: number) => number}
   */
  const within = (x, half) => (x < 0 || x > canvas.width ? x : Math.min(Math.max(x, half), canvas.width - half));

  /** Draws the pictures of the points in sight, each in a frame of the color of its class; a point without one keeps its shape.
   * @type {(view: ReturnType<typeof aim>, n: number, ratio: number, pictureOf: (i: number) => HTMLImageElement | null) => void}
   */
  function thumbnails({ unit, left, top }, n, ratio, pictureOf) {
    const shown = seen.subarray(0, n);
    const wide = (/** @type {0 | 1} */ axis) => shown.reduce((most, i) => Math.max(most, places[2 * i + axis]), 0) - shown.reduce((least, i) => Math.min(least, places[2 * i + axis]), 1);
    const room = PICTURES.share * unit * Math.sqrt((wide(0) * wide(1)) / Math.max(n, 1));
    const size = Math.min(PICTURES.largest * ratio, Math.max(PICTURES.least * ratio, room));
    for (const i of shown) {
      const picture = pictureOf(i);
      if (!picture) continue;
      const scale = size / Math.max(picture.naturalWidth, picture.naturalHeight);
      const [width, height] = [picture.naturalWidth * scale, picture.naturalHeight * scale];
      const [x, y] = [places[2 * i] * unit + left - width / 2, places[2 * i + 1] * unit + top - height / 2];
      const edge = PICTURES.frame * ratio;
      context.globalAlpha = bright && !bright[i] ? 0.15 : 1;
      context.fillStyle = looksOf(i).color;
      context.fillRect(x - edge, y - edge, width + 2 * edge, height + 2 * edge);
      context.fillStyle = "#fff"; // behind what is transparent
      context.fillRect(x, y, width, height);
      context.drawImage(picture, x, y, width, height);
    }
    context.globalAlpha = 1;
  }

  /** Writes the names of regions, the largest first; one that would cover another, or that a panel would cover wherever it is near, is left out.
   * @param {Region[]} regions
   * @param {ReturnType<typeof aim>} view
   * @param {number} ratio
   * @param {Box[]} panels in pixels of the page
   */
  function names(regions, { unit, left, top }, ratio, panels) {
    /** @type {(Point & { half: number })[]} */
    const written = [];
    const boxes = panels.map(({ x, y, width, height }) => ({ x: x * ratio, y: y * ratio, width: width * ratio, height: height * ratio }));
    Object.assign(context, { font: `600 ${NAME.size * ratio}px system-ui, sans-serif`, textAlign: "center", textBaseline: "middle", lineJoin: "round", lineWidth: 4 * ratio });
    for (const one of regions) {
      const half = context.measureText(one.name).width / 2 + NAME.edge * ratio;
      const wanted = { x: within(one.x * unit + left, half), y: one.y * unit + top };
      const at = { ...besides(wanted, half, (NAME.high / 2) * ratio, boxes), half };
      if (Math.hypot(at.x - wanted.x, at.y - wanted.y) > NEAREST * ratio || boxes.some((box) => covers(box, at, half, (NAME.high / 2) * ratio))) continue;
      if (written.some((other) => Math.abs(other.x - at.x) < other.half + at.half + NAME.apart * ratio && Math.abs(other.y - at.y) < NAME.high * ratio)) continue;
      written.push(at);
      context.strokeStyle = theme.ground;
      context.strokeText(one.name, at.x, at.y);
      context.fillStyle = theme.ink;
      context.fillText(one.name, at.x, at.y);
    }
  }

  /** Draws the line around what is being selected.
   * @param {Point[]} line
   * @param {ReturnType<typeof aim>} view
   * @param {number} ratio
   */
  function lasso(line, { unit, left, top }, ratio) {
    context.beginPath();
    for (const { x, y } of line) context.lineTo(x * unit + left, y * unit + top);
    context.closePath();
    Object.assign(context, { strokeStyle: theme.ink, lineWidth: 1.5 * ratio });
    context.setLineDash([5 * ratio, 4 * ratio]);
    context.stroke();
    context.setLineDash([]);
  }

  return {
    /** Takes the positions of all points.
     * @param {Float32Array<ArrayBuffer>} values
     */
    points(values) {
      places = values;
      seen = new Uint32Array(values.length / 2);
    },
    /** Takes four bytes per point (class, probability, flags), the look of each class, and the colors of the theme.
     * @param {Uint8Array<ArrayBuffer>} values
     * @param {Look[]} looks
     * @param {Theme} colors
     */
    marks(values, looks, colors) {
      states = values;
      classes = looks;
      theme = colors;
      mix();
    },
    /** Takes which points are looked for, one byte each; the others are drawn faint. Null means all.
     * @param {Uint8Array | null} mask
     */
    only(mask) {
      bright = mask;
      mix();
    },
    /** Draws the map. While it moves there are fewer pixels and, beyond MAX_MOVING, fewer points.
     * @param {Eye} eye
     * @param {number} selected
     * @param {boolean} moving
     * @param {{ regions: Region[], line: Point[], panels: Box[], pictureOf: ((i: number) => HTMLImageElement | null) | null }} over
     */
    draw(eye, selected, moving, over) {
      const count = places.length / 2;
      const ratio = moving && count > MAX_SHAPES ? 1 : Math.min(devicePixelRatio, 2);
      resize(ratio);
      const view = aim(eye);
      const n = look(view, moving ? Math.ceil(count / MAX_MOVING) : 1);
      const size = dotSize(count, eye.scale) * ratio;
      if (n > MAX_SHAPES) dots(view, n, size);
      else shapes(view, n, size);
      for (const i of ringed) ring(i, view, size * 0.9, 1.3 * ratio);
      if (over.pictureOf && n <= PICTURES.most) thumbnails(view, n, ratio, over.pictureOf);
      if (selected >= 0) ring(selected, view, size * 1.4, 2.6 * ratio);
      names(over.regions, view, ratio, over.panels);
      if (over.line.length > 1) lasso(over.line, view, ratio);
    },
  };
}

/** Whether a panel covers a part of a name.
 * @type {(box: Box, at: Point, half: number, high: number) => boolean}
 */
const covers = (box, at, half, high) => at.x + half > box.x && at.x - half < box.x + box.width && at.y + high > box.y && at.y - high < box.y + box.height;

/** Moves the middle of a name out of the panels that would cover it, the shortest way.
 * @type {(at: Point, half: number, high: number, boxes: Box[]) => Point}
 */
function besides(at, half, high, boxes) {
  const box = boxes.find((one) => covers(one, at, half, high));
  if (!box) return at;
  const ways = [{ x: at.x, y: box.y - high }, { x: at.x, y: box.y + box.height + high }, { x: box.x - half, y: at.y }, { x: box.x + box.width + half, y: at.y }];
  const far = (/** @type {Point} */ to) => Math.hypot(to.x - at.x, to.y - at.y);
  return ways.filter(({ x, y }) => x >= half && y >= high).sort((a, b) => far(a) - far(b))[0] ?? at;
}

/** Returns the size of a dot in pixels: smaller where there are many, growing with the magnification.
 * @type {(count: number, scale: number) => number}
 */
const dotSize = (count, scale) => Math.min(16, Math.min(9, Math.max(2.6, 240 / Math.sqrt(count))) * scale ** 0.4);

/** Returns a color such as "#8b8c92" as the number of a pixel.
 * @param {string} hex
 */
function packed(hex) {
  const [r, g, b] = [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
  return (b << 16) | (g << 8) | r;
}
