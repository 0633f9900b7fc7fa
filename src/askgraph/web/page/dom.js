const SVG = "http://www.w3.org/2000/svg";

/** An element. Keys that start with "on" are listeners, `vars` are custom properties; everything else is an attribute. */
export const h = (tag, attrs = {}, ...children) => fill(document.createElement(tag), attrs, children);

/** The same for SVG. */
export const svg = (tag, attrs = {}, ...children) => fill(document.createElementNS(SVG, tag), attrs, children);

/** Text that came with the data: the browser finds its direction. */
export const data = (text, attrs = {}) => h("bdi", attrs, text);

export const clear = (element, ...children) => element.replaceChildren(...children.flat().filter(wanted));

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
