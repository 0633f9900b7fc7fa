/** Returns the key that was pressed; null while typing, with a modifier, or for a key that is held down.
 * @param {KeyboardEvent} event
 */
export function keyOf(event) {
  if (event.ctrlKey || event.altKey || event.metaKey || event.repeat || event.isComposing || typing(event)) return null;
  return event.key.length === 1 ? letter(event) : event.key;
}

const FIELDS = "input:not([type=checkbox]), textarea, select, [contenteditable]";

const FIGURE = /^[\d.,−-]$/;

/** Whether a key is a part of a number.
 * @param {string} key
 */
export const isFigure = (key) => FIGURE.test(key);

/** Whether an element is an empty field for a number: keys that are no part of one work there as everywhere.
 * @param {Element | null} element
 */
export const isEmptyFigures = (element) => element instanceof HTMLInputElement && element.matches("[data-figures]") && element.value === "";

/** @param {KeyboardEvent} event */
function typing({ target, key }) {
  const field = target instanceof Element ? target.closest(FIELDS) : null;
  if (!field?.matches("[data-figures]")) return field !== null;
  return key !== "Enter" && key !== "Escape" && (isFigure(key) || !isEmptyFigures(field) || (key === "Backspace" && field.matches("[data-edited]")));
}

/** Returns the key without Shift.
 * @param {KeyboardEvent} event
 */
export const unshifted = (event) => (/^Digit\d$/.test(event.code) ? event.code.slice(5) : letter(event));

/** Reads a letter or digit. On keyboards whose unshifted digits are signs, or whose letters are not Latin, the place of the key decides.
 * @param {KeyboardEvent} event
 */
function letter({ key, code, shiftKey }) {
  const foreign = key.charCodeAt(0) > 127;
  if (!shiftKey && /^Digit\d$/.test(code) && !/[0-9a-z]/i.test(key)) return code.slice(5);
  if (foreign && /^Key[A-Z]$/.test(code)) return code.slice(3).toLowerCase();
  return key.toLowerCase();
}

/** Keeps a held Enter or space from clicking a button again and again.
 * @param {KeyboardEvent} event
 */
export function stopHeldButtons(event) {
  const presses = event.key === "Enter" || event.key === " ";
  if (event.repeat && presses && event.target instanceof Element && event.target.closest("button, a, summary")) event.preventDefault();
}
