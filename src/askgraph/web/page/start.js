/** The first page: files are dropped, ten rows are seen, columns chosen, and a project comes of it. */
import { Failed, get, post } from "./lib/api.js";
import { byId, clear, data, h } from "./lib/dom.js";
import { percent, sentence } from "./lib/format.js";
import { language } from "./lib/language.js";
import { words } from "./lib/words.js";

const PART = 900_000; // bytes that are sent at once; the server takes a little more
const AGAIN = 400; // milliseconds between two looks whether the project is there
const THUMB = 120; // pixels of a picture in the sample, at its larger side
const main = byId("main");
const say = words.start;
document.documentElement.lang = language;

/** @typedef {{ name: string, kind: "text" | "short" | "number", use: "id" | "compared" | null }} Column */
/** @typedef {{ kind: "table" | "graph" | "pictures", name: string, count: number, by_pictures: boolean, columns: Column[], rows: string[][], files: Dropped[] }} Seen */
/** @typedef {{ file: File, name: string }} Dropped */

welcome();
// a file that is dropped beside the zone is meant for it: the browser would leave this page and show the file
document.addEventListener("dragover", (event) => event.preventDefault());
document.addEventListener("drop", async (event) => {
  event.preventDefault();
  if (document.querySelector(".drop")) send(await dropped(event));
});

/** Asks for files; `wrong` says what was wrong with those before.
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
  clear(main, h("h1", {}, say.title), h("ol", { class: "steps" }, say.steps.map((one) => h("li", {}, one))), wrong && alert(wrong), zone,
    h("p", { class: "soft" }, say.formats), h("p", { class: "soft" }, say.stays));
}

/** @type {(attributes: Attributes) => HTMLInputElement} */
function chooser(attributes) {
  /** @type {HTMLInputElement} */
  const input = h("input", { type: "file", multiple: true, hidden: true, "aria-hidden": "true", ...attributes,
    onchange: () => send([...input.files ?? []].map((file) => ({ file, name: file.webkitRelativePath || file.name }))) });
  return input;
}

/** @param {string} text */
const alert = (text) => h("p", { class: "wrong", role: "alert" }, sentence(text));

/** Returns the files of a drop, those in folders too. What was dropped can be asked for only before the event is over.
 * @param {DragEvent} event
 * @returns {Promise<Dropped[]>}
 */
async function dropped(event) {
  const found = [...event.dataTransfer?.items ?? []].filter((one) => one.kind === "file").map((one) => one.webkitGetAsEntry() ?? one.getAsFile());
  return (await Promise.all(found.map(within))).flat();
}

/** @type {(entry: FileSystemEntry | File | null) => Promise<Dropped[]>} */
async function within(entry) {
  if (entry instanceof File) return [{ file: entry, name: entry.name }];
  if (entry instanceof FileSystemFileEntry) {
    const file = await new Promise((/** @type {(file: File) => void} */ done, fail) => entry.file(done, fail));
    return [{ file, name: entry.fullPath.replace(/^\//, "") }];
  }
  if (!(entry instanceof FileSystemDirectoryEntry)) return [];
  const reader = entry.createReader();
  /** @type {FileSystemEntry[]} */
  const all = [];
  for (;;) { // a reader gives some at a time, and at the end none
    const some = await new Promise((/** @type {(entries: FileSystemEntry[]) => void} */ done, fail) => reader.readEntries(done, fail));
    if (!some.length) break;
    all.push(...some);
  }
  return (await Promise.all(all.map(within))).flat();
}

/** Sends files to the server on this machine, part by part, and shows what they are.
 * @param {Dropped[]} files
 */
async function send(files) {
  const wanted = files.filter(({ name }) => !name.split("/").some((part) => part.startsWith(".")));
  if (!wanted.length) return;
  const all = wanted.reduce((sum, { file }) => sum + file.size, 0) || 1;
  const shown = h("p", { role: "status" }, say.sending(percent(0)));
  clear(main, h("h1", {}, say.title), shown);
  try {
    const { upload } = await post("/api/start/begin", {});
    let sent = 0;
    for (const { file, name } of wanted) {
      for (let offset = 0; offset === 0 || offset < file.size; offset += PART) {
        const part = file.slice(offset, offset + PART);
        await bytesTo(`/api/start/part?${new URLSearchParams({ upload, name, offset: String(offset) })}`, part);
        sent += part.size;
        shown.textContent = say.sending(percent(sent / all));
      }
    }
    shown.textContent = say.looking;
    choose(upload, { ...await post("/api/start/look", { upload }), files: wanted });
  } catch (error) {
    welcome(error instanceof Error ? error.message : String(error));
  }
}

/** @type {(path: string, body: Blob) => Promise<void>} */
async function bytesTo(path, body) {
  const reply = await fetch(path, { method: "POST", body, credentials: "same-origin", headers: { "Content-Type": "application/octet-stream" } });
  if (!reply.ok) throw new Failed(await reply.json().then((said) => String(said.error), () => words.notices.status(reply.status)), reply.status);
}

/** Shows ten rows, and asks what the columns are for.
 * @param {string} upload
 * @param {Seen} seen
 */
function choose(upload, seen) {
  const names = seen.columns.map((one) => one.name);
  const name = h("input", { value: seen.name, required: true, maxlength: 100 });
  const marks = seen.columns.map((one) => ({ one, box: h("input", { type: "checkbox", checked: one.use === "compared" }) }));
  const id = select([["", say.numbered], ...names.map((one) => [one, one])], seen.columns.find((one) => one.use === "id")?.name ?? "");
  const label = select([["", say.none], ...names.map((one) => [one, one])], "");
  const folders = h("input", { type: "checkbox" });
  const classes = h("input", { autocomplete: "off", placeholder: say.classesSuch });
  const table = seen.kind === "table";
  const columns = table && !seen.by_pictures;
  /** @type {HTMLFormElement} */
  const form = h("form", { onsubmit: (/** @type {Event} */ event) => {
    event.preventDefault();
    const marked = marks.filter(({ box }) => box.checked).map(({ one }) => one);
    const among = (/** @type {boolean} */ numbers) => marked.filter((one) => (one.kind === "number") === numbers).map((one) => one.name);
    if (columns && !marked.length) {
      show(say.unmarked);
      return;
    }
    make({ upload, project: name.value.trim() || seen.name, kind: seen.kind, id: table ? id.value || null : null,
      text: columns ? among(false) : [], features: columns ? among(true) : [],
      label: table ? label.value || null : folders.checked ? "folder" : null, classes: classes.value.split(",").map((one) => one.trim()).filter(Boolean) }, seen, show);
  } },
  h("label", {}, say.name, name),
  columns && h("fieldset", {}, h("legend", {}, say.compare),
    h("div", { class: "marks" }, marks.map(({ one, box }) => h("label", { class: "mark-column" }, box, data(one.name), h("span", { class: "soft" }, say.compareKinds[one.kind])))),
    h("p", { class: "soft" }, say.mixed)),
  table && h("label", {}, say.id, id),
  table && h("label", {}, say.label, label),
  seen.kind === "pictures" && h("label", { class: "mark-column" }, folders, say.folders),
  h("label", {}, say.classes, classes),
  h("div", { class: "choices" }, h("button", { class: "primary" }, say.go), h("button", { class: "button", type: "button", onclick: () => welcome() }, say.again)));
  const head = [h("p", { class: "soft" }, say.rows(seen.rows.length, seen.count)), sample(seen)];
  show(null);
  name.focus();

  /** Shows the choices, as they are, and what was wrong with them.
   * @param {string | null} wrong
   */
  function show(wrong) {
    clear(main, h("h1", {}, say.kinds[seen.kind]), head, form, wrong && alert(wrong));
  }
}

/** @type {(options: string[][], chosen: string) => HTMLSelectElement} */
function select(options, chosen) {
  const found = h("select", {}, options.map(([value, text]) => h("option", { value: value ?? "" }, text)));
  found.value = chosen;
  return found;
}

/** @param {Seen} seen */
const sample = (seen) => h("div", { class: "sample", tabindex: "0", role: "region", "aria-label": say.rows(seen.rows.length, seen.count) },
  seen.kind === "pictures" ? h("ul", { class: "thumbs" }, seen.rows.map(([name]) => thumb(name, seen.files))) : table(seen));

/** Rows have the cells of the first columns only: more could not be read.
 * @param {Seen} seen
 */
const table = ({ columns, rows }) => {
  const width = rows[0]?.length ?? columns.length;
  return h("table", {},
    h("thead", {}, h("tr", {}, columns.slice(0, width).map((one) => h("th", { scope: "col" }, data(one.name))),
      columns.length > width && h("th", {}, `… ${columns.length}`))),
    h("tbody", {}, rows.map((row) => h("tr", {}, row.map((cell) => h("td", {}, data(cell)))))));
};

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

/** Lets the server make the project, and goes to its first question.
 * @param {{ upload: string, project: string, kind: string, id: string | null, text: string[], features: string[], label: string | null, classes: string[] }} said
 * @param {Seen} seen
 * @param {(wrong: string) => void} again shows the choices again
 */
async function make(said, seen, again) {
  clear(main, h("h1", {}, say.kinds[seen.kind]), h("p", { role: "status", class: "breathing" }, say.making));
  try {
    await post("/api/start/make", said);
    for (;;) {
      await new Promise((done) => setTimeout(done, AGAIN));
      const { made, failed } = await get("/api/start/made");
      if (failed) return again(failed);
      if (made) return enter();
    }
  } catch (error) {
    again(error instanceof Error ? error.message : String(error));
  }
}

/** Waits for the server of the project, which takes the place of this one, and opens its page. */
async function enter() {
  const who = new URLSearchParams(location.search).get("who") ?? "";
  for (let tries = 0; tries < 150; tries++) {
    await new Promise((done) => setTimeout(done, AGAIN));
    const found = await get("/api/state", { who: who || "me" }).catch(() => null);
    if (found) return location.replace(who ? `/?${new URLSearchParams({ who })}` : "/");
  }
  clear(main, alert(say.lost));
}
