const SVG = "http://www.w3.org/2000/svg";

/** An element. Keys that start with "on" are listeners, `vars` are custom properties; everything else is an attribute. */
export const h = (tag, attrs = {}, ...children) => fill(document.createElement(tag), attrs, children);

/** The same for SVG. */
export const svg = (tag, attrs = {}, ...children) => fill(document.createElementNS(SVG, tag), attrs, children);

/** Text that came with the data: the browser finds its direction. */
export const data = (text, attrs = {}) => h("bdi", attrs, text);

/** Gives the element new children; who stood on the third button with the keyboard stands on the third button afterwards. */
export function clear(element, ...children) {
  const place = stops(element).indexOf(document.activeElement);
  element.replaceChildren(...children.flat(2).filter(wanted));
  if (place >= 0 && !element.contains(document.activeElement)) stops(element)[place]?.focus({ preventScroll: true });
}

const stops = (element) => [...element.querySelectorAll("a, button, input, select, summary, [tabindex]")];

/** A function that says whether its value is another one than the last time. */
export function changes() {
  let last = null;
  return (value) => {
    const now = JSON.stringify(value);
    const other = now !== last;
    last = now;
    return other;
  };
}

export function vars(element, values) {
  for (const [name, value] of Object.entries(values)) element.style.setProperty(`--${name}`, value);
  return element;
}

function fill(element, attrs, children) {
  for (const [name, value] of Object.entries(attrs)) set(element, name, value);
  element.append(...children.flat(2).filter(wanted));
  return element;
}

function set(element, name, value) {
  if (name === "vars") vars(element, value);
  else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
  else if (value === true) element.setAttribute(name, "");
  else if (wanted(value)) element.setAttribute(name, value);
}

const wanted = (value) => value !== null && value !== undefined && value !== false;
