/** The first page: a project is gone on with, or files are dropped, ten rows are seen, columns chosen, and a project comes of it. */
import { Failed, get, post } from "./lib/api.js";
import { byId, clear, data, h } from "./lib/dom.js";
import { percent, translated } from "./lib/format.js";
import { language } from "./lib/language.js";
import { words } from "./lib/words.js";
import { AnswerChoice } from "./start/answers.js";
import { Heads, frame } from "./start/columns.js";
import { dropped, upload, visible } from "./start/files.js";
import { bare, projects } from "./start/projects.js";

const AGAIN = 400; // milliseconds between two looks whether the project is there
const LONG = 600_000; // milliseconds that the server may take to read a large file
const THUMB = 120; // pixels of a picture in the sample, at its larger side
const NOT_TEXT = / is not \S+ text; save the file as UTF-8| text\?$|give text in UTF-8$/; // what the server says of text in an encoding it did not find out
const main = byId("main");
const say = words.start;
let asked = 0; // how often a file was read in another way
document.documentElement.lang = language;

/** @typedef {import("./start/columns.js").Table} Table */
/** @typedef {import("./start/files.js").Dropped} Dropped */
/** @typedef {{ sheet: string | null, encoding: string | null }} Reading how a table is read, where a person says it */
/** @typedef {{ name: string, labels: number, items: number, rows: number }} There a project that has the rows that were dropped */
/** @typedef {Table & { kind: "table" | "graph" | "pictures" | "project", name: string, count: number, notes?: string[], sheets?: string[], sheet?: string | null, encoding?: string | null, there?: There | null, files: Dropped[] }} Seen */

welcome();
// a file that is dropped beside the zone is meant for it: the browser would leave this page and show the file
document.addEventListener("dragover", (event) => event.preventDefault());
document.addEventListener("drop", async (event) => {
  event.preventDefault();
  if (document.querySelector(".drop")) take(await dropped(event));
});

/** Offers the projects of the folder, and asks for files; `wrong` says what was wrong with those before.
 * @param {string} [wrong]
 */
function welcome(wrong) {
  const files = chooser({});
  const folder = chooser({ webkitdirectory: true });
  /** @type {HTMLElement} */
  const zone = h("section", {
    class: "drop",
    ondragover: () => zone.classList.add("over"),
    ondragleave: () => zone.classList.remove("over"),
  },
  h("p", { class: "invite" }, say.drop),
  h("div", { class: "choices" },
    h("button", { class: "primary", onclick: () => files.click() }, say.files),
    h("button", { class: "button", onclick: () => folder.click() }, say.folder)),
  files, folder);
  clear(main, h("h1", {}, say.title), wrong && alert(wrong), projects(goOn), h("ol", { class: "steps" }, say.steps.map((one) => h("li", {}, one))), zone,
    h("p", { class: "soft" }, say.formats), h("p", { class: "soft" }, say.stays));
}

/** @type {(attributes: Attributes) => HTMLInputElement} */
function chooser(attributes) {
  /** @type {HTMLInputElement} */
  const input = h("input", { type: "file", multiple: true, hidden: true, "aria-hidden": "true", ...attributes,
    onchange: () => take([...input.files ?? []].map((file) => ({ file, name: file.webkitRelativePath || file.name }))) });
  return input;
}

/** @param {string} text */
const alert = (text) => h("p", { class: "wrong", role: "alert" }, translated(text));

/** @param {unknown} error */
const reason = (error) => (error instanceof Error ? error.message : String(error));

/** Goes on with a project of the folder.
 * @param {string} name
 */
async function goOn(name) {
  clear(main, h("h1", {}, bare(name)), h("p", { role: "status", class: "breathing" }, say.opening));
  try {
    await follow(await post("/api/start/open", { name }, LONG));
  } catch (error) {
    welcome(reason(error));
  }
}

/** Goes where a project is open: here, or at another server of this machine.
 * @param {{ opening?: boolean, port?: number, at?: string }} said
 */
async function follow({ port, at }) {
  if (at) return welcome(say.openAt(at));
  if (port) return location.replace(`http://${location.hostname}:${port}/${whoseQuery()}`);
  await get("/api/start/made");
  await enter();
}

const whoseQuery = () => {
  const who = new URLSearchParams(location.search).get("who") ?? "";
  return who ? `?${new URLSearchParams({ who })}` : "";
};

/** Sends files to the server on this machine, part by part, and shows what they are.
 * @param {Dropped[]} all
 */
async function take(all) {
  const files = visible(all);
  if (!files.length) return;
  const shown = h("p", { role: "status" }, say.sending(percent(0)));
  clear(main, h("h1", {}, say.title), shown);
  try {
    const id = await upload(files, (share) => { shown.textContent = say.sending(percent(share)); });
    shown.textContent = say.looking;
    await inspect(id, files, { sheet: null, encoding: null });
  } catch (error) {
    welcome(reason(error));
  }
}

/** Shows what files are, read in this way; of text that cannot be read so, it asks how else.
 * @type {(id: string, files: Dropped[], reading: Reading) => Promise<void>}
 */
async function inspect(id, files, reading) {
  try {
    const seen = await look(id, files, reading);
    if (seen.kind === "project") await follow(await post("/api/start/take", { upload: id }, LONG));
    else if (seen.there) offerThere(id, seen, seen.there, reading);
    else choose(id, seen, reading);
    main.focus({ preventScroll: true });
  } catch (error) {
    const wrong = reason(error);
    if (!NOT_TEXT.test(wrong)) return welcome(wrong);
    clear(main, h("h1", {}, say.title), alert(wrong),
      h("label", { class: "way" }, say.encoding, select([["", say.otherwise], ...Object.entries(say.encodings)], reading.encoding ?? "", (encoding) => inspect(id, files, { ...reading, encoding }))),
      h("div", { class: "choices" }, h("button", { class: "button", onclick: () => welcome() }, say.again)));
  }
}

/** @type {(id: string, files: Dropped[], reading: Reading) => Promise<Seen>} */
const look = async (id, files, reading) => ({ more: [], ...await post("/api/start/look", { upload: id, ...reading }, LONG), files });

/** Offers the project that has these rows already.
 * @type {(id: string, seen: Seen, there: There, reading: Reading) => void}
 */
function offerThere(id, seen, there, reading) {
  const name = bare(there.name);
  clear(main, h("h1", {}, say.thereTitle(name)),
    h("p", {}, say.there(there.rows, seen.count, there.labels, name)),
    h("div", { class: "choices" },
      h("button", { class: "primary", onclick: () => goOn(there.name) }, say.goOn),
      seen.kind === "table" && !seen.by_pictures && there.rows < seen.count
        && h("button", { class: "button", onclick: () => work("/api/start/add", { upload: id, name: there.name, encoding: reading.encoding, sheet: seen.sheet ?? null }, say.adding, welcome) }, say.addNew(seen.count - there.rows)),
      h("button", { class: "button", onclick: () => choose(id, seen, reading) }, say.makeNew),
      h("button", { class: "plain", onclick: () => welcome() }, say.again)));
}

/** Shows ten rows, and asks what the columns are for.
 * @param {string} id
 * @param {Seen} seen
 * @param {Reading} reading
 */
function choose(id, seen, reading) {
  const name = h("input", { value: seen.name, required: true, maxlength: 100 });
  const folders = h("input", { type: "checkbox" });
  const answers = new AnswerChoice();
  const heads = seen.kind === "table" ? new Heads(seen, (labels) => answers.offer(labels?.name ?? "", labels?.answers ?? null)) : null;
  /** @type {HTMLFormElement} */
  const form = h("form", { onsubmit: (/** @type {Event} */ event) => {
    event.preventDefault();
    if (heads && !heads.compares) return show(say.nothingCompared);
    work("/api/start/make", { upload: id, project: name.value.trim() || seen.name, kind: seen.kind, ...(heads?.said ?? { label: folders.checked ? "folder" : null }),
      ...answers.said, encoding: reading.encoding, sheet: seen.sheet ?? null }, say.making, show);
  } },
  h("label", {}, say.name, name),
  seen.kind === "pictures" && h("label", { class: "mark-column" }, folders, say.folders),
  answers.element,
  h("div", { class: "choices" }, h("button", { class: "primary" }, say.go), h("button", { class: "button", type: "button", onclick: () => welcome() }, say.again)));
  show(null);

  /** Shows the choices, as they are, and what was wrong with them, or with another way to read the file.
   * @param {string | null} wrong
   * @param {string | null} [unread]
   */
  function show(wrong, unread = null) {
    clear(main, h("h1", {}, say.kinds[/** @type {"table" | "graph" | "pictures"} */ (seen.kind)]),
      h("div", { class: "reading" }, h("p", { class: "soft" }, say.rows(seen.rows.length, seen.count)), ways()), unread && alert(unread),
      heads && h("div", {}, h("h2", {}, say.compare), h("p", { class: "soft" }, say.compareHow)),
      heads ? [heads.element, heads.restLine, heads.summary, heads.offers] : sample(seen), form, wrong && alert(wrong));
    rest(false);
  }

  /** Lets nothing be chosen, but how the file is read, while it is read again: what is chosen now would be lost.
   * @param {boolean} resting
   */
  function rest(resting) {
    for (const one of main.children) if (one instanceof HTMLElement && !one.matches(".reading")) one.inert = resting;
  }

  /** How the file was read, and how else it could be. */
  function ways() {
    const { sheets = [], encoding = null, notes = [] } = seen;
    const guessed = encoding !== null && (encoding !== "utf-8" || reading.encoding !== null);
    return [
      sheets.length > 1 && h("label", { class: "way" }, say.sheet, select(sheets.map((one) => [one, one]), seen.sheet ?? "", (sheet) => again({ ...reading, sheet }))),
      notes.map((note) => h("p", { class: "note" }, translated(note))),
      guessed && h("label", { class: "way" }, say.encoding, select(Object.entries(encoding in say.encodings ? say.encodings : { [encoding]: encoding, ...say.encodings }), encoding, (chosen) => again({ ...reading, encoding: chosen }))),
    ];
  }

  /** Looks at the file again, read in another way.
   * @param {Reading} other
   */
  async function again(other) {
    const mine = ++asked;
    const place = lists().findIndex((one) => one === document.activeElement);
    rest(true);
    const found = await look(id, seen.files, other).catch(reason);
    if (mine !== asked) return; // arrow keys have gone on in the list
    if (typeof found === "string") show(null, found);
    else choose(id, found, other);
    lists()[place]?.focus();
  }
}

/** The lists of ways in which a file can be read. */
const lists = () => [...main.querySelectorAll(/** @type {"select"} */ (".way select"))];

/** @type {(options: string[][], chosen: string, change: (value: string) => void) => HTMLSelectElement} */
function select(options, chosen, change) {
  /** @type {HTMLSelectElement} */
  const found = h("select", { onchange: () => load() }, options.map(([value, text]) => h("option", { value: value ?? "" }, text)));
  found.value = chosen;
  const load = () => change(found.value); // reads again, and writes nothing
  return found;
}

/** Shows what is not a table: pictures, or names.
 * @param {Seen} seen
 */
const sample = ({ kind, columns, rows, count, files }) => frame(kind === "pictures"
  ? h("ul", { class: "thumbs" }, rows.map(([name]) => thumb(name ?? "", files)))
  : h("table", {}, h("thead", {}, h("tr", {}, columns.map((one) => h("th", { scope: "col" }, data(one.name))))),
    h("tbody", {}, rows.map((row) => h("tr", {}, row.map((cell) => h("td", {}, data(cell))))))), say.rows(rows.length, count));

/** Shows a picture from the file itself: nothing is loaded from an address. One that cannot be drawn has only its name.
 * @type {(name: string, files: Dropped[]) => HTMLElement}
 */
function thumb(name, files) {
  const canvas = h("canvas", { "aria-hidden": "true" });
  const file = files.find((one) => one.name === name)?.file;
  if (file) createImageBitmap(file).then((drawn) => draw(canvas, drawn), () => canvas.remove());
  return h("li", {}, canvas, data(name));
}

/** @type {(canvas: HTMLCanvasElement, picture: ImageBitmap) => void} */
function draw(canvas, picture) {
  const scale = THUMB / Math.max(picture.width, picture.height);
  canvas.width = Math.round(picture.width * scale);
  canvas.height = Math.round(picture.height * scale);
  canvas.getContext("2d")?.drawImage(picture, 0, 0, canvas.width, canvas.height);
}

/** Lets the server make a project or add to one, says how far it is, and goes to the first question.
 * @param {string} route
 * @param {Record<string, unknown>} said
 * @param {string} title
 * @param {(wrong: string) => void} again shows the choices again
 */
async function work(route, said, title, again) {
  const stage = h("p", { role: "status" }, say.sent);
  const bar = h("progress", { max: 1, "aria-label": title });
  const clock = h("p", { class: "soft" }, say.elapsed(0));
  const started = performance.now();
  clear(main, h("h1", {}, title), stage, bar, clock, h("p", { class: "soft" }, say.takes));
  try {
    await post(route, said);
    for (;;) {
      await new Promise((done) => setTimeout(done, AGAIN));
      const { made, failed, stage: doing, share } = await get("/api/start/made");
      if (failed) return again(failed);
      if (made) return await enter();
      tell(doing, share);
    }
  } catch (error) {
    again(error instanceof Failed && !error.status ? say.lost : reason(error));
  }

  /** @param {string | null} doing @param {number | null} share */
  function tell(doing, share) {
    const text = doing === null ? say.sent : translated(doing);
    if (stage.textContent !== text) stage.textContent = text; // said aloud only when it changes
    if (share === null) bar.removeAttribute("value");
    else bar.value = share;
    clock.textContent = say.elapsed(Math.round((performance.now() - started) / 1000));
  }
}

/** Waits for the server of the project, which takes the place of this one, and opens its page. */
async function enter() {
  const who = new URLSearchParams(location.search).get("who") || "me";
  for (let tries = 0; tries < 150; tries++) {
    await new Promise((done) => setTimeout(done, AGAIN));
    if (await get("/api/state", { who }).catch(() => null)) return location.replace(`/${whoseQuery()}`);
  }
  clear(main, alert(say.lost));
}
