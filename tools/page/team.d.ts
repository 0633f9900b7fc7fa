/** Types of groups, review, guidelines and classes, beside those in types.d.ts. */
interface ClassInfo { description: string }
interface State { guidelines: number; changes: number }

interface Group { label: Label; chance: number; items: ItemLine[] }
interface Reviewed extends ItemLine {
  why: "disagree" | "suspect" | "cannot" | "unsure";
  label: Label | null;
  instead: Label | null;
  range: Between;
  answers: { who: string; kind: Kind; label: Label | null }[];
}
interface Rules { version: number; text: string; who: string | null; at: string | null }
interface ClassChange {
  seq: number;
  at: string;
  who: string;
  kind: "add" | "rename" | "merge" | "describe" | "key" | "order" | "find" | "certify" | "rule";
  name: string | null;
  value: string | null;
  like: string | null;
  undone: boolean;
}

interface GuessSource {
  name: string;
  rule: { number: number; class: string; who: string; text: string } | null;
  guesses: number;
  share: number;
  about: number | null;
  compared: number;
  agreed: number;
  low: number | null;
  high: number | null;
}
interface Sources {
  sources: GuessSource[];
  pairs: { sources: [string, string]; both: number; differ: number }[];
  against: number;
  between: number;
  items: (ItemLine & { label: string | null; guesses: { source: string; label: string }[] })[];
}
