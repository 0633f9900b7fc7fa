const listeners = new Set();

/** Everything the views show. `turns` moves with every new card, `sending` is the answer under way, `trouble` what keeps the page from the server. */
export const store = {
  who: "me",
  state: null,
  question: null,
  finished: null,
  waiting: null,
  turns: 0,
  sending: null,
  unsent: 0,
  trouble: null,
  trail: [],
};

export function update(changes) {
  Object.assign(store, changes);
  for (const listener of [...listeners]) listener(store);
}

/** Calls back on every change; returns a function that ends it. */
export function watch(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export const classes = () => store.state?.classes ?? [];
