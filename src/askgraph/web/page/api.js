const PATIENCE = 20_000;
const AGAIN = new Set([401, 408, 429]);

/** The server said no, and sending the same again would not help. */
export class Refused extends Error {}

/** Nothing was decided: worth sending again. `status` is 0 when no answer came at all. */
export class Unsettled extends Error {
  constructor(message, status = 0) {
    super(message);
    this.status = status;
  }
}

export const post = (path, body) =>
  request(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) }).then(read);

export const get = (path, query = {}) => request(`${path}${queryOf(query)}`).then(read);

export const bytes = (path) => request(path).then((response) => response.arrayBuffer());

function queryOf(query) {
  const given = Object.entries(query).filter(([, value]) => value !== "" && value !== null && value !== undefined);
  return given.length ? `?${new URLSearchParams(given)}` : "";
}

async function request(path, options = {}) {
  let response;
  try {
    response = await fetch(path, { credentials: "same-origin", cache: "no-store", signal: AbortSignal.timeout(PATIENCE), ...options });
  } catch {
    throw new Unsettled("the server cannot be reached");
  }
  if (!response.ok) throw await failure(response);
  return response;
}

async function read(response) {
  try {
    return await response.json();
  } catch {
    throw new Unsettled("the server's answer was cut off");
  }
}

async function failure(response) {
  const { status } = response;
  const sentence = await response.json().then((body) => String(body.error ?? ""), () => "");
  if (status === 401) return new Unsettled("this page has lost its token; open the link that askgraph printed", status);
  if (status >= 500 || AGAIN.has(status)) return new Unsettled(sentence || `the server answered ${status}`, status);
  return new Refused(sentence || `The server refused this (${status}).`);
}
