/** The guidelines at the start, and word of a new version later. */
import { get } from "../lib/api.js";
import { openDialog } from "./dialog.js";
import { h } from "../lib/dom.js";
import { keep, look } from "../lib/storage.js";
import { markdown } from "./markdown.js";
import { say, sayError } from "../lib/notices.js";
import { store, watch } from "../lib/store.js";
import { words } from "../lib/words.js";

let begun = false;

const seen = () => `askgraph.guidelines.${store.state?.uid}`;

/** Notes that this version of the guidelines was seen.
 * @param {number} version
 */
export const noteSeen = (version) => keep(seen(), String(version));

/** Shows the guidelines once to whoever has not seen them, and says so when they change later. */
export function welcomeWithGuidelines() {
  watch(() => {
    const version = store.state?.guidelines ?? 0;
    if (!store.state) return;
    const first = !begun;
    begun = true;
    if (!version || look(seen()) === String(version)) return;
    noteSeen(version);
    if (first) show();
    else say(words.guidelines.changed, "done");
  });
}

async function show() {
  const found = await get("/api/guidelines").catch(sayError);
  if (!found?.text) return;
  const { dialog } = openDialog(words.guidelines.title, {}, h("div", { class: "prose" }, markdown(found.text)),
    h("p", { class: "ways" }, h("button", { class: "primary", autofocus: true, onclick: () => dialog.close() }, words.guidelines.begin)));
}
