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
  key?(key: string, event: KeyboardEvent): boolean;
}

/** A view's constructor: it fills an element. */
type MakeView = (root: HTMLElement) => View;

type ViewName = "question" | "groups" | "table" | "map" | "progress" | "review" | "guidelines" | "history";
type Language = "en" | "de";

type AsideKind = "later" | "cannot" | "invalid";
type AnswerKind = "label" | AsideKind;
type Kind = AnswerKind | "undo";
type Status = "labeled" | "predicted" | "open" | "unseen" | AsideKind;

/** An answer: a class or a step, one of some, several classes (or none of them), or a number. An empty list and 0 are answers. */
type Label = string | { "one of": string[] } | string[] | number;
/** Between which numbers, or steps, an answer is expected. */
type Between = [number, number] | [string, string] | null;
/** What an answer is in a project. */
interface Answers { kind: "classes" | "ordered" | "several" | "numbers"; unit: string | null; groups: boolean; guesses: boolean }

/** What an answer is given with. */
interface Control {
  element: HTMLElement;
  /** Brings it to the classes there are. */
  draw(): void;
  /** Begins with a new item. */
  begin(): void;
  /** Uses a key; returns whether it did. */
  key(key: string, event: KeyboardEvent): boolean;
  /** Finds what stands for an answer. */
  of(label: Label): (HTMLElement | undefined)[];
  /** Says that nothing is chosen yet. */
  remind?(): void;
  /** Opens the field in which a new class is named. */
  openNew?(): void;
}
type MakeControl = (options: { pick: (label: Label) => unknown }) => Control;

/** An answer: a class or a step, one of some, several classes (or none of them), or a number. An empty list and 0 are answers. */
type Label = string | { "one of": string[] } | string[] | number;
/** Between which numbers, or steps, an answer is expected. */
type Range = [number, number] | [string, string] | null;
/** What an answer is in a project. */
interface Answers { kind: "classes" | "ordered" | "several" | "numbers"; unit: string | null; groups: boolean; guesses: boolean }

/** What an answer is given with. */
interface Control {
  element: HTMLElement;
  /** Brings it to the classes there are. */
  draw(): void;
  /** Begins with a new item. */
  begin(): void;
  /** Uses a key; returns whether it did. */
  key(key: string, event: KeyboardEvent): boolean;
  /** Finds what stands for an answer. */
  of(label: Label): (HTMLElement | undefined)[];
  /** Says that nothing is chosen yet. */
  remind?(): void;
  /** Opens the field in which a new class is named. */
  openNew?(): void;
}
type MakeControl = (options: { pick: (label: Label) => unknown }) => Control;

interface ClassInfo { name: string; key: string; count: number }
interface Person { name: string; answers: number; active: boolean; role: "labeler" | "lead" | null }
/** Who is logged in, without a name by the link or the password of all, and what they may do. */
interface Me { who: string | null; rank: "labeler" | "lead" | "owner" }
/** How often people agree, or by how much they differ. */
interface Agreement { items: number; share: number | null; apart: number | null }

/** The figures that every reply about questions carries. */
interface State {
  project: string;
  uid: string;
  overlap: number;
  seq: number;
  items: number;
  parquet: boolean;
  ris: boolean;
  texts: boolean;
  xlsx: boolean;
  labels: number;
  aside: number;
  answers: Answers;
  classes: ClassInfo[];
  agreement: Agreement | null;
  lag: number;
  worker: "starting" | "restarting" | "ready";
  comparing: { stage: string | null; share: number | null; failed: string | null } | null;
  undo: { item: string; title: string; kind: Kind; label: Label | null; what: string } | null;
  find: Sought | null;
  people: Person[];
  me?: Me;
}

interface ItemField { name: string; value: string; kind: "text" | "number" }
interface Item { id: string; title: string; name: string | null; numbered: boolean; fields: ItemField[]; image: string | null }
/** What is asked; `by` is the rule or the sampler that asks, such as "spot check", "find" or "influence". */
interface Question extends Noted { item: Item; by: string; opinions: number; copies: number; suggested: { label: Label; by: string }[] }

/** The reply to a request for a question, to an answer, and to an undo. */
interface Asked {
  question: Question | null;
  finished: string | null;
  waiting: string | null;
  state: State;
  far?: Far | null;
  undone?: (HistoryLine & { together: number }) | null;
}

/** A number that was given, and the range it was expected in. */
interface Far { said: number; low: number; high: number }

/** A number that was given, and the range it was expected in. */
interface Far { said: number; low: number; high: number }

/** An answer under way, or one that was given: what the trail shows. */
interface Given { item?: string; kind: Kind; label?: Label | null }

/** An item in a list. */
interface ItemLine { item: string; title: string; image: string | null }

/** The start of a column of an item, or the names of its neighbors, which stand in no column. */
interface Part { name: string | null; text: string }
/** What a list shows of an item beside its title, and whether that is a name. */
interface Excerpt { named: boolean; about: Part[] }
/** What some items have in common: words, and columns of numbers that are close. */
interface Common { words: string[]; columns: string[] }

interface HistoryLine extends ItemLine {
  seq: number;
  at: string;
  who: string;
  kind: Kind;
  label: Label | null;
  text: string | null;
  reasons: string[];
  seconds: number | null;
  predicted: Label | null;
  how: "map" | "table" | "group" | "copy" | "review" | "second" | "since" | "back" | null;
  undone: boolean;
  current: boolean;
  /** Whether it was given by somebody who was a lead then. */
  lead: boolean;
}

interface Prediction { label: Label; probability: number | null; range: Between }
interface ItemReport extends Noted { item: Item; answers: HistoryLine[]; label: Label | null; status: Status; prediction: Prediction | null; decided: string | null }

interface TableRow extends Excerpt {
  common: Common;
  id: string;
  title: string;
  image: string | null;
  label: Label | null;
  probability: number | null;
  range: Between;
  status: Status;
  who: string[];
  comments: number;
  marked: boolean;
  /** The lead whose word decides against others. */
  decided: string | null;
}

/** What an answer to selected items would do: how many it would label, and how sure their predictions are. */
interface Selected {
  selected: number;
  new: number;
  predicted: null | { new: number; right: number | null; classes: { label: Label; count: number }[]; certain: { least: number; new: number } };
}

/** What an answer to many items has done. */
interface Together { saved: number; copies: number; state: State }

interface Suspect extends ItemLine { label: Label; instead: Label; range?: Between; chance: number | null }

interface MapNode extends ItemLine {
  x: number;
  y: number;
  label: Label | null;
  predicted: Label | null;
  p: number | null;
  center: boolean;
}
type MapEdge = [number, number, number];

interface Why {
  item: string;
  predicted: Label | null;
  range: Between;
  probabilities: { class: string; p: number }[];
  voters: (ItemLine & { label: Label; weight: number })[];
  changes: number | null;
  counts_for: number;
  nodes: MapNode[];
  edges: MapEdge[];
}

interface CurvePoint { labels: number; value: number; low: number; high: number }
interface ExpectedError { value: number; low: number; high: number; audited: number; measured: number; unit: string | null }
interface ClassCount { name: string; count: number; predicted: number }
interface Dispute extends ItemLine { answers: { who: string; label: Label | null }[] }

/** A histogram: how many numbers lie between each two edges. */
interface Histogram { edges: number[]; given: number[]; predicted: number[] }

/** All items of a class, from a step on, or the highest, the lowest or all numbers from one on. */
interface Sought { class: string | null; value: string | null; text: string; like: string | null; left: Findings | null }

/** A histogram: how many numbers lie between each two edges. */
interface Histogram { edges: number[]; given: number[]; predicted: number[] }

/** How many items of a class are found and how many may be left; `share` is found at least, `reached` whether that is enough. */
interface Findings extends Certifying, Recall { class: string | null; text: string; found: number; value: number; low: number; high: number; known: boolean; share: number; reached: boolean }

/** How many were found after how many labels, and how many by the last of them. */
interface Recall { recall: [number, number][]; last: { labels: number; found: number } }

/** What a random sample proves of a search, whether that is what was asked for, and what one would take; `lost`: items of it were removed. */
interface Certifying { certificate: Certificate | null; certified: boolean; offers: Offer[]; rest: number; lost: boolean; confidence: number }

/** How far a random sample is read, and the share of what is sought that is found at least: null before all of it is read. */
interface Certificate { found: number; missed: number | null; share: number | null; confidence: number; sample: number; read: number; hits: number; left: number }

/** How many items to read to certify a share, whether that is most of what is left, and what is proven with 0, 1 and 3 hits among them. */
interface Offer { share: number; read: number; most: boolean; proves: number[] }

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
  advice: string[];
  numbers?: Histogram | null;
  advice: string[];
  numbers?: Histogram | null;
  hints: ("fit" | "rare" | "untold")[];
  goal: { target: number | null; reached: boolean; until: { low: number; high: number } | null };
  checks: { count: number; right: number | null } | null;
  find: Findings | null;
  curve: CurvePoint[];
  reasons: ReasonCount[];
  second: SecondReading | null;
  people: (Person & { seconds: number | null })[];
  agreement: Agreement | null;
  disputed: Dispute[];
  /** On how many items the word of each lead decides against others. */
  decided: Record<string, number>;
}

/** Everything the views show. */
interface Store {
  who: string;
  /** None before the server has said it. */
  me: Me | null;
  state: State | null;
  question: Question | null;
  finished: string | null;
  waiting: string | null;
  /** Moves with every new card. */
  turns: number;
  /** Moves with every answer that came too early and was not taken. */
  swallowed: number;
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
  /** The last answer, where it can have reasons. */
  reasoned: Reasoned | null;
}

/** A write that waits for the server. */
interface Unsent { uid: string; path: string; body: Record<string, unknown> & { key: string }; at: number }

interface Point { x: number; y: number }
interface Box extends Point { width: number; height: number }

/** A part of the map, named by the words of its items. */
interface Region extends Point { items: number; name: string }

/** The part of the map that is seen: its center and its magnification. */
interface Eye { x: number; y: number; scale: number }
interface Look { color: string; shape: number; size?: number }
/** What the map is drawn from: where the bytes are, and what they mean. */
interface MapParts { layout: string; state: string; edition: string; classes: string[]; sets: Label[] | null; scale: { low: number; high: number; log: boolean } | null; regions: Region[]; pictures: boolean; lag: number }
interface Theme { none: string; ink: string; ground: string }
