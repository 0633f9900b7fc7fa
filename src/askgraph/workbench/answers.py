"""The answers of people, read line by line from the log: who answered what, and which label counts for each item.

There are two logs with two vocabularies. The log of a project is what people said, one line per answer. The log of a
learner (``askgraph.answers.events``) is what changed for the model. Several people can answer one item, so an answer need
not change anything; ``Answers.add`` returns what counted before and after, and ``Project`` turns a change into learner events:

=========================================  ========================================================================
answer of a person (workbench)             event of the learner
=========================================  ========================================================================
``label``: this is its label               ``tell`` if no label counted before, ``relabel`` if another one did
``later``: ask again later                 ``skip``, after ``retract`` if a label counted before
``cannot``: nobody can tell                ``skip``, likewise
``invalid``: not a valid item              ``skip``, likewise
``undo``: take back one earlier answer     ``retract`` if nothing is left that counts, else as for what counts then
``undo`` of an undo: the answer is back    as for the answer
(none)                                     ``audit``: a label to judge predictions by; only Python code uses it
notes on an item (``notes.py``)            (none)
=========================================  ========================================================================
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable
from itertools import combinations
from operator import attrgetter
from typing import Any, Literal, NamedTuple

from askgraph.kinds import Kind as AnswerKind
from askgraph.workbench.classes import Change, Classes
from askgraph.workbench.forms import Form, Label, form_of, named, renamed, sure
from askgraph.workbench.notes import NOTES, NoteKind, Notes
from askgraph.workbench.roles import Role, with_role

Kind = Literal["label", "later", "cannot", "invalid", "undo"] | NoteKind
KINDS: tuple[Kind, ...] = ("label", "later", "cannot", "invalid")
How = Literal["map", "table", "group", "copy", "review", "second", "since", "back"]
HOWS: tuple[How, ...] = ("map", "table", "group", "copy", "review", "second")
TOGETHER: frozenset[How | None] = frozenset(HOWS[:4])  # answers to many items in one step, which one undo takes back
IMPORT = "import"  # the name under which labels that the items came with are logged
LATER_AFTER_ANSWERS = 20  # further answers of the same person after which an item put off with "later" is due again


class Answer(NamedTuple):
    """One line of the log; ``item`` is the place of the item, ``undoes`` the line that this one takes back or explains.

    ``label`` is what `askgraph.workbench.forms` says for the kind of answers: a class, some classes, a number.
    ``predicted`` is what was predicted before, where the item was drawn at random: a spot check. ``how`` says that the answer
    was given to many items in one step (those selected on the "map" or in the "table", or a "group" that look alike), to an exact
    copy of this item ("copy"), on a second look ("review"), or by a second person who saw nothing of what the first had said
    ("second"). An undo is part of a step that took back all answers of a person "since" a time, or of one that gave these "back".
    ``text`` is what a note says: a comment, or reasons as JSON. In a line that was read, ``label`` and ``predicted`` are the names
    that the classes have now.
    """

    seq: int
    key: str
    who: str
    at: str
    kind: Kind
    item: int
    label: Label | None = None
    seconds: float | None = None
    undoes: int | None = None
    predicted: Label | None = None
    how: How | None = None
    text: str | None = None


class Decision(NamedTuple):
    """The state of an item: its label, or the reason why it is set aside, or neither."""

    label: Label | None = None
    aside: Kind | None = None


OPEN = Decision()


class Agreed(NamedTuple):
    """How far people agree: the number of items that two are sure of, the share of pairs of answers that are the same, if that
    says something, and how far two answers are apart: steps on average, of numbers the median difference.
    """

    items: int
    share: float | None
    apart: float | None


class Answers:
    """All answers so far; ``add`` takes the next line of the log and returns the decision on its item before and after.

    >>> answers = Answers()
    >>> answers.add(Answer(1, "a", "ann", "", "label", 7, "ham"))
    (Decision(label=None, aside=None), Decision(label='ham', aside=None))
    >>> answers.add(Answer(2, "b", "ann", "", "undo", 7, undoes=1))
    (Decision(label='ham', aside=None), Decision(label=None, aside=None))
    """

    seq: int

    def __init__(self, declared: Iterable[str] = (), form: Form | None = None) -> None:
        self.seq = 0
        self.form: Form = form or form_of("classes")
        self.log: dict[int, Answer] = {}
        self.undone: set[int] = set()
        self.labels: dict[int, Label] = {}  # item -> the label that counts, in the order in which items got theirs
        self.aside: dict[int, Kind] = {}
        self.naming: Classes = Classes(declared)
        self.guidelines: list[Change] = []  # the versions of the guidelines, oldest first
        self.notes: Notes = Notes()
        self.roles: dict[str, Role] = {}  # who has which role now; another dict after every change
        self.changes: int = 0  # the number of lines of the log of changes
        self._before: dict[int, frozenset[int]] = {}  # line that drew a sample -> items that had an answer
        # dicts without values are ordered sets: any line leaves them in one step
        self._said: dict[int, dict[str, dict[int, None]]] = {}  # item -> who -> lines not undone; the last one counts
        self._mine: dict[str, dict[int, None]] = {}  # who -> lines not undone
        self._led: set[int] = set()  # lines of people who were leads then
        self._given_back: set[int] = set()  # undos that were taken back
        self._meant: dict[int, tuple[Any, Any]] = {}  # line -> what was given and predicted, with numbers of classes
        self._lines: dict[int, list[int]] = {}  # number of a class -> lines that give or predict it

    def add(self, answer: Answer) -> tuple[Decision, Decision]:
        """Add the next line of the log; return the decision on its item before and after."""
        before = self.decision(answer.item)
        self.seq = answer.seq
        if answer.label is not None:
            both = (
                None if one is None else renamed(one, self.naming.number) for one in (answer.label, answer.predicted)
            )
            self._meant[answer.seq] = meant = (next(both), next(both))
            for number in dict.fromkeys(number for one in meant if one is not None for number in named(one)):
                self._lines.setdefault(number, []).append(answer.seq)
        self.log[answer.seq] = self._renamed(answer)
        if answer.kind in NOTES:
            self._add_note(answer)
        elif answer.kind == "undo":
            self._take_back(answer)
        else:
            self._said.setdefault(answer.item, {}).setdefault(answer.who, {})[answer.seq] = None
            self._mine.setdefault(answer.who, {})[answer.seq] = None
            if self.roles.get(answer.who) == "lead":
                self._led.add(answer.seq)
        after = self._decide(answer.item)
        self._note(answer.item, before, after)
        return before, after

    def add_change(self, change: Change) -> bool:
        """Add the next line of the log of changes; return whether labels that were given have other names now."""
        self.changes = change.seq
        if change.kind == "guidelines":
            self.guidelines.append(change)
        elif change.kind == "certify":
            self._before[change.seq] = frozenset(self.answered())
        elif change.kind == "role":
            self.roles = with_role(self.roles, change)
        renamed = self.naming.add(change)
        lines = sorted({seq for number in renamed for seq in self._lines.get(number, ())})
        new = {seq: self._renamed(self.log[seq]) for seq in lines}
        changed = {answer.item for seq, answer in new.items() if answer != self.log[seq]}
        self.log |= new
        if self.form.ranked:  # another order has another median
            changed |= {item for item, said in self._said.items() if len(said) > 1}
        for item in changed:
            self._note(item, self.decision(item), self._decide(item))
        return bool(changed)

    def answered(self) -> set[int]:
        """Return the items that have an answer: a label, or that nobody can tell, or that it is not a valid item."""
        return {*self.labels, *(item for item, why in self.aside.items() if why != "later")}

    def before(self, drawn: Change) -> frozenset[int]:
        """Return the items that had an answer when a sample was drawn."""
        return self._before[drawn.seq]

    @property
    def sought(self) -> Hashable:
        """What all items are sought of, by the name that it has now, as a plan takes it; None if everything is asked for."""
        if (said := self.naming.sought) is None:
            return None
        alone = self.form.ranked and len(self.classes) < 2  # a single step has none above it
        return self.form.sought(said[0], None if alone else said[1])

    def version(self, answer: Answer) -> int:
        """Return the version of the guidelines under which an answer was given, from 1; 0 if there were none."""
        return sum(change.answers < answer.seq for change in self.guidelines)

    def decision(self, item: int) -> Decision:
        """Return the label that counts for an item, or the reason why it is set aside."""
        return Decision(self.labels.get(item), self.aside.get(item))

    def of(self, item: int) -> dict[str, Answer]:
        """Return the answer of each person to an item: the last one that was not undone."""
        return {who: self.log[next(reversed(said))] for who, said in self._said.get(item, {}).items() if said}

    def predicted(self, item: int) -> Label | None:
        """Return what was predicted before the first answer to a spot check, or None where the item was none."""
        lines = sorted(seq for said in self._said.get(item, {}).values() for seq in said)
        return next((self.log[seq].predicted for seq in lines if self.log[seq].predicted is not None), None)

    def last(self, who: str) -> Answer | None:
        """Return the answer that an undo of this person would take back, or None."""
        mine = self._mine.get(who)
        return self.log[next(reversed(mine))] if mine else None

    def last_together(self, who: str) -> list[Answer]:
        """Return what an undo of this person takes back: the last answer, or all that were given in the same step, oldest first."""
        mine = self._mine.get(who)
        if not mine:
            return []
        last = self.log[next(reversed(mine))]
        if last.how not in TOGETHER:
            return [last]
        action, found = last.key.partition(":")[0], []
        for seq in reversed(mine):
            if self.log[seq].key.partition(":")[0] != action:
                break
            found.append(self.log[seq])
        return found[::-1]

    def since(self, who: str, moment: str) -> list[Answer]:
        """Return the answers of a person from a moment on that were not undone, those to exact copies too, oldest first."""
        return [self.log[seq] for seq in self._mine.get(who, ()) if self.log[seq].at >= moment]

    def taken_back(self, who: str) -> list[Answer]:
        """Return the undos of the last step that took back answers of a person since a time; none if they were given back."""
        undos = [
            line
            for line in self.log.values()
            if line.how == "since" and line.seq not in self._given_back and self.log[line.undoes or 0].who == who
        ]
        step = undos[-1].key.partition(":")[0] if undos else ""
        return [line for line in undos if line.key.partition(":")[0] == step]

    @property
    def has_leads(self) -> bool:
        """Whether a lead has ever answered."""
        return bool(self._led)

    def is_led(self, answer: Answer) -> bool:
        """Return whether the person was a lead when they gave this answer."""
        return answer.seq in self._led

    def word(self, item: int) -> Answer | None:
        """Return the answer of a lead that decides on an item: the newest that is not put off; None if there is none."""
        said = [answer for answer in self.of(item).values() if answer.seq in self._led and answer.kind != "later"]
        return max(said, default=None, key=attrgetter("seq"))

    def decided_by(self, item: int) -> str | None:
        """Return the lead whose word decides on an item where somebody said otherwise; None if nobody did."""
        word = self.word(item)
        if word is None:
            return None
        others = [one for one in self.of(item).values() if one.kind != "later"]
        return word.who if any((one.kind, one.label) != (word.kind, word.label) for one in others) else None

    def decided(self) -> dict[int, str]:
        """Return the items on which the word of a lead decides against others, and who it is."""
        found = {self.log[seq].item: None for seq in sorted(self._led)}
        return {item: lead for item in found if (lead := self.decided_by(item)) is not None}

    def counts(self, answer: Answer) -> bool:
        """Return whether this answer is the person's current one to its item."""
        return self.of(answer.item).get(answer.who) == answer

    @property
    def classes(self) -> list[str]:
        """The classes in the order that people chose; before that those declared, then others as they came into use."""
        used = dict.fromkeys(name for label in self.labels.values() for name in named(label))
        if self.form.ranked:
            known = {*self.declared, *used}
            return [name for name in self.steps if name in known]
        return self.naming.ordered([*self.declared, *used])

    @property
    def steps(self) -> list[str]:
        """All classes that were ever named, in their order: those of ordered answers, the lowest first."""
        return self.naming.ordered([*self.declared, *self.naming.every])

    @property
    def kind(self) -> AnswerKind:
        """The kind of answers, with the classes as they are called and ordered now."""
        return self.form.kind_with(self.classes)

    @property
    def declared(self) -> list[str]:
        """The classes that are there whether in use or not."""
        return self.naming.declared

    @property
    def people(self) -> dict[str, int]:
        """The number of answers of each person that were not undone."""
        return {who: len(mine) for who, mine in self._mine.items() if mine}

    def due(self, who: str, all_of_them: bool = False) -> list[int]:
        """Return the items that this person put off and that are due again; all that were put off with ``all_of_them``."""
        mine = list(self._mine.get(who, ()))
        early = [self.log[seq] for seq in (mine if all_of_them else mine[:-LATER_AFTER_ANSWERS])]
        return [a.item for a in early if a.kind == "later" and self.counts(a) and a.item not in self.labels]

    def short_of(self, wanted: int) -> list[int]:
        """Return the items that some people have answered, but fewer than wanted."""
        given = {item: sum(a.kind != "later" for a in self.of(item).values()) for item in self._said}
        return [item for item, n in given.items() if 0 < n < wanted]

    def opinions(self) -> dict[int, list[Label]]:
        """Return the labels of each item that two people or more have labeled, the newest first; what a copy took is left out."""
        several = (item for item, said in self._said.items() if len(said) > 1)
        found = {item: self._labels(item) for item in several}
        return {item: labels for item, labels in found.items() if len(labels) > 1}

    def _labels(self, item: int) -> list[Label]:
        said = sorted(self.of(item).values(), reverse=True, key=attrgetter("seq"))
        return [answer.label for answer in said if answer.label is not None and answer.how != "copy"]

    def given(self) -> dict[int, dict[str, Label]]:
        """Return who gave which label to each item; what a copy took is left out."""
        found = {item: self._given(item) for item in self._said}
        return {item: given for item, given in found.items() if given}

    def _given(self, item: int) -> dict[str, Label]:
        said = self.of(item).items()
        return {who: answer.label for who, answer in said if answer.label is not None and answer.how != "copy"}

    def ways(self, item: int) -> list[How]:
        """Return how the label of an item was given; none if somebody gave it one by one, or if there is none."""
        given = [a for a in self.of(item).values() if a.label is not None and item in self.labels]
        ways = {a.how: None for a in [a for a in given if a.label == self.labels[item]] or given}
        return [] if None in ways else [how for how in ways if how is not None]

    def together(self) -> int:
        """Return the number of labels that were only ever given together with others in one step."""
        return sum(bool(ways := self.ways(item)) and TOGETHER.issuperset(ways) for item in self.labels)

    def reasons_for(self, label: Label | None) -> list[str]:
        """Return the reasons that are declared for the classes of an answer; none where it says "one of some"."""
        classes = named(label) if label is not None and sure([label]) else ()
        return list(dict.fromkeys(reason for name in classes for reason in self.naming.reasons(name)))

    def reasons(self, item: int) -> list[str]:
        """Return the reasons that people gave for the label that counts for an item, each once."""
        said = [a for a in self.of(item).values() if a.label is not None and a.label == self.labels.get(item)]
        return list(dict.fromkeys(reason for answer in said for reason in self.notes.reasons(answer)))

    def disagreements(self) -> list[int]:
        """Return the items on which people differ and no lead has decided, the farthest apart first: also those that most agree on.

        Whether there is a label to give is something to differ on, too. What a copy took is left out.
        """
        opinions = {item: labels for item, labels in self.opinions().items() if self.word(item) is None}
        splits = self.form.splits(opinions, self.steps)
        for item, said in self._said.items():
            if len(said) > 1 and (share := self._unequal(item)) and self.word(item) is None:
                splits[item] = splits.get(item, 0.0) + share
        return sorted(splits, key=lambda item: (-splits[item], item))

    def _unequal(self, item: int) -> float:
        """Return the share of pairs of answers to an item of which one is a label and the other says that there is none."""
        kinds = [a.kind for a in self.of(item).values() if a.how != "copy" and a.kind != "later"]
        labels = kinds.count("label")
        return 2 * labels * (len(kinds) - labels) / (len(kinds) * (len(kinds) - 1)) if len(kinds) > 1 else 0.0

    def readers(self, item: int) -> list[str]:
        """Return the people who have read an item: not those who put it off, or whose answer a copy took; files read nothing."""
        said = self.of(item).items()
        return [who for who, a in said if a.kind != "later" and a.how != "copy" and who != IMPORT]

    def second_readings(self) -> list[tuple[Answer, Answer]]:
        """Return the answers of a person who saw nothing of what another one had said, each after that first answer."""
        found = []
        for second in self.log.values():
            if second.how == "second" and second.seq not in self.undone:
                first = [a for a in self._before_line(second) if a.who not in (second.who, IMPORT) and a.how != "copy"]
                found += [(first[-1], second)] if first else []
        return found

    def _before_line(self, line: Answer) -> list[Answer]:
        """Return the answers to the item of a line that were given before it, but to put it off, and stand; oldest first."""
        seqs = sorted(seq for said in self._said.get(line.item, {}).values() for seq in said if seq < line.seq)
        return [self.log[seq] for seq in seqs if self.log[seq].kind != "later"]

    def was_reviewed(self, item: int) -> bool:
        """Return whether somebody has answered an item on a second look."""
        return any(answer.how == "review" for answer in self.of(item).values())

    def agreement(self) -> Agreed | None:
        """Return how far people agree on the items that several labeled; None if there are none."""
        sure_of = [sure(labels) for labels in self.opinions().values()]
        pairs = [pair for labels in sure_of for pair in combinations(labels, 2)]
        if not pairs:
            return None
        items = sum(len(labels) > 1 for labels in sure_of)
        return Agreed(items, self.form.share(pairs), self.form.apart(pairs, self.steps))

    def _take_back(self, undo: Answer) -> None:
        answer = self.log.get(undo.undoes or 0)
        if answer is None or answer.seq in self.undone:
            return
        if answer.kind == "undo":
            self._give_back(answer)
            return
        if answer.kind not in KINDS:
            return
        self.undone.add(answer.seq)
        del self._said[answer.item][answer.who][answer.seq]
        del self._mine[answer.who][answer.seq]

    def _give_back(self, undo: Answer) -> None:
        """Let an answer count again that an undo has taken back; an older one of the same person stays behind a newer one."""
        answer = self.log.get(undo.undoes or 0)
        if answer is None or answer.seq not in self.undone or undo.seq in self._given_back:
            return
        self._given_back.add(undo.seq)
        self.undone.remove(answer.seq)
        for lines in (self._said[answer.item][answer.who], self._mine[answer.who]):
            kept = sorted([*lines, answer.seq])
            lines.clear()
            lines.update(dict.fromkeys(kept))

    def _add_note(self, note: Answer) -> None:
        """Add a note, or take one back that stands; one on an answer that is not there says nothing."""
        if note.kind != "withdraw":
            self.notes.add(note)
        elif (found := self.log.get(note.undoes or 0)) and found.kind in NOTES and found.seq not in self.undone:
            self.undone.add(found.seq)
            self.notes.take_back(found)

    def _renamed(self, answer: Answer) -> Answer:
        """Return a line with the names that its classes have now."""
        if answer.seq not in self._meant:
            return answer
        label, predicted = (None if one is None else renamed(one, self.naming.name) for one in self._meant[answer.seq])
        if (label, predicted) == (answer.label, answer.predicted):
            return answer
        return answer._replace(label=label, predicted=predicted)

    def _decide(self, item: int) -> Decision:
        """Return what a lead said; else the label that the form decides on, or the reason that more people give.

        Ties go to the label, or the newest.
        """
        if (word := self.word(item)) is not None:
            return Decision(word.label, None if word.kind == "label" else word.kind)
        said = sorted(self.of(item).values(), reverse=True, key=attrgetter("seq"))
        labels = [a.label for a in said if a.label is not None]
        reasons = Counter(a.kind for a in said if a.label is None and a.kind != "later")
        label = self.form.decide(labels, self.steps if self.form.ranked else ()) if labels else None
        most = max(reasons, key=lambda reason: reasons[reason], default=None)
        if label is not None and (most is None or self.form.support(labels, label) >= reasons[most]):
            return Decision(label)
        return Decision(None, most) if most is not None else Decision(None, "later") if said else OPEN

    def _note(self, item: int, before: Decision, after: Decision) -> None:
        if before.label != after.label and before.label is not None and after.label is None:
            del self.labels[item]
        if after.label is not None:
            self.labels[item] = after.label
        if after.aside is None:
            self.aside.pop(item, None)
        else:
            self.aside[item] = after.aside
