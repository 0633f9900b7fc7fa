/** A color for each theme and a shape for every class, so that no class is recognized by color alone; of steps, the size grows with them. */
import { h, svg } from "../lib/dom.js";
import { answers, classes } from "../lib/store.js";

// Okabe and Ito's eight colors, moved until each has contrast 3 with its ground and any two differ by 20 in CIELAB, also for protan, deutan and tritan eyes.
const LIGHT = ["#0045b2", "#a33505", "#007850", "#b4568f", "#aa8900", "#3d8fe7", "#5f1d00", "#3a3b42"];
const DARK = ["#5a82fa", "#f55e44", "#2ce39a", "#c67ecd", "#fb9b0b", "#bfeaff", "#eff47e", "#8c8d8c"];

// From low to high: each has contrast 3.5 with its ground, and each step has more of it than the one below, so that gray shows the order, too.
const RISING = { light: ["#a57c00", "#c2433f", "#7a1f6e", "#1f1250"], dark: ["#6f5fd6", "#c65aa8", "#f5875a", "#ffe27a"] };
const SMALLEST = 0.5; // the radius of the lowest step; the highest has 1.15
const LARGEST = 1.15;
const NOBODY = { light: "#8b8c92", dark: "#7f818b" };

/** Returns a polygon with its first corner on top; two radii in turn make a star.
 * @type {(corners: number, ...radii: number[]) => string}
 */
const polygon = (corners, ...radii) => `M${Array.from({ length: corners }, (_, i) => {
  const angle = (2 * Math.PI * i) / corners - Math.PI / 2;
  const radius = radii[i % radii.length];
  return `${(radius * Math.cos(angle)).toFixed(3)} ${(radius * Math.sin(angle)).toFixed(3)}`;
}).join("L")}Z`;

/** @type {(radius: number) => string} */
const circle = (radius) => `M${radius} 0A${radius} ${radius} 0 1 1-${radius} 0A${radius} ${radius} 0 1 1 ${radius} 0Z`;

/** Outlines around the origin, of about the same area as the circle of radius 1. */
export const SHAPES = [
  circle(1),
  "M-.88-.88H.88V.88H-.88Z",
  "M0-1.15L1.25.95H-1.25Z",
  polygon(4, 1.25),
  "M0 1.15L1.25-.95H-1.25Z",
  "M-.36-1.1H.36V-.36H1.1V.36H.36V1.1H-.36V.36H-1.1V-.36H-.36Z",
  polygon(6, 1.1),
  polygon(10, 1.4, 0.62),
];

/** @param {string | null} name */
const placeOf = (name) => classes().findIndex((one) => one.name === name);

/** @param {number} place */
export const shapeOf = (place) => (place < 0 || ranked() ? 0 : place % SHAPES.length);

const ranked = () => answers().kind === "ordered";

/** How high a step is, from 0 to 1.
 * @param {number} place
 */
const height = (place) => (classes().length > 1 ? place / (classes().length - 1) : 1);

/** Returns the colors of a height from 0 to 1.
 * @param {number} share
 */
export const rising = (share) => ({ light: between(RISING.light, share), dark: between(RISING.dark, share) });

/** @type {(stops: string[], share: number) => string} */
function between(stops, share) {
  const at = Math.min(1, Math.max(0, share)) * (stops.length - 1);
  const from = Math.min(stops.length - 2, Math.floor(at));
  const [low, high] = [stops[from], stops[from + 1]].map((color) => [1, 3, 5].map((i) => parseInt(color.slice(i, i + 2), 16)));
  return `#${low.map((part, i) => Math.round(part + (at - from) * (high[i] - part)).toString(16).padStart(2, "0")).join("")}`;
}

/** Returns the radius of what stands for a class, in units of its shape.
 * @param {number} place
 */
export const sizeOf = (place) => (ranked() && place >= 0 ? SMALLEST + (LARGEST - SMALLEST) * height(place) : 1);

/** Returns the colors of a class by its place among the classes; of the ninth and later ones by their name.
 * @param {number} place
 * @param {string} name
 */
export function colorsOf(place, name = "") {
  if (place < 0) return NOBODY;
  if (ranked()) return rising(height(place));
  if (place < LIGHT.length) return { light: LIGHT[place], dark: DARK[place] };
  const hue = hash(name) % 360;
  return { light: hsl(hue, 0.6, 0.38), dark: hsl(hue, 0.65, 0.7) };
}

/** Returns custom properties that the stylesheet turns into the theme's --tint.
 * @param {string | null} name
 */
export const tint = (name) => tinted(colorsOf(placeOf(name), name ?? ""));

/** @param {{ light: string, dark: string }} colors */
export const tinted = ({ light, dark }) => ({ "tint-light": light, "tint-dark": dark });

/** @param {string | null} name */
export function outline(name) {
  const place = name === null ? -1 : placeOf(name);
  return ranked() && place >= 0 ? circle(sizeOf(place)) : SHAPES[shapeOf(place)];
}

/** @type {(name: string | null, hollow?: boolean) => SVGElement} */
export const swatch = (name, hollow = false) => svg(
  "svg", { class: `swatch tinted${hollow ? " hollow" : ""}`, viewBox: "-1.6 -1.6 3.2 3.2", "aria-hidden": "true", vars: tint(name) },
  svg("path", { d: outline(name) }),
);

/** Shows a class: its mark, then its name.
 * @type {(name: string, hollow?: boolean) => HTMLElement}
 */
export const tag = (name, hollow = false) => h("span", { class: "tag" }, swatch(name, hollow), h("bdi", {}, name));

/** @param {string} text */
function hash(text) {
  let value = 2166136261;
  for (const letter of text) value = Math.imul(value ^ Number(letter.codePointAt(0)), 16777619) >>> 0;
  return value;
}

/**
 * @param {number} hue
 * @param {number} saturation
 * @param {number} lightness
 */
function hsl(hue, saturation, lightness) {
  const spread = saturation * Math.min(lightness, 1 - lightness);
  const part = (/** @type {number} */ n) => {
    const k = (n + hue / 30) % 12;
    const value = lightness - spread * Math.max(-1, Math.min(k - 3, 9 - k, 1));
    return Math.round(255 * value).toString(16).padStart(2, "0");
  };
  return `#${part(0)}${part(8)}${part(4)}`;
}
