/** Pictures that may come next: fetched and decoded while a person looks at the card, so that the next card is painted whole. */
import { get } from "./api.js";

/** @type {Map<string, HTMLImageElement>} */
let coming = new Map();
let latest = 0;

/** Fetches the pictures that are likely to be shown next. Where that fails, a picture is fetched when it is shown. */
export async function fetchAhead() {
  latest += 1;
  const mine = latest;
  /** @type {{ pictures: string[] }} */
  const { pictures } = await get("/api/ahead").catch(() => ({ pictures: [] }));
  if (mine === latest) coming = new Map(pictures.map((address) => [address, coming.get(address) ?? fetched(address)]));
}

/** Returns an image with the picture at an address, which is loaded already if it was fetched ahead.
 * @param {string} address
 */
export function imageOf(address) {
  const image = coming.get(address) ?? fetched(address);
  coming.delete(address); // an element is in one place
  return image;
}

/** @param {string} address */
function fetched(address) {
  const image = new Image();
  image.src = address;
  image.decode().catch(() => {}); // a picture that cannot be read says so where it is shown
  return image;
}
