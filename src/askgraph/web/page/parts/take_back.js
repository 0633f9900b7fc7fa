/** The window in which all answers of a person since a time are taken back, or given back. */
import { get } from "../lib/api.js";
import { clear, h } from "../lib/dom.js";
import { say, sayError } from "../lib/notices.js";
import { save } from "../lib/session.js";
import { words } from "../lib/words.js";
import { openDialog } from "./dialog.js";

const PAUSE = 200; // milliseconds after the last change of the time before answers are counted

/** Opens the window; `changed` is called after answers were taken back or given back.
 * @param {string} person
 * @param {() => void} changed
 */
export function takeBackSince(person, changed) {
  const since = h("input", { type: "datetime-local", id: "since", value: midnight(), required: true, oninput: later });
  const gist = h("p", { role: "status" }, words.frame.oneMoment);
  const take = h("button", { class: "primary", disabled: true });
  const back = h("button", { class: "button", type: "button", hidden: true, onclick: giveBack });
  const { dialog } = openDialog(words.takeBack.title(person), {}, h("form", { class: "stacked", onsubmit: submit },
    h("label", { for: "since" }, words.takeBack.since), since, gist, h("p", { class: "soft" }, words.takeBack.means), h("p", { class: "ways" }, take, back)));
  const moment = () => new Date(since.value).toISOString();
  let timer = 0;
  let latest = 0;
  take.textContent = words.takeBack.take(0);
  count();

  function later() {
    take.disabled = true;
    clearTimeout(timer);
    timer = setTimeout(count, PAUSE);
  }

  /** Says how many answers it would be, before anything is taken back. */
  async function count() {
    const mine = ++latest;
    if (!since.value) {
      clear(gist, words.takeBack.noTime);
      return;
    }
    /** @type {{ answers: number, items: number, back: number } | string} */
    const found = await get("/api/people/since", { person, since: moment() }).catch((error) => error.message);
    if (mine !== latest) return;
    if (typeof found === "string") {
      clear(gist, new Date(since.value) > new Date() ? words.takeBack.toCome : found);
      return;
    }
    clear(gist, words.takeBack.would(found.answers, found.items));
    take.textContent = words.takeBack.take(found.answers);
    take.disabled = found.answers === 0;
    back.textContent = words.takeBack.giveBack(found.back);
    back.hidden = found.back === 0;
  }

  /** @param {SubmitEvent} event */
  async function submit(event) {
    event.preventDefault();
    if (take.disabled) return;
    dialog.close();
    let taken = 0;
    const done = (/** @type {{ taken: number }} */ reply) => words.takeBack.taken((taken = reply.taken));
    if (!await save("/api/people/undo", { person, since: moment() }, done, { refused: sayError })) return;
    say(words.takeBack.taken(taken), "done", giveBack);
    changed();
  }

  async function giveBack() {
    dialog.close();
    if (await save("/api/people/back", { person }, (reply) => words.takeBack.given(reply.given))) changed();
  }
}

/** Returns the beginning of this day, as a field takes it. */
function midnight() {
  const now = new Date();
  const two = (/** @type {number} */ n) => String(n).padStart(2, "0");
  return `${now.getFullYear()}-${two(now.getMonth() + 1)}-${two(now.getDate())}T00:00`;
}
