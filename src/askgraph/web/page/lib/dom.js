/** Elements and their children. */
const SVG = "http://www.w3.org/2000/svg";

/** Makes an element. Keys that start with "on" are listeners, `vars` are custom properties; everything else is an attribute.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Attributes} attrs
 * @param {...Child} children
 */
export const h = (tag, attrs = {}, ...children) => fill(document.createElement(tag), attrs, children);

/** Makes an SVG element, likewise.
 * @template {keyof SVGElementTagNameMap} K
 * @param {K} tag
 * @param {Attributes} attrs
 * @param {...Child} children
 */
export const svg = (tag, attrs = {}, ...children) => fill(document.createElementNS(SVG, tag), attrs, children);

/** Wraps text of the data, whose direction the browser finds out.
 * @param {string} text
 * @param {Attributes} attrs
 */
export const data = (text, attrs = {}) => h("bdi", attrs, text);

/** Replaces the children of an element; if the third button had the keyboard focus, the new third button gets it.
 * @param {Element} element
 * @param {...Child} children
 */
export function clear(element, ...children) {
  const place = stops(element).findIndex((one) => one === document.activeElement);
  element.replaceChildren(...nodes(children));
  if (place >= 0 && !element.contains(document.activeElement)) stops(element)[place]?.focus({ preventScroll: true });
}

/** @type {(element: Element) => HTMLElement[]} */
const stops = (element) => [...element.querySelectorAll(/** @type {"input"} */ ("a, button, input, select, summary, [tabindex]"))];

/** Returns a function that tells whether its argument has changed since the last call. */
export function changes() {
  /** @type {string | null} */
  let last = null;
  return (/** @type {unknown} */ value) => {
    const now = JSON.stringify(value);
    const other = now !== last;
    last = now;
    return other;
  };
}

/** Finds an element of index.html.
 * @param {string} id
 */
export function byId(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`index.html has no element #${id}`);
  return found;
}

/**
 * @param {HTMLElement | SVGElement} element
 * @param {Record<string, string | number>} values
 */
function setVars(element, values) {
  for (const [name, value] of Object.entries(values)) element.style.setProperty(`--${name}`, String(value));
}

/**
 * @template {HTMLElement | SVGElement} E
 * @param {E} element
 * @param {Attributes} attrs
 * @param {Child[]} children
 */
function fill(element, attrs, children) {
  for (const [name, value] of Object.entries(attrs)) set(element, name, value);
  element.append(...nodes(children));
  return element;
}

/**
 * @param {HTMLElement | SVGElement} element
 * @param {string} name
 * @param {any} value
 */
function set(element, name, value) {
  if (name === "vars") setVars(element, value);
  else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
  else if (value === true) element.setAttribute(name, "");
  else if (wanted(value)) element.setAttribute(name, value);
}

/** @type {(children: Child[]) => (Node | string)[]} */
const nodes = (children) => children.flat(/** @type {1} */ (Infinity)).filter(wanted).map((one) => (one instanceof Node ? one : String(one)));

/** @param {unknown} value */
const wanted = (value) => value !== null && value !== undefined && value !== false;
