"""What people said, as a fold over the log: who answered what, and what counts for each item."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Literal, NamedTuple

Kind = Literal["label", "later", "cannot", "invalid", "undo"]
KINDS: tuple[Kind, ...] = ("label", "later", "cannot", "invalid")
AGAIN = 20  # answers of a person after which an item to be asked later is due


class Answer(NamedTuple):
    """One line of the log; ``item`` is the item's place, ``undoes`` the line that an undo takes back."""

    seq: int
    key: str
    who: str
    at: str
    kind: Kind
    item: int
    label: str | None = None
    seconds: float | None = None
    undoes: int | None = None


class Decision(NamedTuple):
    """What counts for an item: its label, or why it is set aside, or neither."""

    label: str | None = None
    aside: Kind | None = None


OPEN = Decision()


class Answers:
    """Everything said so far; ``add`` takes the next line of the log and says what counted for its item before and now.

    >>> answers = Answers()
    >>> answers.add(Answer(1, "a", "ann", "", "label", 7, "ham"))
    (Decision(label=None, aside=None), Decision(label='ham', aside=None))
    >>> answers.add(Answer(2, "b", "ann", "", "undo", 7, undoes=1))
    (Decision(label='ham', aside=None), Decision(label=None, aside=None))
    """

    def __init__(self, declared: Iterable[str] = ()) -> None:
        self.seq = 0
        self.log: dict[int, Answer] = {}
        self.undone: set[int] = set()
        self.labels: dict[int, str] = {}  # what counts, in the order in which it came to
        self.aside: dict[int, Kind] = {}
        self.declared = tuple(declared)
        self._said: dict[int, dict[str, list[Answer]]] = {}  # item -> who -> answers not undone, the last one counts
        self._mine: dict[str, list[Answer]] = {}  # who -> answers not undone

    def add(self, answer: Answer) -> tuple[Decision, Decision]:
        """The next line of the log."""
        before = self.decision(answer.item)
        self.seq = answer.seq
        self.log[answer.seq] = answer
        if answer.kind == "undo":
            self._take_back(answer)
        else:
            self._said.setdefault(answer.item, {}).setdefault(answer.who, []).append(answer)
            self._mine.setdefault(answer.who, []).append(answer)
        after = self._decide(answer.item)
        self._note(answer.item, before, after)
        return before, after

    def decision(self, item: int) -> Decision:
        """What counts for an item."""
        return Decision(self.labels.get(item), self.aside.get(item))

    def of(self, item: int) -> dict[str, Answer]:
        """Who says what of an item."""
        return {who: said[-1] for who, said in self._said.get(item, {}).items() if said}

    def last(self, who: str) -> Answer | None:
        """What this person's undo would take back."""
        mine = self._mine.get(who)
        return mine[-1] if mine else None

    def counts(self, answer: Answer) -> bool:
        """Whether it is what this person says of the item now."""
        return self.of(answer.item).get(answer.who) == answer

    @property
    def classes(self) -> list[str]:
        """Those declared, then those in use as they came."""
        return list(dict.fromkeys([*self.declared, *self.labels.values()]))

    @property
    def people(self) -> dict[str, int]:
        """How many answers of each person stand."""
        return {who: len(mine) for who, mine in self._mine.items() if mine}

    def due(self, who: str, all_of_them: bool = False) -> list[int]:
        """Items that this person wanted to be asked later, when later is now."""
        mine = self._mine.get(who, [])
        early = mine if all_of_them else mine[:-AGAIN]
        return [a.item for a in early if a.kind == "later" and self.counts(a) and a.item not in self.labels]

    def short_of(self, wanted: int) -> list[int]:
        """Items that some people have answered, but not as many as wanted."""
        told = {item: sum(a.kind != "later" for a in self.of(item).values()) for item in self._said}
        return [item for item, n in told.items() if 0 < n < wanted]

    def opinions(self) -> dict[int, list[str]]:
        """The labels of items that two people or more have labeled."""
        found = {
            item: [a.label for a in self.of(item).values() if a.label is not None]
            for item, said in self._said.items()
            if len(said) > 1
        }
        return {item: labels for item, labels in found.items() if len(labels) > 1}

    def agreement(self) -> tuple[int, float] | None:
        """How many items several people labeled, and the share of pairs of labels that are the same."""
        pairs = [
            (sum(n * (n - 1) for n in Counter(x).values()), len(x) * (len(x) - 1)) for x in self.opinions().values()
        ]
        return (len(pairs), sum(same for same, _ in pairs) / sum(total for _, total in pairs)) if pairs else None

    def _take_back(self, undo: Answer) -> None:
        told = self.log.get(undo.undoes or 0)
        if told is None or told.seq in self.undone or told.kind == "undo":
            return
        self.undone.add(told.seq)
        self._said[told.item][told.who].remove(told)
        self._mine[told.who].remove(told)

    def _decide(self, item: int) -> Decision:
        """The label or the reason to leave it that most people give; of two, a label, and the one given first."""
        said = sorted(self.of(item).values())
        votes = Counter((a.kind, a.label) for a in said if a.kind != "later")
        if not votes:
            return Decision(None, "later") if said else OPEN
        kind, label = max(votes, key=lambda vote: (votes[vote], vote[0] == "label"))
        return Decision(label) if kind == "label" else Decision(None, kind)

    def _note(self, item: int, before: Decision, after: Decision) -> None:
        if before.label != after.label and before.label is not None and after.label is None:
            del self.labels[item]
        if after.label is not None:
            self.labels[item] = after.label
        if after.aside is None:
            self.aside.pop(item, None)
        else:
            self.aside[item] = after.aside
