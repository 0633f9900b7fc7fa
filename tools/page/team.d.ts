/** Types of groups, review, guidelines and classes, beside those in types.d.ts. */
interface ClassInfo { description: string }
interface State { guidelines: number; changes: number }

interface GroupItem extends ItemLine, Excerpt {}
interface Group { label: Label; chance: number; items: GroupItem[]; common: Common }
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
  kind: "add" | "rename" | "merge" | "describe" | "key" | "order" | "find" | "certify";
  name: string | null;
  value: string | null;
  like: string | null;
  undone: boolean;
}
