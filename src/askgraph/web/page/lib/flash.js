/** A sign that a key was pressed too early and did nothing. */
const SHOWN = 350; // milliseconds

/** Marks an element for a moment; without motion where a person wants none.
 * @param {Element} element
 */
export function flash(element) {
  element.classList.add("swallowed");
  setTimeout(() => element.classList.remove("swallowed"), SHOWN);
}
