/** The map without a graphics card: points are blended straight into the pixels, which is far faster than drawing shapes. */
import { dotSize, rgb } from "./paint_gl.js";

const LABELED = 1;
const ASIDE = 2;

export function pixelPainter(canvas) {
  const context = canvas.getContext("2d");
  let places = new Float32Array();
  let states = new Uint8Array();
  let colours = new Uint8Array();
  let ink = "#000";
  let image = null;
  let ratio = 1;

  function splat(pixels, width, height, x, y, reach, r, g, b, alpha) {
    const right = Math.min(width - 1, x + reach);
    const bottom = Math.min(height - 1, y + reach);
    const left = Math.max(0, x - reach);
    for (let row = Math.max(0, y - reach); row <= bottom; row += 1) {
      for (let at = 4 * (row * width + left), end = 4 * (row * width + right); at <= end; at += 4) {
        const under = (pixels[at + 3] * (256 - alpha)) >> 8;
        const over = alpha + under;
        pixels[at] = (r * alpha + pixels[at] * under) / over;
        pixels[at + 1] = (g * alpha + pixels[at + 1] * under) / over;
        pixels[at + 2] = (b * alpha + pixels[at + 2] * under) / over;
        pixels[at + 3] = over;
      }
    }
  }

  const kindOf = (i) => Math.min(states[4 * i] | (states[4 * i + 1] << 8), colours.length / 3 - 1);

  function ring(i, x, y, radius, line) {
    const kind = 3 * kindOf(i);
    context.beginPath();
    context.arc(x, y, radius * 0.5, 0, 7);
    context.fillStyle = `rgb(${colours[kind]} ${colours[kind + 1]} ${colours[kind + 2]})`;
    context.fill();
    context.beginPath();
    context.arc(x, y, radius, 0, 7);
    context.strokeStyle = ink;
    context.lineWidth = line;
    context.stroke();
  }

  return {
    points(values) {
      places = values;
    },
    marks(values) {
      states = values;
    },
    palette(classes, none, dark) {
      colours = Uint8Array.from([...classes.map((one) => one.colour), none].flatMap(rgb));
      ink = dark ? "#ededf0" : "#1c1c1f";
    },
    size(width, height, pixels) {
      Object.assign(canvas, { width, height });
      image = width && height ? context.createImageData(width, height) : null;
      ratio = pixels;
    },
    draw(eye, selected) {
      if (!image) return;
      const { data: pixels, width, height } = image;
      const count = places.length / 2;
      const unit = Math.min(width, height) * 0.92 * eye.scale;
      const size = dotSize(count, eye.scale) * ratio;
      const reach = Math.max(1, Math.round((size - 1) / 2));
      const across = (i) => (places[2 * i] - eye.x) * unit + width / 2;
      const down = (i) => (places[2 * i + 1] - eye.y) * unit + height / 2;
      const rings = [];
      pixels.fill(0);
      for (let i = 0; i < count; i += 1) {
        const x = Math.round(across(i));
        const y = Math.round(down(i));
        if (x < -reach || y < -reach || x > width + reach || y > height + reach) continue;
        const flags = states[4 * i + 3];
        if (flags & LABELED) {
          rings.push(i);
          continue;
        }
        const sure = states[4 * i + 2] / 255;
        const kind = 3 * kindOf(i);
        splat(pixels, width, height, x, y, reach, colours[kind], colours[kind + 1], colours[kind + 2], flags & ASIDE ? 38 : 41 + 189 * sure * sure);
      }
      context.putImageData(image, 0, 0);
      for (const i of rings) ring(i, across(i), down(i), size * 0.8, 1.2 * ratio);
      if (selected >= 0) ring(selected, across(selected), down(selected), size * 1.3, 2.4 * ratio);
    },
    leave() {},
  };
}
