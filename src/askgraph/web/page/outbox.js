/** Writes wait here, one after another, until the server has acknowledged them; they survive a reload. */
import { post, Refused } from "./api.js";
import { drop, keep, look, names } from "./shelf.js";
import { update } from "./store.js";

const PREFIX = "askgraph.unsent.";
const FIRST_PAUSE = 400;
const LONGEST_PAUSE = 8_000;

const queue = [];
let busy = false;
let wake = () => {};

/** Sends `body` with a key of its own as often as it takes; resolves with the answer, rejects when refused. */
export function deliver(project, path, body) {
  const entry = { project, path, body: { key: uuid(), ...body }, at: Date.now() };
  keep(nameOf(entry), JSON.stringify(entry));
  return enqueue(entry);
}

/** Takes up what an earlier visit to this project left unsent. */
export const resume = (project) => Promise.allSettled(left(project).map(enqueue));

/** The server is there again: no need to sit out the pause. */
export const nudge = () => wake();

export const waiting = () => queue.length;

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
  while (queue.length) await settle(queue[0]);
  busy = false;
}

async function settle({ entry, resolve, reject }) {
  const [finish, result] = await insist(entry).then((answer) => [resolve, answer], (refusal) => [reject, refusal]);
  drop(nameOf(entry));
  queue.shift();
  update({ unsent: queue.length, trouble: null });
  finish(result);
}

async function insist({ path, body }) {
  for (let pause = FIRST_PAUSE; ; pause = Math.min(2 * pause, LONGEST_PAUSE)) {
    try {
      return await post(path, body);
    } catch (error) {
      if (error instanceof Refused) throw error;
      update({ trouble: error });
      await rest(pause);
    }
  }
}

const rest = (milliseconds) => new Promise((resolve) => {
  wake = resolve;
  setTimeout(resolve, milliseconds);
});

const nameOf = ({ project, body }) => `${PREFIX}${project}.${body.key}`;

const left = (project) => names(`${PREFIX}${project}.`)
  .map((name) => JSON.parse(look(name)))
  .filter((entry) => entry.project === project)
  .sort((a, b) => a.at - b.at);

/** crypto.randomUUID exists on secure origins only; a plain http address in a local network is none. */
function uuid() {
  const b = crypto.getRandomValues(new Uint8Array(16));
  b[6] = (b[6] & 0x0f) | 0x40;
  b[8] = (b[8] & 0x3f) | 0x80;
  const hex = Array.from(b, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}
