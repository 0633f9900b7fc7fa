/** localStorage where there is one and it has room, else memory. */
const memory = new Map();

export function keep(name, value) {
  memory.set(name, value);
  try {
    localStorage.setItem(name, value);
  } catch { /* private window or full: memory holds it */ }
}

export function drop(name) {
  memory.delete(name);
  try {
    localStorage.removeItem(name);
  } catch { /* as above */ }
}

export function look(name) {
  try {
    return localStorage.getItem(name) ?? memory.get(name) ?? null;
  } catch {
    return memory.get(name) ?? null;
  }
}

export function names(prefix) {
  let stored = [];
  try {
    stored = Object.keys(localStorage);
  } catch { /* as above */ }
  return [...new Set([...stored, ...memory.keys()])].filter((name) => name.startsWith(prefix));
}
