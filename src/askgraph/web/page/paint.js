/**
 * Paints the map. Many points are blended straight into the pixels, which keeps 100,000 of them smooth on any machine, with a graphics
 * card or without; when few are in sight they get the shape of their class.
 */
import { SHAPES } from "./palette.js";

export const LABELED = 1;
const ASIDE = 2;
const FEW = 2_500;
const MOST = 150_000;
const ODD = 0xff00ff;
const OPAQUE = 0xff000000;
const FILLING = 0.92;

const paths = SHAPES.map((outline) => new Path2D(outline));

/** Screen pixels to one unit of the map. */
export const unitOf = (width, height, eye) => Math.min(width, height) * FILLING * eye.scale;

export function painter(canvas) {
  const context = canvas.getContext("2d", { alpha: false });
  let places = new Float32Array();
  let states = new Uint8Array();
  let classes = [];
  let theme = null;
  let tones = new Uint32Array();
  let weights = new Uint16Array();
  let ringed = [];
  let seen = new Uint32Array();
  let image = null;
  let pixels = null;

  const kindOf = (i) => states[4 * i] | (states[4 * i + 1] << 8);
  const looksOf = (i) => classes[kindOf(i)] ?? { colour: theme.none, shape: 0 };

  /** Colour and weight (0 to 256) of every point, worked out once and not for every frame. */
  function mix() {
    const count = states.length / 4;
    const colours = classes.map((one) => packed(one.colour));
    const none = packed(theme.none);
    tones = new Uint32Array(count);
    weights = new Uint16Array(count);
    ringed = [];
    for (let i = 0; i < count; i += 1) {
      const flags = states[4 * i + 3];
      tones[i] = colours[kindOf(i)] ?? none;
      weights[i] = flags & ASIDE ? 38 : 41 + 189 * (states[4 * i + 2] / 255) ** 2;
      if (flags & LABELED) ringed.push(i);
    }
  }

  function resize(ratio) {
    const width = Math.round(canvas.clientWidth * ratio);
    const height = Math.round(canvas.clientHeight * ratio);
    if (image?.width === width && image?.height === height) return;
    Object.assign(canvas, { width, height });
    image = context.createImageData(width, height);
    pixels = new Uint32Array(image.data.buffer);
  }

  function aim(eye) {
    const unit = unitOf(image.width, image.height, eye);
    return { unit, left: image.width / 2 - eye.x * unit, top: image.height / 2 - eye.y * unit };
  }

  /** The points in sight, every `stride`th of them: their numbers go to `seen`, how many there are is returned. */
  function look({ unit, left, top }, stride) {
    const { width, height } = image;
    const count = Math.min(places.length / 2, tones.length);
    let n = 0;
    for (let i = 0; i < count; i += stride) {
      const x = places[2 * i] * unit + left;
      const y = places[2 * i + 1] * unit + top;
      if (x > -9 && y > -9 && x < width + 9 && y < height + 9) seen[n++] = i;
    }
    return n;
  }

  /** Two colour channels at a time: red and blue share one number. */
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

  function dots({ unit, left, top }, n, size) {
    const reach = Math.max(1, Math.round((size - 1) / 2));
    pixels.fill(OPAQUE | packed(theme.ground));
    for (let k = 0; k < n; k += 1) {
      const i = seen[k];
      splat(Math.round(places[2 * i] * unit + left), Math.round(places[2 * i + 1] * unit + top), reach, tones[i], weights[i]);
    }
    context.putImageData(image, 0, 0);
  }

  function shapes(view, n, size) {
    context.fillStyle = theme.ground;
    context.fillRect(0, 0, image.width, image.height);
    for (const i of seen.subarray(0, n)) shape(i, view, size / 2, weights[i] / 256);
  }

  function shape(i, { unit, left, top }, radius, opacity) {
    const looks = looksOf(i);
    context.setTransform(radius, 0, 0, radius, places[2 * i] * unit + left, places[2 * i + 1] * unit + top);
    context.globalAlpha = opacity;
    context.fillStyle = looks.colour;
    context.fill(paths[looks.shape]);
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.globalAlpha = 1;
  }

  function ring(i, view, radius, line) {
    shape(i, view, radius * 0.62, 1);
    context.beginPath();
    context.arc(places[2 * i] * view.unit + view.left, places[2 * i + 1] * view.unit + view.top, radius, 0, 7);
    context.strokeStyle = theme.ink;
    context.lineWidth = line;
    context.stroke();
  }

  return {
    points(values) {
      places = values;
      seen = new Uint32Array(values.length / 2);
    },
    marks(values, looks, colours) {
      states = values;
      classes = looks;
      theme = colours;
      mix();
    },
    /** In motion there are fewer pixels and, beyond MOST, fewer points; the picture at rest has them all. */
    draw(eye, selected, moving) {
      const count = places.length / 2;
      const ratio = moving && count > FEW ? 1 : Math.min(devicePixelRatio, 2);
      resize(ratio);
      const view = aim(eye);
      const n = look(view, moving ? Math.ceil(count / MOST) : 1);
      const size = dotSize(count, eye.scale) * ratio;
      if (n > FEW) dots(view, n, size);
      else shapes(view, n, size);
      for (const i of ringed) ring(i, view, size * 0.9, 1.3 * ratio);
      if (selected >= 0) ring(selected, view, size * 1.4, 2.6 * ratio);
    },
  };
}

/** Smaller where there are many, growing as one comes closer. */
const dotSize = (count, scale) => Math.min(16, Math.min(9, Math.max(2.6, 240 / Math.sqrt(count))) * scale ** 0.4);

function packed(hex) {
  const [r, g, b] = [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
  return (b << 16) | (g << 8) | r;
}
