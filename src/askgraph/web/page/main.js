/** The frame of the page: views, keys, and regular requests to the server. */
import { begin, ask, meet, poll, undo } from "./lib/session.js";
import { dialogKey, dialogOpen } from "./parts/dialog.js";
import { byId, clear, h } from "./lib/dom.js";
import { groupsView } from "./views/groups.js";
import { guidelinesView } from "./views/guidelines.js";
import { openHelp } from "./parts/help.js";
import { historyView } from "./views/history.js";
import { keyOf, stopHeldButtons } from "./lib/keys.js";
import { mapView } from "./views/map.js";
import { nudge } from "./lib/outbox.js";
import { named, showPeople, whoAmI } from "./parts/people.js";
import { reviewView } from "./views/review.js";
import { welcomeWithGuidelines } from "./parts/welcome_guidelines.js";
import { progressView } from "./views/progress.js";
import { openWhy, questionView } from "./views/question.js";
import { mayLead, store, update, watch } from "./lib/store.js";
import { tableView } from "./views/table.js";
import { language } from "./lib/language.js";
import { words } from "./lib/words.js";

const POLL = 2_000; // milliseconds between requests for the figures
const RENEW = 60_000; // milliseconds between requests that keep the item on the screen from being given to others
/** @type {Record<ViewName, { key: string, make: MakeView }>} */
const VIEWS = {
  question: { key: "Esc", make: questionView },
  groups: { key: "g", make: groupsView },
  table: { key: "t", make: tableView },
  map: { key: "m", make: mapView },
  review: { key: "r", make: reviewView },
  progress: { key: "p", make: progressView },
  guidelines: { key: "i", make: guidelinesView },
  history: { key: "h", make: historyView },
};

/** The first views of those for looking and of those for leading: they stand apart from the ones for labeling. */
const APART = ["table", "progress"];
const viewNames = /** @type {ViewName[]} */ (Object.keys(VIEWS));
const main = byId("main");
const nav = byId("views");
const project = byId("project");
/** @type {View} */
let view = {};

const go = (/** @type {string} */ name) => { location.hash = name; };

/** Keys that work in every view.
 * @type {Record<string, () => void>}
 */
const GLOBAL = {
  t: () => go("table"), m: () => go("map"), p: () => go("progress"), h: () => go("history"), Escape: () => go("question"),
  g: () => go("groups"), r: () => go("review"), i: () => go("guidelines"),
  "?": openHelp, u: takeBack, Backspace: takeBack, w: () => { openWhy(); go("question"); },
};

function takeBack() {
  go("question");
  undo();
}

/** Gives the keyboard to the content. The address stays, for what follows # in it is the view.
 * @param {Event} event
 */
function skip(event) {
  event.preventDefault();
  main.focus();
}

function route() {
  const wanted = /** @type {ViewName} */ (location.hash.slice(1));
  const name = Object.hasOwn(VIEWS, wanted) ? wanted : "question";
  view.leave?.();
  clear(main);
  document.body.dataset.view = name;
  view = VIEWS[name].make(main);
  for (const link of nav.querySelectorAll("a")) {
    const here = link.hash === `#${name}`;
    link.setAttribute("aria-current", here ? "page" : "false");
    if (here) link.scrollIntoView({ block: "nearest", inline: "nearest" }); // on a phone the views may not fit
  }
  document.title = name === "question" ? "askgraph" : words.frame.title(words.views[name]);
  const focused = document.activeElement;
  if (focused instanceof HTMLElement && focused.closest("nav")) focused.blur();
}

/** @param {KeyboardEvent} event */
function press(event) {
  stopHeldButtons(event);
  const key = keyOf(event);
  if (key === null) return;
  const inside = dialogOpen();
  if (inside ? dialogKey(key, event) : view.key?.(key, event)) event.preventDefault();
  else if (!inside && Object.hasOwn(GLOBAL, key)) {
    event.preventDefault();
    GLOBAL[key]();
  }
}

/** Begins, once the page knows who is here; what a labeler sees is drawn for a labeler. */
async function enter() {
  const me = await meet();
  if (!me) {
    setTimeout(enter, POLL);
    return;
  }
  if (!mayLead()) route();
  named(() => {
    begin();
    setTimeout(beat, POLL);
  });
}

async function beat() {
  if (!document.hidden) await poll();
  setTimeout(beat, POLL);
}

function back() {
  if (document.hidden) return;
  nudge();
  ask();
}

document.documentElement.lang = language;
nav.setAttribute("aria-label", words.frame.views);
byId("skip").textContent = words.frame.skip;
byId("skip").addEventListener("click", skip);
clear(nav, viewNames.map((name) => h("a", { href: `#${name}`, class: APART.includes(name) && "apart", title: words.frame.key(words.views[name], VIEWS[name].key) }, words.views[name])));
update({ who: whoAmI() });
showPeople(openHelp);
welcomeWithGuidelines();
watch(() => { project.textContent = store.state?.project ?? "askgraph"; });
addEventListener("hashchange", route);
addEventListener("keydown", press);
addEventListener("online", nudge);
document.addEventListener("visibilitychange", back);
setInterval(() => document.hidden || ask(), RENEW);
route();
enter();
