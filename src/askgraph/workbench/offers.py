"""Offer a kind of answers where a column of labels looks like it; nothing is taken that nobody asked for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from askgraph.io.tables import Table
from askgraph.support.label_names import LABEL_NAMES
from askgraph.support.wording import few
from askgraph.workbench.answer_cells import MARKS, find_mark, is_yes_or_no, joined_parts
from askgraph.workbench.cells import is_missing, number, one_name
from askgraph.workbench.columns import MIN_PER_CLASS, Kind
from askgraph.workbench.forms import MARK, Form

MANY_NUMBERS = 20  # different whole numbers, or half as many others: more of them are hardly names of classes
STARS = ["1", "2", "3", "4", "5"]
RATED = (
    "rating", "stars", "score", "grade", "quality", "level", "severity", "priority", "bewertung", "sterne", "note", "stufe",
    "qualität", "schwere", "priorität",
)  # fmt: skip  # words in the name of a column whose whole numbers from 0 to 10 are steps
MAX_STEP = 10

SCALES = [
    [step.split("/") for step in line.split(", ")]
    for line in (
        "very low, low, medium/moderate/mid/middle/normal, high, very high, critical/urgent",
        "very poor, poor, fair/average/ok/okay, good, very good, excellent",
        "very bad, bad, fair/average/ok/okay/so-so/neutral, good, very good",
        "never, rarely/seldom, sometimes/occasionally, often/frequently, always",
        "strongly disagree, disagree, neutral/undecided/neither agree nor disagree, agree, strongly agree",
        "very dissatisfied, dissatisfied, neutral, satisfied, very satisfied",
        "none/no, mild, moderate, severe, critical",
        "minor, moderate, major, critical",
        "xs, s, m, l, xl, xxl",
        "tiny, small, medium, large, huge",
        "beginner, intermediate, advanced, expert",
        "sehr niedrig/sehr gering, niedrig/gering, mittel, hoch, sehr hoch, kritisch/dringend",
        "sehr schlecht, schlecht, mittel/mäßig/mittelmäßig/geht so, gut, sehr gut, ausgezeichnet/hervorragend",
        "ungenügend, mangelhaft, ausreichend, befriedigend, gut, sehr gut",
        "nie/niemals, selten, manchmal/gelegentlich, oft/häufig, immer",
        "stimme überhaupt nicht zu, stimme nicht zu/stimme eher nicht zu, teils teils/teils/neutral, stimme zu/stimme eher zu, "
        "stimme voll zu/stimme voll und ganz zu",
        "sehr unzufrieden, unzufrieden, neutral, zufrieden, sehr zufrieden",
        "keine/kein, leicht, mittel/mäßig, schwer, kritisch",
        "sehr klein, klein, mittel, groß, sehr groß",
    )
]


class Offer(NamedTuple):
    """A kind of answers that columns of labels look like: its name, the columns, the classes in their order, and a sentence."""

    answers: str
    columns: list[str]
    classes: list[str]
    sentence: str


def offer_answers(table: Table, columns: Sequence[str], named: bool = True) -> Offer | None:
    """Return the kind of answers that a column of labels looks like, or columns of one class each; None for one class per item.

    ``named`` says that somebody has named them as labels.
    """
    if len(columns) > 1:
        return _offer_columns(table, list(columns))
    (column,) = columns
    texts = [text for text in map(one_name, table.cells(column)) if text is not None]
    counts = Counter(texts)
    if found := next(((mark, parts) for mark in MARKS if (parts := joined_parts(counts, mark, MIN_PER_CLASS))), None):
        mark, parts = found
        what = f"{column} holds {len(parts)} classes joined by {mark!r} ({few(parts)})"
        return _offer("several", [column], parts, what, "items have several classes", named)
    if steps := _steps(column, list(counts)):
        return _offer("ordered", [column], steps, f"{column} holds the steps {few(steps)}", "their order counts", named)
    if many := _many_numbers(list(counts)):
        return _offer(
            "numbers", [column], [], f"{column} holds {many:,} different numbers", "numbers are to be predicted", named
        )
    return None


def offers_in(table: Table, kinds: Mapping[str, Kind], offered: Iterable[str]) -> list[Offer]:
    """Return what is offered of columns that nobody has named: those that look like labels, and those of words called so."""
    called = {name for name, kind in kinds.items() if kind in ("short", "text") and name.casefold() in LABEL_NAMES}
    names = [name for name in kinds if name in called.union(offered)]
    return [offer for name in names if (offer := offer_answers(table, [name], named=False))]


def _offer(answers: str, columns: list[str], classes: list[str], what: str, why: str, named: bool) -> Offer:
    """Return an offer in words: what the columns hold, when to take it, and how."""
    typed = f' --classes "{",".join(classes)}"' if answers == "ordered" else ""
    names = ",".join(columns)
    label = "" if named else f"--label {f'{names!r}' if ' ' in names else names} "
    said = f"if {why}" if named else f"labels that you have already? if {why}"
    return Offer(answers, columns, classes, f"{what}: {said}, give {label}--answers {answers}{typed}")


def _offer_columns(table: Table, columns: list[str]) -> Offer | None:
    """Return the offer for columns of 1 and 0, one per class."""
    if not all(map(is_yes_or_no, map(table.cells, columns))):
        return None
    what = f"{few(columns)} hold yes or no"
    return _offer("several", columns, columns, what, "they are classes of which an item may have several", True)


def _steps(column: str, values: Sequence[str]) -> list[str]:
    """Return different cells in the order that they have as steps of a usual scale; none if they are no such steps."""
    words: dict[str, str] = {" ".join(value.casefold().split()): value for value in values}
    if len(words) < 3 or len(words) < len(values):
        return []
    if all(word.isascii() and word.isdecimal() and int(word) <= MAX_STEP for word in words):
        rated = any(word in column.casefold() for word in RATED)
        return sorted(values, key=int) if rated or sorted(words) == STARS else []
    for scale in SCALES:
        place = {word: k for k, step in enumerate(scale) for word in step}
        if set(words) <= set(place) and len({place[word] for word in words}) == len(words):
            return [words[word] for word in sorted(words, key=place.__getitem__)]
    return []


def _many_numbers(values: Sequence[str]) -> int:
    """Return how many different numbers there are, if there are many and nothing else; else 0."""
    numbers: list[Any] = [number(value) for value in values if not is_missing(value)]
    if not numbers or None in numbers:
        return 0
    different = set(numbers)
    least = min(different)
    if least in (0, 1) and max(different) - least == len(different) - 1:
        return 0  # classes that are numbered, without a gap
    many = MANY_NUMBERS if all(value.is_integer() for value in different) else MANY_NUMBERS // 2
    return len(different) if len(different) > many else 0


def notes_on_labels(table: Table, columns: Sequence[str], form: Form, classes: Sequence[str]) -> list[str]:
    """Return sentences on columns that somebody has named as labels: another kind that they look like, how they are taken apart."""
    if form.kind.name == "classes" and not classes:
        offer = offer_answers(table, columns)
        return [offer.sentence] if offer else []
    if (
        form.kind.name == "several"
        and len(columns) == 1
        and (mark := find_mark(table.cells(columns[0]), classes)) != MARK
    ):
        return [f"{columns[0]}: its classes are taken apart at {mark!r}"]
    return []
