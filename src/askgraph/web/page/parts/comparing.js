/** The line above the card while the items are compared: what is being done, how far it is, and what is asked until then. */
import { announce } from "../lib/notices.js";
import { clear, h } from "../lib/dom.js";
import { store } from "../lib/store.js";
import { translated } from "../lib/format.js";
import { words } from "../lib/words.js";

export function comparingLine() {
  const text = h("span", {});
  const stage = h("span", { class: "doing" });
  const bar = h("progress", { max: 1, "aria-label": words.comparing.bar });
  const element = h("div", { class: "comparing" }, text, h("div", { class: "far" }, stage, bar));
  let begun = false;

  function draw() {
    const said = store.state?.comparing ?? null;
    element.hidden = said === null;
    if (begun && !said && store.state) announce(words.comparing.done);
    begun = said !== null;
    if (!said) return;
    clear(text, said.failed ? words.comparing.failed(translated(said.failed)) : words.comparing.meanwhile);
    clear(stage, said.stage && !said.failed ? translated(said.stage) : "");
    bar.hidden = said.failed !== null;
    if (said.share === null) bar.removeAttribute("value");
    else bar.value = said.share;
  }

  return { element, draw };
}
