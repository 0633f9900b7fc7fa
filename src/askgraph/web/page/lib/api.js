/** Requests to the server, and their errors. */
import { words } from "./words.js";

const TIMEOUT = 20_000; // milliseconds; a request without an answer by then has failed
const RETRY = new Set([401, 408, 429]); // statuses below 500 after which the same request may succeed later

/** The server refused a request, and sending it again would not help. */
export class Refused extends Error {
  /**
   * @param {string} message
   * @param {number} status
   */
  constructor(message, status) {
    super(message);
    this.status = status;
  }
}

/** A request failed and is worth sending again. `status` is 0 when no answer came at all. */
export class Failed extends Error {
  /**
   * @param {string} message
   * @param {number} status
   */
  constructor(message, status = 0) {
    super(message);
    this.status = status;
  }
}

/** Posts JSON and returns the JSON of the reply, which must come within `patience` milliseconds.
 * @param {string} path
 * @param {unknown} body
 * @param {number} patience
 * @returns {Promise<any>}
 */
export const post = (path, body, patience = TIMEOUT) =>
  request(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body), signal: AbortSignal.timeout(patience) }).then(read);

/** Posts bytes and returns the JSON of the reply.
 * @param {string} path
 * @param {Blob} body
 * @returns {Promise<any>}
 */
export const send = (path, body) => request(path, { method: "POST", headers: { "Content-Type": "application/octet-stream" }, body }).then(read);

/** Gets JSON; empty values of the query are left out.
 * @param {string} path
 * @param {Record<string, any>} query
 * @returns {Promise<any>}
 */
export const get = (path, query = {}) => request(`${path}${queryOf(query)}`).then(read);

/** @param {string} path */
export const bytes = (path) => request(path).then((response) => response.arrayBuffer());

/** @param {Record<string, any>} query */
function queryOf(query) {
  const given = Object.entries(query).filter(([, value]) => value !== "" && value !== null && value !== undefined);
  return given.length ? `?${new URLSearchParams(given)}` : "";
}

/**
 * @param {string} path
 * @param {RequestInit} options
 */
async function request(path, options = {}) {
  let response;
  try {
    response = await fetch(path, { credentials: "same-origin", cache: "no-store", signal: AbortSignal.timeout(TIMEOUT), ...options });
  } catch {
    throw new Failed(words.notices.unreachable);
  }
  if (!response.ok) throw await failure(response);
  return response;
}

/** @param {Response} response */
async function read(response) {
  try {
    return await response.json();
  } catch {
    throw new Failed(words.notices.cutOff);
  }
}

/** @param {Response} response */
async function failure(response) {
  const { status } = response;
  const sentence = await response.json().then((body) => String(body.error ?? ""), () => "");
  if (status === 401) return new Failed(words.notices.lostToken, status);
  if (status >= 500 || RETRY.has(status)) return new Failed(sentence || words.notices.status(status), status);
  return new Refused(sentence || words.notices.refused(status), status);
}
