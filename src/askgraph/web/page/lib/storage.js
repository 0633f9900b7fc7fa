/** Texts by name that survive a reload: in localStorage if the browser has it and it is not full, else in memory. */
/** @type {Map<string, string>} */
const memory = new Map();

/**
 * @param {string} name
 * @param {string} value
 */
export function keep(name, value) {
  memory.set(name, value);
  try {
    localStorage.setItem(name, value);
  } catch { /* a private window, or full: memory has it */ }
}

/** @param {string} name */
export function drop(name) {
  memory.delete(name);
  try {
    localStorage.removeItem(name);
  } catch { /* as above */ }
}

/** @param {string} name */
export function look(name) {
  try {
    return localStorage.getItem(name) ?? memory.get(name) ?? null;
  } catch {
    return memory.get(name) ?? null;
  }
}

/** Lists the names that begin with a prefix.
 * @param {string} prefix
 */
export function names(prefix) {
  /** @type {string[]} */
  let stored = [];
  try {
    stored = Object.keys(localStorage);
  } catch { /* as above */ }
  return [...new Set([...stored, ...memory.keys()])].filter((name) => name.startsWith(prefix));
}
