"""What people said and how they changed classes, kept apart from askgraph: names in a list, and a change writes over them."""

from __future__ import annotations

import copy
from collections import Counter
from dataclasses import dataclass, field


@dataclass
class Line:
    """One answer; ``name`` is the class that it means now, ``step`` is shared by answers to many items."""

    who: str
    item: str | int
    kind: str
    name: str | None
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

    @property
    def decisions(self):
        """Return the label of each item, or the reason why it is set aside: what most people say, of as many the last."""
        found = {}
        for item in dict.fromkeys(line.item for line in self.lines):
            last = {line.who: (k, line) for k, line in enumerate(self.lines) if line.item == item and not line.undone}
            said = [(line.kind, line.name) for _, line in sorted(last.values(), key=lambda one: -one[0])]
            votes = Counter(vote for vote in said if vote[0] != "later")
            if votes:
                found[item] = max(votes, key=lambda vote: (votes[vote], vote[0] == "label"))
            elif said:
                found[item] = ("later", None)
        return found

    @property
    def labels(self):
        return {item: name for item, (kind, name) in self.decisions.items() if kind == "label"}

    @property
    def classes(self):
        return {*self.declared, *self.labels.values()}

    @property
    def heard(self):
        """Return the names that are those of classes, in use or not."""
        return {*self.declared, *self.spoken, *(line.name for line in self.lines if line.name)}

    def say(self, who, item, kind, name=None):
        self.say_all(who, [item], kind, name)

    def say_all(self, who, items, kind, name=None):
        """Give one answer to some items, in one step."""
        self.before, self.steps = None, self.steps + 1
        meant = name if name in self.classes else self.became.get(name, name)
        self.lines += [Line(who, item, kind, meant, self.steps) for item in items]

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
        self.spoken.add(name)
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

    def _describe(self, name, value):
        self.spoken.add(name)
        self.described[name] = value

    def _key(self, name, value):
        self.spoken.add(name)
        self.keys = {other: key for other, key in self.keys.items() if key != value} | {name: value}

    def _write_over(self, old, new):
        for line in self.lines:
            line.name = new if line.name == old else line.name
        self.declared = [new if name == old else name for name in self.declared]
        self.spoken = (self.spoken - {old}) | {new}
        self.became = {name: new if now == old else now for name, now in self.became.items() if name != new} | {
            old: new
        }
