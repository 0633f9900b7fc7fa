/** @type {Set<() => void>} */
const listeners = new Set();

/** Everything that the views show.
 * @type {Store}
 */
export const store = {
  who: "me",
  me: null,
  state: null,
  question: null,
  finished: null,
  waiting: null,
  turns: 0,
  swallowed: 0,
  sending: null,
  unsent: 0,
  trouble: null,
  trail: [],
  reasoned: null,
  inside: "",
};

/** Changes the store and calls all listeners.
 * @param {Partial<Store>} changes
 */
export function update(changes) {
  Object.assign(store, changes);
  for (const listener of [...listeners]) listener();
}

/** Calls a listener on every change; returns a function that ends this.
 * @param {() => void} listener
 */
export function watch(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Whether this person may change what is everybody's; nobody is kept from it before that is known. */
export const mayLead = () => store.me?.rank !== "labeler";

/** @returns {ClassInfo[]} */
export const classes = () => store.state?.classes ?? [];

/** What an answer is in this project; one class as long as nobody knows.
 * @returns {Answers}
 */
export const answers = () => store.state?.answers ?? { kind: "classes", unit: null, groups: true, guesses: true };
