/** Names that are close enough to be taken for a slip of the keyboard. */
const ONE = 4; // letters of the shorter name from which on one slip is taken for one; shorter names are too alike
const TWO = 9; // letters from which on two are

/** Returns the name that was probably meant by one that is not among them; null where it is among them, or none is close.
 * @param {string} typed
 * @param {string[]} names
 */
export function nearest(typed, names) {
  if (names.includes(typed)) return null;
  const near = names.filter((name) => slips(typed, name) <= allowed(typed, name));
  return near.sort((a, b) => slips(typed, a) - slips(typed, b))[0] ?? null;
}

/** @type {(name: string) => string} */
const plain = (name) => name.toLowerCase().replace(/\s/g, "");

/** @type {(name: string) => string} */
const digits = (name) => name.replace(/\D/g, "");

/** Returns how many slips two names may differ by: none where their digits do, for "class 2" is not "class 1".
 * @param {string} a
 * @param {string} b
 */
function allowed(a, b) {
  const letters = Math.min(plain(a).length, plain(b).length);
  return digits(a) === digits(b) ? Number(letters >= ONE) + Number(letters >= TWO) : 0;
}

/** Counts the letters that are missing, too many, other ones or swapped with their neighbor; case and spaces do not count.
 * @type {(a: string, b: string) => number}
 */
function slips(a, b) {
  const [left, right] = [[...plain(a)], [...plain(b)]];
  const rows = [Array.from({ length: right.length + 1 }, (_, k) => k)];
  for (let i = 1; i <= left.length; i += 1) {
    rows.push([i]);
    for (let j = 1; j <= right.length; j += 1) {
      const swapped = i > 1 && j > 1 && left[i - 1] === right[j - 2] && left[i - 2] === right[j - 1];
      rows[i].push(Math.min(rows[i - 1][j] + 1, rows[i][j - 1] + 1, rows[i - 1][j - 1] + Number(left[i - 1] !== right[j - 1]),
        swapped ? rows[i - 2][j - 2] + 1 : Infinity));
    }
  }
  return rows[left.length][right.length];
}
