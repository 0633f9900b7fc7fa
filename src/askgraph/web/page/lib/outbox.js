/** Writes wait here, one after another, until the server has acknowledged them; they survive a reload. */
import { post, Refused } from "./api.js";
import { drop, keep, look, names } from "./storage.js";
import { update } from "./store.js";

const PREFIX = "askgraph.unsent.";
const FIRST_PAUSE = 400; // milliseconds before the first retry; doubled up to the longest
const LONGEST_PAUSE = 8_000;

/** @type {{ entry: Unsent, resolve: (answer: any) => void, reject: (refusal: unknown) => void }[]} */
const queue = [];
let busy = false;
let wake = () => {};

/** Sends `body` with a key of its own until the server answers; resolves with the answer, rejects when refused.
 * @param {string} uid
 * @param {string} path
 * @param {Record<string, unknown>} body
 */
export function deliver(uid, path, body) {
  const entry = { uid, path, body: { key: uuid(), ...body }, at: Date.now() };
  keep(nameOf(entry), JSON.stringify(entry));
  return enqueue(entry);
}

/** Sends what an earlier visit to this project left unsent; while somebody is logged in by name, nothing that another person said.
 * @param {string} uid
 * @param {string | null} who
 */
export const resume = (uid, who) => Promise.allSettled(left(uid).filter(({ body }) => who === null || body.who === who).map(enqueue));

/** Ends the pause before the next retry: the server is back. */
export const nudge = () => wake();

export const waiting = () => queue.length;

/**
 * @param {Unsent} entry
 * @returns {Promise<any>}
 */
function enqueue(entry) {
  return new Promise((resolve, reject) => {
    queue.push({ entry, resolve, reject });
    update({ unsent: queue.length });
    pump();
  });
}

async function pump() {
  if (busy) return;
  busy = true;
  while (queue.length) await sendFirst();
  busy = false;
}

async function sendFirst() {
  const { entry, resolve, reject } = queue[0];
  const finish = await sendUntilAnswered(entry).then((answer) => () => resolve(answer), (refusal) => () => reject(refusal));
  drop(nameOf(entry));
  queue.shift();
  update({ unsent: queue.length, trouble: null });
  finish();
}

/** @param {Unsent} entry */
async function sendUntilAnswered({ path, body }) {
  for (let pause = FIRST_PAUSE; ; pause = Math.min(2 * pause, LONGEST_PAUSE)) {
    try {
      return await post(path, body);
    } catch (error) {
      if (error instanceof Refused || !(error instanceof Error)) throw error;
      update({ trouble: error });
      await rest(pause);
    }
  }
}

/** @param {number} milliseconds */
const rest = (milliseconds) => new Promise((/** @type {(done?: unknown) => void} */ resolve) => {
  wake = resolve;
  setTimeout(resolve, milliseconds);
});

/** @param {Unsent} entry */
const nameOf = ({ uid, body }) => `${PREFIX}${uid}.${body.key}`;

/** @type {(uid: string) => Unsent[]} */
const left = (uid) => names(`${PREFIX}${uid}.`)
  .map((name) => JSON.parse(look(name) ?? "null"))
  .sort((a, b) => a.at - b.at);

/** Makes a random id. crypto.randomUUID exists on secure origins only, and a plain http address in a local network is not one. */
function uuid() {
  const b = crypto.getRandomValues(new Uint8Array(16));
  b[6] = (b[6] & 0x0f) | 0x40;
  b[8] = (b[8] & 0x3f) | 0x80;
  const hex = Array.from(b, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}
