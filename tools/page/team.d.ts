/** Types of groups, review, guidelines and classes, beside those in types.d.ts. */
interface ClassInfo { description: string; reasons: string[] }
interface State { guidelines: number; changes: number }

interface GroupItem extends ItemLine, Excerpt {}
interface Group { label: Label; chance: number; items: GroupItem[]; common: Common }
interface Reviewed extends ItemLine {
  why: "disagree" | "return" | "suspect" | "cannot" | "unsure";
  label: Label | null;
  instead: Label | null;
  range: Between;
  answers: { who: string; kind: Kind; label: Label | null; reasons: string[] }[];
  comments: Comment[];
}
interface Comment { seq: number; who: string; at: string; text: string }
/** What is noted on an item: comments, and whether this person wants to come back to it. */
interface Noted { comments: Comment[]; marked: boolean }
/** A line of the history: an answer, a comment, or reasons that were given. */
type LogLine = HistoryLine | (Omit<HistoryLine, "kind"> & { kind: "comment" }) | (Omit<HistoryLine, "kind"> & { kind: "reasons" });
/** An answer, the reasons that it can have, and those given. */
interface Reasoned { item: string; label: Label; offered: string[]; given: string[] }
interface ReasonCount { class: string; reason: string; count: number }
/** How many items were read by a second person unseen, and how far both agree. */
interface SecondReading { share: number; left: number; read: number; same: number | null; apart: number | null; alpha: { value: number; low: number; high: number; items: number } | null }
interface Rules { version: number; text: string; who: string | null; at: string | null }
interface ClassChange {
  seq: number;
  at: string;
  who: string;
  kind: "add" | "rename" | "merge" | "describe" | "key" | "order" | "reasons" | "find" | "certify" | "second" | "rule";
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
