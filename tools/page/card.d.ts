/** Types of the labeling card of notebooks (src/askgraph/clients/card.js), beside those in types.d.ts. */
interface CardItem { id: string; title: string; fields: Record<string, unknown>; image: string | null }

/** What `question` of clients/card.py sends. */
interface CardShown {
  project: string;
  item: CardItem | null;
  classes: { name: string; key: string; count: number }[];
  suggested: { label: string; by: string }[];
  labels: number;
  items: number;
  finished: string | null;
  undo: string | null;
  note: string | null;
}

/** What the card says. */
interface CardSaid { kind: Kind; label?: string }

/** The part of anywidget's model that the card uses. */
interface CardModel {
  get(name: "shown"): CardShown;
  send(said: CardSaid & { item: string | null; seconds: number }): void;
  on(event: "change:shown", changed: () => void): void;
  off(event: "change:shown", changed: () => void): void;
}
