/** The frame of the page: views, keys, and regular requests to the server. */
import { begin, ask, poll, undo } from "./lib/session.js";
import { dialogOpen } from "./parts/dialog.js";
import { byId, clear, h } from "./lib/dom.js";
import { openHelp } from "./parts/help.js";
import { historyView } from "./views/history.js";
import { keyOf, stopHeldButtons } from "./lib/keys.js";
import { mapView } from "./views/map.js";
import { nudge } from "./lib/outbox.js";
import { named, showPeople, whoAmI } from "./parts/people.js";
import { progressView } from "./views/progress.js";
import { openWhy, questionView } from "./views/question.js";
import { store, update, watch } from "./lib/store.js";
import { tableView } from "./views/table.js";

const POLL = 2_000; // milliseconds between requests for the figures
const RENEW = 60_000; // milliseconds between requests that keep the item on the screen from being given to others
/** @type {Record<string, { name: string, key: string, make: MakeView }>} */
const VIEWS = {
  question: { name: "Question", key: "Esc", make: questionView },
  table: { name: "Table", key: "t", make: tableView },
  map: { name: "Map", key: "m", make: mapView },
  progress: { name: "Progress", key: "p", make: progressView },
  history: { name: "History", key: "h", make: historyView },
};

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
  "?": openHelp, u: takeBack, Backspace: takeBack, w: () => { openWhy(); go("question"); },
};

function takeBack() {
  go("question");
  undo();
}

function route() {
  const wanted = location.hash.slice(1);
  const name = Object.hasOwn(VIEWS, wanted) ? wanted : "question";
  view.leave?.();
  clear(main);
  document.body.dataset.view = name;
  view = VIEWS[name].make(main);
  for (const link of nav.querySelectorAll("a")) link.setAttribute("aria-current", link.hash === `#${name}` ? "page" : "false");
  document.title = name === "question" ? "askgraph" : `${VIEWS[name].name} · askgraph`;
  const focused = document.activeElement;
  if (focused instanceof HTMLElement && focused.closest("nav")) focused.blur();
}

/** @param {KeyboardEvent} event */
function press(event) {
  stopHeldButtons(event);
  const key = dialogOpen() ? null : keyOf(event);
  if (key === null) return;
  if (view.key?.(key)) event.preventDefault();
  else if (Object.hasOwn(GLOBAL, key)) {
    event.preventDefault();
    GLOBAL[key]();
  }
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

clear(nav, Object.entries(VIEWS).map(([name, { name: words, key }]) => h("a", { href: `#${name}`, title: `${words} (${key})` }, words)));
update({ who: whoAmI() });
showPeople(openHelp);
watch(() => { project.textContent = store.state?.project ?? "askgraph"; });
addEventListener("hashchange", route);
addEventListener("keydown", press);
addEventListener("online", nudge);
document.addEventListener("visibilitychange", back);
setInterval(() => document.hidden || ask(), RENEW);
route();
named(() => {
  begin();
  setTimeout(beat, POLL);
});
