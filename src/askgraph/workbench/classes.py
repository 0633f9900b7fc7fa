"""The classes of a project: their names, order, descriptions and keys, by the changes that people made to them.

A class stays itself when it gets another name: it has a number, and a name that is said means the class that bears this name
then, else the one that bore it last. So an answer that a page sends under an old name still counts for the right class, and a
change that is taken back leaves every answer where it belongs.

Several classes can come to bear one name: one that was last used before another got its name, or one that gets its old name back.
To people they are one class: a change of a name changes all that bear it, and what is said means the one that got the name last.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple
from unicodedata import normalize

from askgraph.errors import LabelError
from askgraph.support.wording import few

ChangeKind = Literal[
    "add",
    "rename",
    "merge",
    "describe",
    "key",
    "order",
    "reasons",
    "find",
    "certify",
    "second",
    "rule",
    "guidelines",
    "role",
    "undo",
]
CLASS_CHANGES: tuple[ChangeKind, ...] = (
    "add", "rename", "merge", "describe", "key", "order", "reasons", "find", "certify", "second", "rule"
)  # fmt: skip
OF_NO_CLASS: tuple[ChangeKind, ...] = ("certify", "second", "guidelines", "role")
KEYS = "1234567890abdefjkloqvyz"  # keys for classes: those that the page does not use itself
MAX_DESCRIPTION_CHARACTERS = 500
MAX_LIKE_CHARACTERS = 1000  # of the words that describe what is to be found
MAX_CLASSES_IN_ORDER = 10_000
MAX_REASONS = 20  # of a class


class Change(NamedTuple):
    """One line of the log of changes, made after ``answers`` lines of the log of answers.

    ``name`` is the class that is changed, or all of whose items are to be found (None: of no class anymore). ``value`` is its
    new name, the class that it is merged into, its description or its key; the names of all classes as JSON, for an order; the
    reasons that an answer of the class can have, as JSON; the share of answered items that a second person is to read; the
    text of the guidelines; beside what is to be found, "at least" for a step and all above it, or which numbers; the draw of a
    random sample that is to certify a search, or a rule that guesses the class, as JSON. Of a "role", ``name`` is the person, and
    ``value`` the role, None for none anymore. ``undoes`` is the ``seq`` of the line that an undo takes back, ``like`` the words
    that describe what is to be found.
    """

    seq: int
    key: str
    who: str
    at: str
    answers: int
    kind: ChangeKind
    name: str | None = None
    value: str | None = None
    undoes: int | None = None
    like: str | None = None


class Classes:
    """All classes so far; ``add`` takes the next line of the log of changes, ``number`` the next name that is said.

    >>> classes = Classes(["ham", "spma"])
    >>> said = classes.number("spma")
    >>> classes.add(Change(1, "a", "ann", "", 1, "rename", "spma", "spam"))
    {1}
    >>> classes.name(said), classes.declared
    ('spam', ['ham', 'spam'])
    """

    def __init__(self, declared: Iterable[str] = ()) -> None:
        self.log: dict[int, Change] = {}
        self.undone: set[int] = set()
        self._first: list[str] = []  # the first name of each class
        self._bore: dict[str, int] = {}  # name -> the class that bore it last
        self._speaks_of: dict[int, tuple[int, ...]] = {}  # line -> the classes that it speaks of
        self._sampled: dict[int, tuple[int | None, str | None]] = {}  # line that drew a sample -> what was sought then
        self._fold()
        self._declared = [self._new(name) for name in dict.fromkeys(declared)]

    def number(self, name: str) -> int:
        """Return the number of the class that a name means now; a name that was never heard is a new class."""
        found = self._heard(name)
        return self._new(name) if found is None else found

    def name(self, number: int) -> str:
        """Return the name of a class now: that of the class it was merged into, if it was."""
        return self._names[self._root(number)]

    def meant(self, name: str) -> str:
        """Return the present name of the class that a name means, or the name itself if it was never heard."""
        found = self._heard(name)
        return name if found is None else self.name(found)

    def add(self, change: Change) -> set[int]:
        """Add the next line of the log of changes; return the numbers of the classes that have another name now."""
        before = [self.name(number) for number in range(len(self._names))]
        self.log[change.seq] = change
        if change.kind == "undo":
            undone = self.log.get(change.undoes or 0)
            if undone is None or undone.seq in self.undone or undone.kind not in CLASS_CHANGES:
                return set()
            self.undone.add(undone.seq)
            self._fold()
        else:
            self._speaks_of[change.seq] = self._resolved(change)
            if change.kind == "certify" and self._sought is not None:
                self._sampled[change.seq] = self._sought[:2]
            self._apply(change)
        return {number for number, name in enumerate(before) if self.name(number) != name}

    def last(self, who: str) -> Change | None:
        """Return the last change of classes by this person that was not taken back, or None."""
        return next((change for change in reversed(self.standing) if change.who == who), None)

    @property
    def standing(self) -> list[Change]:
        """The changes of classes that were not taken back, oldest first."""
        return [c for c in self.log.values() if c.kind in CLASS_CHANGES and c.seq not in self.undone]

    @property
    def declared(self) -> list[str]:
        """The names of the classes that were declared or added, whether in use or not."""
        return self._names_of((*self._declared, *self._added))

    @property
    def heard(self) -> set[str]:
        """All names that a class bears or bore, or that were ever said for one."""
        return set(self._bore)

    @property
    def every(self) -> list[str]:
        """The present names of all classes that were ever named, in the order in which they were first."""
        return self._names_of(range(len(self._first)))

    @property
    def sought(self) -> tuple[str | None, str | None] | None:
        """The class all of whose items are to be found, and what is said beside it; None if nothing is sought."""
        if self._sought is None:
            return None
        number, value, _ = self._sought
        return None if number is None else self.name(number), value

    @property
    def like(self) -> str | None:
        """The words that describe what is to be found; None if there are none."""
        return None if self._sought is None else self._sought[2]

    @property
    def sample(self) -> Change | None:
        """The line that drew the sample of the search that goes on; None if none was drawn since it began."""
        return None if self._sample is None else self.log[self._sample]

    @property
    def samples(self) -> list[Change]:
        """The lines that drew a sample of what is sought, oldest first; also those taken back."""
        return [self.log[seq] for seq in self._sampled if self._seeks_as_at(seq)]

    @property
    def rules(self) -> list[tuple[Change, str]]:
        """The lines of the rules that stand, oldest first, each with the present name of the class that it guesses."""
        return [(c, self.name(self._speaks_of[c.seq][0])) for c in self.standing if c.kind == "rule"]

    def _seeks_as_at(self, seq: int) -> bool:
        """Return whether the same is sought as when this line drew a sample, by what the classes are called now."""
        if seq not in self._sampled or self._sought is None:
            return False
        (then, value), (now, value_now) = self._sampled[seq], self._sought[:2]
        names = [None if number is None else self.name(number) for number in (then, now)]
        return names[0] == names[1] and value == value_now

    def ordered(self, names: Iterable[str]) -> list[str]:
        """Return names of classes in the order that people chose; those that they did not place come last, as they are."""
        place = {name: k for k, name in enumerate(self._names_of(self._order))}
        return sorted(dict.fromkeys(names), key=lambda name: place.get(name, len(place)))

    def description(self, name: str) -> str:
        """Return the sentence that describes a class; empty if there is none."""
        return self._described.get(self._heard(name), "")

    def reasons(self, name: str) -> list[str]:
        """Return the reasons that an answer of a class can have: its own, then those of the classes that were merged into it."""
        if (number := self._heard(name)) is None:
            return []
        root = self._root(number)
        family = (root, *(one for one in self._reasons if one != root and self.name(one) == self._names[root]))
        return list(dict.fromkeys(reason for one in family for reason in self._reasons.get(one, ())))

    def keys(self, names: Sequence[str], able: str = KEYS) -> dict[str, str]:
        """Return the key of each class: the chosen one, else its name if that is a key, else the next free one, "" if none is.

        ``able`` are the keys that a class may have.

        >>> Classes().keys(["ham", "3", "spam"])
        {'ham': '1', '3': '3', 'spam': '2'}
        """
        mine = {key: name for name in names if (key := self._keys.get(self._heard(name))) and key in able}
        own = {name.casefold(): name for name in reversed(names) if len(name) == 1 and name.casefold() in able}
        mine = {key: name for key, name in own.items() if name not in mine.values()} | mine
        free, of = iter([key for key in able if key not in mine]), {name: key for key, name in mine.items()}
        return {name: of[name] if name in of else next(free, "") for name in names}

    def check(
        self, kind: ChangeKind, name: str | None, value: str | None, names: Sequence[str], able: str = KEYS
    ) -> None:
        """Raise an error for a change that cannot be made now; ``names`` are the classes there are, ``able`` their keys."""
        if kind not in CLASS_CHANGES:
            raise LabelError(f"a change of kind {kind!r}: choose {', '.join(CLASS_CHANGES)}")
        if kind == "order":
            return _check_order(value, names)
        if kind == "add":
            return _check_free(name or "", names)
        if kind in OF_NO_CLASS or (kind == "find" and name is None):
            return None
        if name not in names:
            raise LabelError(
                f"no class {name!r}; there are {few(list(names)) or 'none'}; take one of these, or add it first"
            )
        if kind == "rename":
            _check_free(value or "", names)
        elif kind == "merge" and (value not in names or value == name):
            raise LabelError(f"{name!r} cannot be merged into {value!r}: name another class of {few(list(names))}")
        elif kind == "rule" and any(value == change.value for change, _ in self.rules):
            raise LabelError(
                "there is this rule already; askgraph sources lists all, and askgraph rule --remove ends one"
            )
        elif kind == "key" and value and (len(value) != 1 or value not in able):
            raise LabelError(f"the key {value!r}: choose one of {able}, which the page does not use itself, or none")
        return None

    def _new(self, name: str) -> int:
        number = self._bore[name] = len(self._first)
        self._first.append(name)
        self._names.append(name)
        self._bears.setdefault(name, {})[number] = None
        return number

    def _heard(self, name: str) -> int | None:
        """Return the number of the class that a name means now, or None if the name was never heard."""
        last, bearing = self._bore.get(name), self._bears.get(name, {})
        return last if last in bearing else next(reversed(bearing), last)

    def _bearers(self, name: str) -> tuple[int, ...]:
        """Return the numbers of all classes that bear the name of the class that a name means, that class first."""
        meant = self._root(self.number(name))
        return tuple({meant: None, **self._bears.get(self._names[meant], {})})

    def _resolved(self, change: Change) -> tuple[int, ...]:
        """Return the numbers of the classes that a change speaks of, by the names they have when it is made.

        Of a merge, the class that the others are merged into comes first.
        """
        if change.kind == "add":
            name = change.name or ""
            return (self.number(name) if self._bears.get(name) else self._new(name),)  # one in use before is it again
        if change.kind == "order":
            return tuple(self.number(str(name)) for name in _names_in(change.value))
        if change.kind in OF_NO_CLASS or (change.kind == "find" and change.name is None):
            return ()
        numbers = self._bearers(change.name or "")
        if change.kind in ("rename", "merge"):
            self._bore[change.name or ""] = numbers[0]
        if change.kind == "rename":
            self._bore[change.value or ""] = numbers[0]
        return (self._root(self.number(change.value or "")), *numbers) if change.kind == "merge" else numbers

    def _fold(self) -> None:
        """Compute names, order, descriptions and keys from the changes that stand."""
        self._names, self._into = list(self._first), dict[int, int]()
        self._bears: dict[str, dict[int, None]] = {}  # name -> the classes that bear it
        for number, name in enumerate(self._names):
            self._bears.setdefault(name, {})[number] = None
        self._described, self._keys = dict[int | None, str](), dict[int | None, str]()
        self._reasons: dict[int, list[str]] = {}
        self.second: float = 0.0  # the share of answered items that a second person is to read
        self._order: tuple[int, ...] = ()
        self._added: list[int] = []
        self._sought: tuple[int | None, str | None, str | None] | None = None
        self._sample: int | None = None
        for change in self.standing:
            self._apply(change)

    def _apply(self, change: Change) -> None:
        """Make a change, by the numbers of the classes that it speaks of."""
        numbers, value = self._speaks_of[change.seq], change.value or ""
        if change.kind == "add":
            self._added += numbers
        elif change.kind == "rename":
            for number in numbers:
                self._bears[self._names[number]].pop(number, None)
                self._names[number] = value
                if number not in self._into:
                    self._bears.setdefault(value, {})[number] = None
        elif change.kind == "merge":
            for number in numbers[1:]:
                if self._root(numbers[0]) != number:
                    self._into[number] = numbers[0]
                    self._bears[self._names[number]].pop(number, None)
        elif change.kind == "describe":
            self._described |= dict.fromkeys(numbers, value)
        elif change.kind == "key":
            others = {number: key for number, key in self._keys.items() if key != value}
            self._keys = others | dict.fromkeys(numbers, value)
        elif change.kind == "order":
            self._order = numbers
        elif change.kind == "reasons":
            self._reasons |= dict.fromkeys(numbers, _names_in(value)[:MAX_REASONS])
        elif change.kind == "second":
            self.second = _share_in(value)
        elif change.kind == "find":
            found = (numbers[0] if numbers else None, change.value, change.like)
            self._sought = found if numbers or change.value else None
            self._sample = self._sample if self._sample is not None and self._seeks_as_at(self._sample) else None
        elif change.kind == "certify" and self._seeks_as_at(change.seq):
            self._sample = change.seq

    def _names_of(self, numbers: Iterable[int]) -> list[str]:
        """Return names once each, in order; a class that others were merged into has their place only if it has none."""
        named = [(self.name(number), number in self._into) for number in numbers]
        placed = {name for name, merged in named if not merged}
        return list(dict.fromkeys(name for name, merged in named if not merged or name not in placed))

    def _root(self, number: int) -> int:
        while number in self._into:
            number = self._into[number]
        return number


def in_words(change: Change) -> str:
    """Return a change in words, for people.

    >>> in_words(Change(1, "a", "ann", "", 0, "merge", "Sprots", "Sports"))
    'Sprots merged into Sports'
    """
    sought = " and above".join([change.name, ""]) if change.name and change.value else change.name or change.value
    like = f", like {change.like!r}" if change.like else ""
    said = {
        "add": f"{change.name} added",
        "rename": f"{change.name} renamed to {change.value}",
        "merge": f"{change.name} merged into {change.value}",
        "describe": f"{change.name} described: {change.value}",
        "key": f"key of {change.name}: {change.value or 'none'}",
        "order": f"order: {', '.join(_names_in(change.value))}",
        "reasons": f"reasons of {change.name}: {', '.join(_names_in(change.value)) or 'none'}",
        "second": f"{_share_in(change.value):.0%} of answered items for a second person to read",
        "find": f"finding all of {sought}{like}" if sought else "finding ended: every item may be asked for",
        "certify": "a random sample drawn, to certify how much is found",
        "rule": f"a rule suggests {change.name}",
        "guidelines": "guidelines written",
        "role": f"{change.name}: {change.value or 'no role'}",
    }
    return said.get(change.kind, change.kind)


def _check_free(name: str, names: Sequence[str]) -> None:
    if name in names:
        raise LabelError(f"there is a class {name!r} already; to make one class of two, merge them")


def _check_order(value: str | None, names: Sequence[str]) -> None:
    given = _names_in(value)
    if odd := [name for name in given if name not in names] or [name for name in names if name not in given]:
        raise LabelError(f"an order of the classes names each of them once; look at {few(list(map(str, odd)))}")
    if len(set(given)) < len(given):
        raise LabelError("an order of the classes names each of them once; some come twice")


def read_share(text: str) -> float:
    """Return the share that a person types, as a percentage or from 0 to 1; raise an error if it is none.

    >>> read_share("10%"), read_share("0.1"), read_share("0")
    (0.1, 0.1, 0.0)
    """
    typed = "".join(text.split())
    try:
        share = float(typed.removesuffix("%")) / (100 if typed.endswith("%") else 1)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise LabelError(f"{text!r} is not a share of the items: give one from 0 % to 100 %, such as 10%; 0 ends it")
    return share


def _share_in(value: str | None) -> float:
    try:
        return read_share(value or "0")
    except LabelError:
        return 0.0


def _names_in(value: str | None) -> list[str]:
    try:
        found = json.loads(value or "[]")
    except (ValueError, RecursionError):
        return []
    return [normalize("NFC", str(name)) for name in found][:MAX_CLASSES_IN_ORDER] if isinstance(found, list) else []
