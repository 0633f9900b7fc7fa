/** The language of the page: the one chosen here before, else the browser's, else English. */
import { keep, look } from "./storage.js";

const CHOSEN = "askgraph.language";
export const LANGUAGES = /** @type {const} */ (["en", "de"]);

/** @type {(code: string | null) => Language | undefined} */
const known = (code) => LANGUAGES.find((one) => one === code?.slice(0, 2).toLowerCase());

/** @type {Language} */
export const language = known(look(CHOSEN)) ?? navigator.languages.map(known).find(Boolean) ?? "en";

/** Shows the page in another language from now on.
 * @param {string} code
 */
export function speak(code) {
  keep(CHOSEN, code);
  location.reload();
}
