"""What people said and how they changed classes, kept apart from askgraph: names in a list, and a change writes over them."""

from __future__ import annotations

import copy
from collections import Counter
from dataclasses import dataclass, field
from statistics import median

# An answer is a class: "a"; one of some: ("or", frozenset("ab")); several classes or none: frozenset("ab"); or a number: 2.5


@dataclass
class Line:
    """One answer; ``name`` is the class that it means now, or another answer, ``step`` is shared by answers to many items."""

    who: str
    item: str | int
    kind: str
    name: object
    step: int
    undone: bool = False


@dataclass
class PlainModel:
    """Answers and classes as people would keep them on paper.

    Only the last change can be taken back, before anything else happens: then all is as it was before it.
    """

    declared: list[str]
    lines: list[Line] = field(default_factory=list)
    described: dict[str, str] = field(default_factory=dict)
    keys: dict[str, str] = field(default_factory=dict)
    became: dict[str, str] = field(default_factory=dict)  # a name that no class has anymore -> what it is called now
    spoken: set[str] = field(default_factory=set)  # names in changes: heard, though perhaps of no answer
    steps: int = 0
    before: tuple[str, tuple[str, ...], PlainModel] | None = None  # the last change, and what was before it
    answers: str = "classes"
    placed: list[str] = field(default_factory=list)  # the classes in the order that people chose
    known: list[str] = field(default_factory=list)  # all classes in the order in which they came to be known

    @property
    def decisions(self):
        """Return the label of each item, or the reason why it is set aside.

        A label counts unless more people give one reason than stand behind it; of reasons, that of most people counts, of as many
        the newest.
        """
        found = {}
        for item in dict.fromkeys(line.item for line in self.lines):
            last = {line.who: (k, line) for k, line in enumerate(self.lines) if line.item == item and not line.undone}
            said = [(line.kind, line.name) for _, line in sorted(last.values(), key=lambda one: -one[0])]
            labels = [name for kind, name in said if kind == "label"]
            reasons = Counter(kind for kind, _ in said if kind not in ("label", "later"))
            most = max(reasons.values(), default=0)
            label, behind = getattr(self, f"_{self.answers}")(labels) if labels else (None, -1)
            if behind >= most:
                found[item] = ("label", label)
            elif most:
                found[item] = (next(kind for kind, _ in said if reasons[kind] == most), None)
            elif said:
                found[item] = ("later", None)
        return found

    def _classes(self, labels):
        """What most of those say who are sure, else most of all; of as many the newest; and how many say exactly this."""
        votes = [label for label in labels if isinstance(label, str)] or labels
        label = max(votes, key=votes.count)
        return label, labels.count(label)

    def _ordered(self, labels):
        """The step in the middle of those who are sure, of two the one said last; and everybody stands behind it."""
        sure = [label for label in labels if isinstance(label, str)]
        if not sure:
            return max(labels, key=labels.count), len(labels)
        low_to_high = sorted(sure, key=self.order.index)
        middle = {low_to_high[(len(sure) - 1) // 2], low_to_high[len(sure) // 2]}
        return next(label for label in sure if label in middle), len(labels)

    def _several(self, labels):
        """Each class that more than half of all say, or half with the newest; and everybody stands behind it."""
        votes = {name: [name in label for label in labels] for name in frozenset().union(*labels)}
        half = len(labels) / 2
        label = frozenset(n for n, said in votes.items() if sum(said) > half or (sum(said) == half and said[0]))
        return label, len(labels)

    def _numbers(self, labels):
        """The median; and everybody stands behind it."""
        return median(labels), len(labels)

    @property
    def order(self):
        """Return all classes in order: first as people placed them, then as declared, then as they came to be known."""
        return list(dict.fromkeys([*self.placed, *self.declared, *self.known]))

    @property
    def labels(self):
        return {item: name for item, (kind, name) in self.decisions.items() if kind == "label"}

    @property
    def classes(self):
        return {*self.declared, *(name for label in self.labels.values() for name in names_in(label))}

    @property
    def heard(self):
        """Return the names that are those of classes, in use or not."""
        return {*self.declared, *self.spoken, *(name for line in self.lines for name in names_in(line.name))}

    def say(self, who, item, kind, name=None):
        self.say_all(who, [item], kind, name)

    def say_all(self, who, items, kind, name=None):
        """Give one answer to some items, in one step."""
        self.before, self.steps = None, self.steps + 1
        meant = with_names(name, self.meant)
        self.known += [name for name in sorted(names_in(meant)) if name not in self.known]
        self.lines += [Line(who, item, kind, meant, self.steps) for item in items]

    def meant(self, name):
        """Return the class that a name means: that of this name, else the one that had it."""
        return name if name in self.classes else self.became.get(name, name)

    def may_answer(self, who, item):
        """Return whether an answer of this person to many items reaches this one: nobody has answered it, or only "later"."""
        last = {line.who: line.kind for line in self.lines if line.item == item and not line.undone}
        return last[who] == "later" if who in last else set(last.values()) <= {"later"}

    def undo(self, who):
        """Take back the last step of a person; return whether there was one."""
        self.before = None
        mine = [line for line in self.lines if line.who == who and not line.undone]
        for line in mine:
            line.undone = line.step == mine[-1].step
        return bool(mine)

    def remove(self, item):
        self.before = None
        self.lines = [line for line in self.lines if line.item != item]

    def can(self, kind, name=None, value=None):
        """Return whether a change can be made."""
        if kind == "order":
            return True
        if kind == "add":
            return name not in self.classes
        if kind == "merge":
            return name in self.classes and value in self.classes and name != value
        return name in self.classes and (kind != "rename" or value not in self.classes)

    def change(self, kind, name, value=None):
        self.before = (kind, (name, value), copy.deepcopy(self, {id(self.before): None}))
        getattr(self, f"_{kind}")(name, value)

    def undo_change(self):
        """Take back the change that was just made."""
        kind, (name, value), earlier = self.before
        self.__dict__.update(earlier.__dict__, before=None)
        if kind == "order":
            return
        self.spoken.add(name)
        self.known += [name] * (name not in self.known)
        if kind == "rename" and value not in self.heard:
            self.became[value] = name
        self.became.pop(name, None)

    def _rename(self, old, new):
        self._write_over(old, new)
        for given in (self.described, self.keys):
            given.pop(new, None)
            given |= {new: given.pop(old)} if old in given else {}

    def _merge(self, old, new):
        self._write_over(old, new)
        self.described.pop(old, None)
        self.keys.pop(old, None)

    def _add(self, name, _):
        self.spoken.add(name)
        self.became.pop(name, None)
        self.declared.append(name)

    def _order(self, _, names):
        self.placed = list(names)

    def _describe(self, name, value):
        self.spoken.add(name)
        self.described[name] = value

    def _key(self, name, value):
        self.spoken.add(name)
        self.keys = {other: key for other, key in self.keys.items() if key != value} | {name: value}

    def _write_over(self, old, new):
        """Give a class another name; if there is a class of this name, that one keeps its place."""

        def written(names):
            rest = [name for name in names if name != old] if new in names else names
            return [new if name == old else name for name in rest]

        for line in self.lines:
            line.name = with_names(line.name, lambda name: new if name == old else name)
        self.declared, self.placed, self.known = written(self.declared), written(self.placed), written(self.known)
        self.spoken = (self.spoken - {old}) | {new}
        self.became = {name: new if now == old else now for name, now in self.became.items() if name != new} | {
            old: new
        }


def names_in(answer):
    """Return the classes that an answer names."""
    if isinstance(answer, tuple):
        return answer[1]
    return answer if isinstance(answer, frozenset) else {answer} if isinstance(answer, str) else set()


def with_names(answer, name_of):
    """Return an answer with other names of its classes: several that get one name are one, and one of one is that one."""
    names = frozenset(map(name_of, names_in(answer)))
    if isinstance(answer, tuple):
        return ("or", names) if len(names) > 1 else next(iter(names))
    return names if isinstance(answer, frozenset) else next(iter(names)) if isinstance(answer, str) else answer
