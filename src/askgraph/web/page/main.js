import { begin, ask, poll, undo } from "./asking.js";
import { dialogOpen } from "./dialog.js";
import { clear, h } from "./dom.js";
import { openHelp } from "./help.js";
import { historyView } from "./history.js";
import { keyOf, stopHeldButtons } from "./keys.js";
import { mapView } from "./map.js";
import { nudge } from "./outbox.js";
import { named, showPeople, whoAmI } from "./people.js";
import { progressView } from "./progress.js";
import { openWhy, questionView } from "./question.js";
import { store, update, watch } from "./store.js";
import { tableView } from "./table.js";

const POLL = 2_000;
const RENEW = 60_000;
const VIEWS = {
  question: { name: "Question", key: "Esc", make: questionView },
  table: { name: "Table", key: "t", make: tableView },
  map: { name: "Map", key: "m", make: mapView },
  progress: { name: "Progress", key: "p", make: progressView },
  history: { name: "History", key: "h", make: historyView },
};

const main = document.getElementById("main");
const nav = document.getElementById("views");
const project = document.getElementById("project");
let view = null;

const go = (name) => { location.hash = name; };

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
  view?.leave?.();
  clear(main);
  document.body.dataset.view = name;
  view = VIEWS[name].make(main);
  for (const link of nav.children) link.setAttribute("aria-current", link.hash === `#${name}` ? "page" : "false");
  document.title = name === "question" ? "askgraph" : `${VIEWS[name].name} · askgraph`;
  if (document.activeElement?.closest("nav")) document.activeElement.blur();
}

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
