/** Files that are chosen or dropped, and their way to the server on this machine. */
import { post, send } from "../lib/api.js";

const PART = 900_000; // bytes that are sent at once; the server takes a little more

/** @typedef {{ file: File, name: string }} Dropped */

/** Returns the files of a drop, those in folders too. What was dropped can be asked for only before the event is over.
 * @param {DragEvent} event
 * @returns {Promise<Dropped[]>}
 */
export async function dropped(event) {
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

/** Leaves out hidden files, which systems put beside others.
 * @param {Dropped[]} files
 */
export const visible = (files) => files.filter(({ name }) => !name.split("/").some((part) => part.startsWith(".")));

/** Sends files part by part; returns the name that the server gave them.
 * @param {Dropped[]} files
 * @param {(share: number) => void} tell is told which share has arrived
 * @returns {Promise<string>}
 */
export async function upload(files, tell) {
  const all = files.reduce((sum, { file }) => sum + file.size, 0) || 1;
  const { upload: id } = await post("/api/start/begin", {});
  let sent = 0;
  for (const { file, name } of files) {
    for (let offset = 0; offset === 0 || offset < file.size; offset += PART) {
      const part = file.slice(offset, offset + PART);
      await send(`/api/start/part?${new URLSearchParams({ upload: id, name, offset: String(offset) })}`, part);
      sent += part.size;
      tell(sent / all);
    }
  }
  return id;
}
