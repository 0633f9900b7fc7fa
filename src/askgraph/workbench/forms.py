"""How answers of each kind are written in a project, and which one counts where several people gave some.

=========  ==============================  ========================  ============================
kind       in the program                  in a table or a command   as JSON
=========  ==============================  ========================  ============================
classes    "cat"; ``one_of("cat", "dog")``  cat; cat|dog              "cat"; {"one of": ["cat", "dog"]}
ordered    "bad"; ``one_of("bad", "fair")`` bad; bad|fair             "bad"; {"one of": ["bad", "fair"]}
several    ("cat", "dog"); ()              cat|dog; (none)           ["cat", "dog"]; []
numbers    3.5                             3.5                       3.5
=========  ==============================  ========================  ============================

So an answer may be empty, or 0: whether there is one is never asked by its truth.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any, ClassVar
from unicodedata import normalize

import numpy as np

from askgraph.answers.plain import plain_number
from askgraph.answers.shares import OneOf, Shares, one_of, to_plain
from askgraph.answers.sought import at_least
from askgraph.errors import LabelError, SettingError
from askgraph.io.decimals import is_decimal
from askgraph.kinds import Kind
from askgraph.kinds.named import as_kind
from askgraph.kinds.numbers import HIGHEST, LOWEST
from askgraph.kinds.one_class import OneClass
from askgraph.kinds.ordered import Ordered
from askgraph.support.wording import few
from askgraph.workbench.agreement import Distance
from askgraph.workbench.cells import is_missing, one_line, one_name
from askgraph.workbench.cells import number as number_in
from askgraph.workbench.classes import KEYS
from askgraph.workbench.names import check_name

Label = str | float | tuple[str, ...] | OneOf
ONE_OF = "one of"  # what a line of the log, or JSON, calls such an answer
MARK = "|"  # between the classes of an answer in a table
NONE = "(none)"  # an answer without any class in a table: an empty cell is no answer
AT_LEAST = "at least"  # what a person says before a step, or a number, to find all from it on
MAX_SHOWN = 60  # characters of a cell that an error shows
MAX_UNIT_CHARACTERS = 40
FAR = 3.0  # times the median difference of two answers to an item: numbers that differ by more are disputed


class Form(ABC):
    """How answers of one kind are written, read and counted.

    Attributes
    ----------
    kind : Kind
        The kind of answers, as the project was made with it.
    """

    kind: Kind
    ranked: ClassVar[bool] = False  # whether the classes have an order
    exclusive: ClassVar[bool] = False  # whether an item is of one class
    distance: ClassVar[Distance] = "nominal"  # by which the agreement of people is measured
    keys: ClassVar[str] = KEYS  # that a class may have on the page

    def __init__(self, kind: Kind) -> None:
        self.kind = kind

    def declare(self, classes: Sequence[str]) -> list[str]:
        """Return the classes that a project is made with, checked."""
        return list(dict.fromkeys(class_name(name) for name in classes))

    def kind_with(self, classes: Sequence[str]) -> Kind:
        """Return the kind for these classes, which may have other names and another order than at first."""
        return self.kind

    def can_judge(self, classes: Sequence[str], labels: int) -> bool:
        """Return whether there is something to predict, so that one may ask how well."""
        return len(classes) > 1

    @property
    def targets(self) -> tuple[float, float, str]:
        """The least and the largest error that may be aimed at, and what to give."""
        return 0.001, 0.5, "a share of wrong predictions from 0.001 to 0.5"

    @abstractmethod
    def parse(self, said: Any, known: Collection[str]) -> Label:
        """Return what a program or a page says, given as in the program or as JSON, with names checked.

        Whether it fits the classes there are, the kind says. ``known`` are names that are classes already: such names stand,
        also those of earlier versions that no class may get anymore.
        """

    def check(self, said: Any, classes: Sequence[str], meant: Callable[[str], str] = str) -> Label:
        """Return what is said, checked against the classes there are; ``meant`` turns a former name of a class into its present."""
        label = self.parse(said, classes)
        now = renamed(label, meant)
        if self.ranked and (
            odd := [name for name in named(now) if name not in classes]
        ):  # somebody has to say its place
            raise LabelError(f"{odd[0]!r} is no step: choose one of {', '.join(map(repr, classes))}")
        self.kind_with(classes).checked(now, classes)
        return label

    def sought(self, name: str | None, value: str | None) -> Hashable:
        """Return what a learner looks for: a class by its name, or what ``value`` says instead or beside."""
        if name is None or value:
            raise LabelError(f"{value or name!r} cannot be sought: name one of the classes")
        return name

    def read_sought(self, text: str) -> tuple[str | None, str | None]:
        """Return the class that a person types to find all of its items, and what is said beside it."""
        return text, None

    def sought_text(self, name: str | None, value: str | None) -> str:
        """Return what is sought for people to read."""
        return name or value or ""

    def new_class(self, name: str, known: Collection[str]) -> str:
        """Return the name that a class is to get, checked."""
        return class_name(name, known)

    @abstractmethod
    def read(self, cell: Any, known: Collection[str]) -> Label | None:
        """Return what a cell of a table or a word of a command says; None for an empty cell."""

    def refusal(self, text: str) -> str:
        """Return the sentence on a word of a command that stands for an empty cell."""
        return f"{text!r} says nothing: name a class"

    def write(self, label: Label) -> str | float:
        """Return the cell for an answer."""
        return label if isinstance(label, str) else MARK.join(map(str, named(label)))

    def text(self, label: Label) -> str:
        """Return an answer for people to read."""
        return str(self.write(label))

    def text_of(self, said: Any, known: Collection[str]) -> str:
        """Return an answer that is given as JSON for people to read; ``known`` are the names of classes at any time."""
        return self.text(self.parse(said, known))

    def rank(self, label: Label, steps: Mapping[str, int]) -> Any:
        """Return what answers are sorted by; ``steps`` are the places of ordered classes."""
        return self.text(label)

    @abstractmethod
    def decide(self, labels: Sequence[Label], steps: Sequence[str]) -> Label:
        """Return the answer that counts of those that people gave to an item, the newest first; ``steps`` are ordered classes."""

    def support(self, labels: Sequence[Label], decided: Label) -> int:
        """Return how many of these people stand behind what was decided, against those who say that it cannot be told."""
        return len(labels)

    def share(self, pairs: Sequence[tuple[Label, Label]]) -> float | None:
        """Return the share of pairs of answers to an item that are the same; None where answers hardly ever are."""
        return sum(one == other for one, other in pairs) / len(pairs)

    def apart(self, pairs: Sequence[tuple[Label, Label]], steps: Sequence[str]) -> float | None:
        """Return how far two answers to an item usually are apart; None where they are the same or not."""
        return None

    def splits(self, opinions: Mapping[int, Sequence[Label]], steps: Sequence[str]) -> dict[int, float]:
        """Return the items whose answers differ, of those that two or more answered, and how far on average, from 0 to 1."""
        found = {item: self._split(labels, steps) for item, labels in opinions.items()}
        return {item: split for item, split in found.items() if split > 0}

    def _split(self, labels: Sequence[Label], steps: Sequence[str]) -> float:
        """Return how far pairs of answers to an item differ on average; "one of some" counts where nobody is sure."""
        pairs = list(combinations(sure(labels) or labels, 2))
        return sum(self._gap(one, other, steps) for one, other in pairs) / len(pairs) if pairs else 0.0

    def _gap(self, one: Label, other: Label, steps: Sequence[str]) -> float:
        """Return how far two answers are apart, from 0 to 1."""
        return float(one != other)


class ClassForm(Form):
    """One class per answer, or one of some classes of which nobody knows which."""

    exclusive: ClassVar[bool] = True

    def parse(self, said: Any, known: Collection[str]) -> Label:
        """Return the class, or one of some."""
        if isinstance(said, Mapping) and set(said) == {ONE_OF}:
            names = said[ONE_OF]
            return one_of(*(class_name(name, known) for name in names)) if isinstance(names, list) else one_of(names)
        if isinstance(said, OneOf):
            return one_of(*(class_name(str(name), known) for name in said.names))
        if isinstance(said, Mapping | Shares):
            raise LabelError(f"{said}: a project keeps no shares of classes; say one class, or 'one of' some")
        if not isinstance(said, str):
            raise LabelError(f"{said!r} ({type(said).__name__}) is not a class: give one name, as text")
        return class_name(said, known)

    def read(self, cell: Any, known: Collection[str]) -> Label | None:
        """Return the class of this name, else one of some classes whose names the cell joins."""
        name = one_name(cell)
        if name is None or name in known or MARK not in name:
            return name
        names = [part.strip() for part in name.split(MARK)]
        return one_of(*names) if len(set(names)) > 1 and set(names) <= set(known) else name

    def text(self, label: Label) -> str:
        """Return the class, or some of them joined by "or"."""
        return str(label)

    def decide(self, labels: Sequence[Label], steps: Sequence[str]) -> Label:
        """Return the class that most people said, of several the newest; "one of some" counts where nobody is sure."""
        votes = Counter(sure(labels) or labels)
        return max(votes, key=lambda label: votes[label])

    def support(self, labels: Sequence[Label], decided: Label) -> int:
        """Return how many people said this class."""
        return list(labels).count(decided)


class OrderedForm(ClassForm):
    """One step of an order per answer; the steps are the classes in their order."""

    ranked: ClassVar[bool] = True
    distance: ClassVar[Distance] = "ordinal"

    def declare(self, classes: Sequence[str]) -> list[str]:
        """Return the steps, at least two."""
        found = super().declare(classes or [str(step) for step in getattr(self.kind, "steps", ())])
        if len(found) < 2:
            raise SettingError('answers="ordered": name the steps, the lowest first, such as --classes "bad,fair,good"')
        return found

    @property
    def targets(self) -> tuple[float, float, str]:
        """The least and the largest error that may be aimed at, and what to give."""
        return 0.001, 100.0, "how many steps a prediction may be off, from 0.001 to 100"

    def kind_with(self, classes: Sequence[str]) -> Kind:
        """Return the kind with these steps; a single one has no order."""
        return Ordered(tuple(classes)) if len(classes) > 1 else OneClass()

    def decide(self, labels: Sequence[Label], steps: Sequence[str]) -> Label:
        """Return the median step, of two the one said last; "one of some" counts where nobody is sure."""
        known = sure(labels)
        if not known:
            return super().decide(labels, steps)
        middle = self._middle(known, steps)
        return next(label for label in known if label in middle)

    def rank(self, label: Label, steps: Mapping[str, int]) -> Any:
        """Return the steps that an answer names."""
        return [steps[name] for name in named(label)]

    def sought(self, name: str | None, value: str | None) -> Hashable:
        """Return a step, or all from one on."""
        return at_least(name) if name is not None and value == AT_LEAST else super().sought(name, value)

    def read_sought(self, text: str) -> tuple[str | None, str | None]:
        """Return a step, and whether all above it are sought, too."""
        return (text.removeprefix(AT_LEAST).strip(), AT_LEAST) if text.startswith(f"{AT_LEAST} ") else (text, None)

    def sought_text(self, name: str | None, value: str | None) -> str:
        """Return a step, or all from one on."""
        return " ".join(part for part in (value, name) if part)

    def support(self, labels: Sequence[Label], decided: Label) -> int:
        """Return how many people said a step: the median is of all."""
        return len(labels)

    def _gap(self, one: Label, other: Label, steps: Sequence[str]) -> float:
        if isinstance(one, OneOf) or isinstance(other, OneOf) or len(steps) < 2:
            return super()._gap(one, other, steps)
        return abs(steps.index(str(one)) - steps.index(str(other))) / (len(steps) - 1)

    def apart(self, pairs: Sequence[tuple[Label, Label]], steps: Sequence[str]) -> float | None:
        """Return how many steps two answers are apart, on average."""
        place = {step: k for k, step in enumerate(steps)}
        return float(np.mean([abs(place[str(one)] - place[str(other)]) for one, other in pairs]))

    def _middle(self, known: Sequence[Label], steps: Sequence[str]) -> list[Label]:
        found = sorted(known, key=lambda label: steps.index(str(label)))
        return [found[(len(found) - 1) // 2], found[len(found) // 2]]


class SeveralForm(Form):
    """Any of several classes per answer, or none of them."""

    distance: ClassVar[Distance] = "sets"
    keys: ClassVar[str] = KEYS.replace("0", "")  # which says that an item has none of the classes

    def declare(self, classes: Sequence[str]) -> list[str]:
        """Return the classes, whose names a cell can hold side by side."""
        return list(dict.fromkeys(class_of_several(name) for name in classes))

    @property
    def targets(self) -> tuple[float, float, str]:
        """The least and the largest error that may be aimed at, and what to give."""
        return 0.001, 0.9, "how far the F1 may be below 1, from 0.001 to 0.9"

    def parse(self, said: Any, known: Collection[str]) -> Label:
        """Return the classes, each once."""
        if getattr(said, "shape", None) == ():
            said = said.item()
        if isinstance(said, Mapping | Shares | OneOf) or not isinstance(said, str | list | tuple | set | frozenset):
            self.kind.checked(said, list(known))  # says what is missing, or a set
            raise LabelError(f"{said!r} ({type(said).__name__}) is no list of classes: give their names")
        return _sorted(class_of_several(name, known) for name in ([said] if isinstance(said, str) else said))

    def can_judge(self, classes: Sequence[str], labels: int) -> bool:
        """Return whether some class is known, and some answer."""
        return bool(classes) and labels > 0

    def new_class(self, name: str, known: Collection[str]) -> str:
        """Return the name, which a cell must be able to hold beside others."""
        return class_of_several(name, known)

    def read(self, cell: Any, known: Collection[str]) -> Label | None:
        """Return the classes that a cell joins, or lists as JSON; a list of a cell that holds one is taken as it is."""
        if isinstance(cell, list | tuple):
            return _sorted(str(one_name(name) or "") for name in cell)
        name = one_name(cell)
        if name is None or name == NONE:
            return None if name is None else ()
        if (listed := _json_list(name)) is not None:
            return _sorted(str(one_name(part) or "") for part in listed)
        return _sorted(part.strip() for part in name.split(MARK))

    def refusal(self, text: str) -> str:
        """Return the sentence on a word of a command that stands for an empty cell, which is never "none"."""
        return f"{text!r} says nothing: name classes, with {MARK!r} between them, or {NONE!r} for none of them"

    def write(self, label: Label) -> str:
        """Return the classes, joined."""
        return str(super().write(label)) or NONE

    def text(self, label: Label) -> str:
        """Return the classes, separated by commas."""
        return in_words(label)

    def decide(self, labels: Sequence[Label], steps: Sequence[str]) -> Label:
        """Return the classes that more than half of the people said; where it is half, the newest answer decides."""
        votes = Counter(name for label in labels for name in named(label))
        newest = named(labels[0])
        return _sorted(
            name for name, n in votes.items() if 2 * n > len(labels) or (2 * n == len(labels) and name in newest)
        )

    def _gap(self, one: Label, other: Label, steps: Sequence[str]) -> float:
        first, second = set(named(one)), set(named(other))
        return len(first ^ second) / max(len(first | second), 1)


class NumberForm(Form):
    """A number per answer."""

    distance: ClassVar[Distance] = "interval"

    def declare(self, classes: Sequence[str]) -> list[str]:
        """Return no classes; raise an error if some are named, or if the unit is none."""
        if classes:
            raise SettingError(f"classes={list(classes)!r}: numbers have no classes; leave them out")
        if unit := getattr(self.kind, "unit", None):
            check_unit(unit)
        return []

    @property
    def targets(self) -> tuple[float, float, str]:
        """The least and the largest error that may be aimed at, and what to give."""
        return 1e-12, 1e150, "how far a prediction may be off, above 0, in the unit of the numbers"

    def parse(self, said: Any, known: Collection[str]) -> Label:
        """Return the number."""
        return plain_number(said)

    def read(self, cell: Any, known: Collection[str]) -> Label | None:
        """Return the number of a cell, without the unit if it ends with that."""
        unit = getattr(self.kind, "unit", None) or ""
        bare = (one_line(cell) or "").removesuffix(unit).strip() if isinstance(cell, str) else cell
        if is_missing(bare):
            return None
        found = number_in(bare)
        if found is None and isinstance(cell, str):
            raise LabelError(self.refusal(cell))
        return plain_number(bare if found is None else found)

    def refusal(self, text: str) -> str:
        """Return the sentence on what is not a number, with one that may be meant."""
        unit = getattr(self.kind, "unit", None) or ""
        near = number_in(text.removesuffix(unit).strip().replace(",", "."))
        such = repr(3.5 if near is None else near).removesuffix(".0")
        also = f" or {such} {unit}" if unit else ""
        return f"{text[:MAX_SHOWN]!r} is not a number: tell one, such as {such}{also}"

    def can_judge(self, classes: Sequence[str], labels: int) -> bool:
        """Return whether there are two numbers, so that they differ by something."""
        return labels > 1

    def sought(self, name: str | None, value: str | None) -> Hashable:
        """Return the highest or the lowest numbers, or those of at least a value."""
        if name is not None or not value:
            raise LabelError(
                f"{name or value or ''!r} cannot be sought among numbers: say {HIGHEST}, {LOWEST} or a least number"
            )
        if value in (HIGHEST, LOWEST):
            return value
        return at_least(plain_number(self.kind.checked(self._number(value), ())))

    def read_sought(self, text: str) -> tuple[str | None, str | None]:
        """Return the highest or the lowest, or the least number that is sought."""
        return None, text.removeprefix(AT_LEAST).strip()

    def sought_text(self, name: str | None, value: str | None) -> str:
        """Return which numbers are sought."""
        return value if value in (HIGHEST, LOWEST) else f"{AT_LEAST} {self.text(self._number(value))}"

    def _number(self, value: Any) -> float:
        if (found := self.read(value, ())) is None:
            raise LabelError(f"{value!r} cannot be sought among numbers: say {HIGHEST}, {LOWEST} or a least number")
        return plain_number(found)

    def write(self, label: Label) -> float:
        """Return the number."""
        return plain_number(label)

    def text(self, label: Label) -> str:
        """Return the number with its unit."""
        unit = getattr(self.kind, "unit", None)
        return " ".join([repr(plain_number(label)).removesuffix(".0"), *([unit] if unit else [])])

    def rank(self, label: Label, steps: Mapping[str, int]) -> Any:
        """Return the number."""
        return plain_number(label)

    def decide(self, labels: Sequence[Label], steps: Sequence[str]) -> Label:
        """Return the median."""
        return float(np.median([plain_number(label) for label in labels]))

    def share(self, pairs: Sequence[tuple[Label, Label]]) -> float | None:
        """Return None: that two numbers are the same says little."""
        return None

    def apart(self, pairs: Sequence[tuple[Label, Label]], steps: Sequence[str]) -> float | None:
        """Return the median difference of two numbers."""
        return float(np.median([abs(plain_number(one) - plain_number(other)) for one, other in pairs]))

    def splits(self, opinions: Mapping[int, Sequence[Label]], steps: Sequence[str]) -> dict[int, float]:
        """Return the items at which people differ by far more than they usually do, and how far, as a share of the farthest."""
        apart = {item: float(np.ptp([plain_number(label) for label in labels])) for item, labels in opinions.items()}
        usual, most = (float(np.median(list(apart.values()))), max(apart.values())) if apart else (0.0, 0.0)
        return {item: gap / most for item, gap in apart.items() if gap > FAR * usual}


def check_unit(unit: str) -> None:
    """Raise an error for a unit that is not one short line, or that a number could end with: 15 would be read as 1 of unit 5."""
    if len(unit) > MAX_UNIT_CHARACTERS or check_name(unit, "unit") != unit:
        raise SettingError(f"unit={unit[:MAX_SHOWN]!r}: give one line of 1 to {MAX_UNIT_CHARACTERS} characters")
    if number_in(f"1{unit}") is not None or is_decimal(f"1{unit}"):
        raise SettingError(f"unit={unit!r} could be the end of a number: give a text, such as 'EUR'")


FORMS: dict[str, type[Form]] = {
    "classes": ClassForm,
    "ordered": OrderedForm,
    "several": SeveralForm,
    "numbers": NumberForm,
}


def form_of(answers: str | Kind) -> Form:
    """Return the form of a kind of answers, given by its name or itself."""
    kind = as_kind(answers)
    if kind.name not in FORMS:
        raise SettingError(f"answers={kind.name!r} cannot be kept in a project; choose one of {few(list(FORMS))}")
    return FORMS[kind.name](kind)


def rounded(said: Any) -> Any:
    """Return a number that is computed with six digits; what else is said, as it is.

    >>> rounded(145.23456789), rounded("good")
    (145.235, 'good')
    """
    return float(f"{said:.6g}") if isinstance(said, float) else said


def sure(labels: Iterable[Label]) -> list[Label]:
    """Return the answers without those that say "one of some"."""
    return [label for label in labels if not isinstance(label, OneOf)]


def named(label: Label) -> tuple[Any, ...]:
    """Return the classes that an answer names; none for a number."""
    if isinstance(label, OneOf):
        return label.names
    return label if isinstance(label, tuple) else () if isinstance(label, float) else (label,)


def renamed(label: Any, name_of: Callable[[Any], Any]) -> Any:
    """Return an answer with other names of its classes, or numbers; classes that come to be one are named once.

    >>> renamed(("cat", "dog"), {"cat": "pet", "dog": "pet"}.get), renamed(OneOf(("cat", "dog")), str.upper)
    (('pet',), OneOf(names=('CAT', 'DOG')))
    """
    if isinstance(label, tuple):
        return _sorted(map(name_of, label))
    if isinstance(label, OneOf):
        names = _sorted(map(name_of, label.names))
        return names[0] if len(names) == 1 else OneOf(names)
    return label if isinstance(label, float) else name_of(label)


def count_classes(labels: Iterable[Label]) -> Counter[Any]:
    """Return how many answers name each class."""
    return Counter(name for label in labels for name in named(label))


def as_json(label: Any) -> Any:
    """Return an answer as JSON says it."""
    return list(label) if isinstance(label, tuple) else to_plain(label)


def in_words(said: Any) -> str:
    """Return an answer, as JSON says it, for people to read.

    >>> in_words(["cat", "dog"]), in_words([]), in_words({"one of": ["cat", "dog"]}), in_words(2.50)
    ('cat, dog', '(none)', 'cat or dog', '2.5')
    """
    if isinstance(said, list | tuple):
        return ", ".join(map(str, said)) or NONE
    if isinstance(said, Mapping):
        return " or ".join(map(str, said[ONE_OF]))
    return f"{said:.6g}" if isinstance(said, float) else "" if said is None else str(said)


def to_row(label: Label) -> tuple[str, str]:
    """Return an answer as the log holds it: what it is, and its text.

    >>> to_row(("cat",)), to_row(2.5), to_row("cat")
    (('several', '["cat"]'), ('number', '2.5'), ('label', 'cat'))
    """
    if isinstance(label, str):
        return "label", label
    if isinstance(label, float):
        return "number", repr(float(label))  # a number of NumPy has another repr
    what, names = (ONE_OF, label.names) if isinstance(label, OneOf) else ("several", label)
    return what, json.dumps(names, ensure_ascii=False)


def from_row(what: str, text: str) -> Label:
    """Return the answer that ``to_row`` gave, with accents in names composed."""
    if what == "number":
        return float(text)
    if what == "label":
        return normalize("NFC", text)
    names = _sorted(normalize("NFC", name) for name in json.loads(text))
    return OneOf(names) if what == ONE_OF else names


def class_name(name: Any, known: Collection[str] = ()) -> str:
    """Return the name of a class, checked, or as it is if there is such a class, as in projects of earlier versions."""
    try:
        return check_name(name, "class")
    except LabelError:
        if (line := one_name(name)) is not None and line in known:
            return line
        raise


def class_of_several(name: Any, known: Collection[str] = ()) -> str:
    """Return the name of a class that a cell can hold beside others."""
    if not isinstance(name, str):
        raise LabelError(f"{name!r} ({type(name).__name__}) is not a class: give its name, as text")
    found = class_name(name, known)
    if MARK in found or found == NONE or found.startswith("["):
        raise LabelError(
            f"a class called {found!r}: where items have several, a name holds no {MARK!r}, does not begin with '[' and is not "
            f"{NONE!r}; tables write answers with these"
        )
    return found


def _sorted(names: Any) -> tuple[Any, ...]:
    """Return names once each, in the order of their texts, as `askgraph.Several` has them."""
    return tuple(sorted(dict.fromkeys(names), key=str))


def _json_list(text: str) -> list[Hashable] | None:
    """Return the list of texts that a cell holds as JSON, or None."""
    if not text.startswith("["):
        return None
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, list) and all(isinstance(one, str) for one in found) else None
