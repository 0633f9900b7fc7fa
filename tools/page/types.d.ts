/** Types that the page's scripts name in JSDoc. They are checked by tsc and not part of the page. */

/** What may stand among the children of an element; null and false are left out. */
type Child = Node | string | number | boolean | null | undefined | Child[];

/** Attributes of `h` and `svg`: names that begin with "on" are listeners, `vars` are custom properties of the style. */
interface Attributes {
  vars?: Record<string, string | number>;
  [listener: `on${string}`]: (event: any) => unknown;
  [attribute: string]: any;
}

/** What a view gives to the router: how to leave it, and whether it has used a key. */
interface View {
  leave?(): unknown;
  key?(key: string): boolean;
}

/** A view's constructor: it fills an element. */
type MakeView = (root: HTMLElement) => View;

type ViewName = "question" | "groups" | "table" | "map" | "progress" | "review" | "guidelines" | "history";
type Language = "en" | "de";

type AsideKind = "later" | "cannot" | "invalid";
type AnswerKind = "label" | AsideKind;
type Kind = AnswerKind | "undo";
type Status = "labeled" | "predicted" | "open" | AsideKind;

interface ClassInfo { name: string; key: string; count: number }
interface Person { name: string; answers: number; active: boolean }
interface Agreement { items: number; share: number }

/** The figures that every reply about questions carries. */
interface State {
  project: string;
  uid: string;
  overlap: number;
  seq: number;
  items: number;
  parquet: boolean;
  ris: boolean;
  xlsx: boolean;
  labels: number;
  aside: number;
  classes: ClassInfo[];
  agreement: Agreement | null;
  lag: number;
  worker: "starting" | "restarting" | "ready";
  undo: { item: string; title: string; what: string } | null;
  find: { class: string; left: Findings | null } | null;
  people: Person[];
}

interface ItemField { name: string; value: string; kind: "text" | "number" }
interface Item { id: string; title: string; name: string | null; numbered: boolean; fields: ItemField[]; image: string | null }
/** What is asked; `by` is the rule or the sampler that asks, such as "spot check", "find" or "influence". */
interface Question { item: Item; by: string; opinions: number; copies: number; suggested: { label: string; by: string }[] }

/** The reply to a request for a question, to an answer, and to an undo. */
interface Asked {
  question: Question | null;
  finished: string | null;
  waiting: string | null;
  state: State;
  undone?: (HistoryLine & { together: number }) | null;
}

/** An answer under way, or one that was given: what the trail shows. */
interface Given { item?: string; kind: Kind; label?: string | null }

/** An item in a list. */
interface ItemLine { item: string; title: string; image: string | null }

interface HistoryLine extends ItemLine {
  seq: number;
  at: string;
  who: string;
  kind: Kind;
  label: string | null;
  seconds: number | null;
  predicted: string | null;
  how: "map" | "table" | "group" | "copy" | "review" | null;
  undone: boolean;
  current: boolean;
}

interface Prediction { label: string; probability: number }
interface ItemReport { item: Item; answers: HistoryLine[]; label: string | null; status: Status; prediction: Prediction | null }

interface TableRow {
  id: string;
  title: string;
  image: string | null;
  label: string | null;
  probability: number | null;
  status: Status;
  who: string[];
}

/** What an answer to selected items would do: how many it would label, and how sure their predictions are. */
interface Selected {
  selected: number;
  new: number;
  predicted: { new: number; right: number | null; classes: { label: string; count: number }[]; certain: { least: number; new: number } };
}

/** What an answer to many items has done. */
interface Together { saved: number; copies: number; state: State }

interface Suspect extends ItemLine { label: string; instead: string; chance: number }

interface MapNode extends ItemLine {
  x: number;
  y: number;
  label: string | null;
  predicted: string | null;
  p: number | null;
  center: boolean;
}
type MapEdge = [number, number, number];

interface Why {
  item: string;
  probabilities: { class: string; p: number }[];
  voters: (ItemLine & { label: string; weight: number })[];
  changes: number | null;
  counts_for: number;
  nodes: MapNode[];
  edges: MapEdge[];
}

interface CurvePoint { labels: number; value: number; low: number; high: number }
interface ExpectedError { value: number; low: number; high: number; audited: number; measured: number }
interface ClassCount { name: string; count: number; predicted: number }
interface Dispute extends ItemLine { answers: { who: string; label: string | null }[] }

/** How many items of a class are found and how many may be left; `share` is found at least, `reached` whether that is enough. */
interface Findings { class: string; found: number; value: number; low: number; high: number; share: number; reached: boolean }

interface Progress {
  items: number;
  labels: number;
  together: number;
  aside: number;
  left: number;
  lag: number;
  classes: ClassCount[];
  error: ExpectedError | null;
  stop: string | null;
  hints: ("fit" | "rare" | "untold")[];
  goal: { target: number; reached: boolean; until: { low: number; high: number } | null };
  checks: { count: number; right: number } | null;
  find: Findings | null;
  curve: CurvePoint[];
  people: (Person & { seconds: number | null })[];
  agreement: Agreement | null;
  disputed: Dispute[];
}

/** Everything the views show. */
interface Store {
  who: string;
  state: State | null;
  question: Question | null;
  finished: string | null;
  waiting: string | null;
  /** Moves with every new card. */
  turns: number;
  /** The answer under way. */
  sending: Given | null;
  /** The number of answers that the server has not acknowledged. */
  unsent: number;
  /** The error that keeps the page from the server. */
  trouble: (Error & { status?: number }) | null;
  /** The part of the map that the table shows: its corners, x,y,x,y,… */
  inside: string;
  /** The last answers of this person. */
  trail: Given[];
}

/** A write that waits for the server. */
interface Unsent { uid: string; path: string; body: Record<string, unknown> & { key: string }; at: number }

interface Point { x: number; y: number }

/** A part of the map, named by the words of its items. */
interface Region extends Point { items: number; name: string }

/** The part of the map that is seen: its center and its magnification. */
interface Eye { x: number; y: number; scale: number }
interface Look { color: string; shape: number }
interface Theme { none: string; ink: string; ground: string }
