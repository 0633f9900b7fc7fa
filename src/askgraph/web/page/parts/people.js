/** The name of the person at this page, and who else is labeling. */
import { rename } from "../lib/session.js";
import { openDialog } from "./dialog.js";
import { byId, clear, data, h } from "../lib/dom.js";
import { keep, look } from "../lib/storage.js";
import { store, watch } from "../lib/store.js";
import { words } from "../lib/words.js";

const NAME = "askgraph.who";
const LONGEST = 60; // characters of a name
const place = byId("people");

/** Returns the name from the address (`?who=ann`), which is remembered, or the remembered one. */
export function whoAmI() {
  const address = new URL(location.href);
  const given = address.searchParams.get("who")?.trim().slice(0, LONGEST);
  if (given) keep(NAME, given);
  if (address.searchParams.has("who")) {
    address.searchParams.delete("who");
    history.replaceState(null, "", address);
  }
  return look(NAME) || "me";
}

/** Calls `then` once the person has a name; asks for it if there is none yet.
 * @param {() => void} then
 */
export const named = (then) => look(NAME) || store.me?.who ? then() : askName(then);

/** Shows the person's name, who else is here, and the button for help.
 * @param {() => void} openHelp
 */
export function showPeople(openHelp) {
  const me = h("button", { class: "plain me", title: words.people.change, onclick: () => (store.me?.who ? sayWho(store.me) : askName()) });
  const others = h("span", { class: "others-here" });
  clear(place, others, me, h("button", { class: "plain help", "aria-label": words.people.help, onclick: openHelp }, "?"));
  const draw = () => {
    const here = (store.state?.people ?? []).filter((one) => one.active && one.name !== store.who);
    clear(me, data(store.who));
    const names = here.length < 3 ? here.map((one) => one.name).join(words.people.and) : words.people.others(here.length);
    clear(others, here.length > 0 && [h("span", { class: "long" }, words.people.with(data(names))), h("span", { class: "brief" }, `+${here.length}`)]);
    others.title = here.map((one) => one.name).join(", ");
  };
  watch(draw);
  draw();
}

/** Says who is logged in and what that person may do; another one has to log in.
 * @param {Me} me
 */
function sayWho({ who, rank }) {
  openDialog(words.people.loggedIn, {}, h("p", {}, words.people.asRole(data(who ?? ""), rank === "labeler" ? "labeler" : "lead")),
    h("p", { class: "soft" }, rank === "labeler" ? words.people.leadsOnly : words.people.leadsMay),
    h("p", { class: "ways" }, h("a", { class: "button", href: "/login" }, words.people.logInAnew)));
}

function askName(then = () => {}) {
  const input = h("input", { id: "who", value: store.who, maxlength: LONGEST, autocomplete: "name", required: true });
  const { dialog } = openDialog(words.people.yourName, { onclose: then },
    h("form", { class: "stacked", onsubmit: submit },
      h("label", { for: "who" }, words.people.savedUnder), input, h("button", { class: "primary" }, words.people.use)));
  input.select();

  /** @param {SubmitEvent} event */
  function submit(event) {
    event.preventDefault();
    const who = input.value.trim();
    if (!who) return;
    keep(NAME, who);
    dialog.close();
    rename(who);
  }
}
