"""Read what models guess: a table with an item, a label and perhaps a score and a source in each row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from askgraph.errors import FileError
from askgraph.io.readers import has_columns
from askgraph.io.tables import Table
from askgraph.io.text import FilePath
from askgraph.support.wording import counted, few
from askgraph.workbench.cells import find_invisible, number, one_line, one_name
from askgraph.workbench.source import read_columns

ITEM = ("item", "id")  # names of the column of items, beside the one that the ids of the project come from
RULE = "rule: "  # how the sources of rules begin; no other source is called so
MAX_NAMED = 3  # rows left out that are named, of each reason; of more, the number is given


class Guess(NamedTuple):
    """A label that a source guesses for an item; ``item`` is the place of the item.

    ``prompt`` says which request a model answered, where it is known: see `askgraph.workbench.prompts`.
    """

    item: int
    source: str
    label: str
    score: float | None = None
    prompt: str | None = None


def read_guesses(
    path: FilePath,
    places: Mapping[str, int],
    classes: Sequence[str],
    ids: str | None = None,
    sheet: str | None = None,
    encoding: str | None = None,
) -> tuple[list[Guess], list[str]]:
    """Return the rows of a table of guesses that fit, and sentences on those that do not; rows without a label are left out.

    ``places`` are the places of the items by their ids, and ``ids`` the column that these come from, which the table may name
    items by. Labels must be among ``classes``, unless there are none yet. ``sheet`` and ``encoding`` say how the table is read, as
    in `read_columns`. Raises an error if no row fits.
    """
    return guesses_in(path, read_columns(path, sheet, encoding), places, classes, ids)


def guesses_in(
    path: FilePath, table: Table, places: Mapping[str, int], classes: Sequence[str], ids: str | None = None
) -> tuple[list[Guess], list[str]]:
    """Return the rows of a table of guesses that fit, and sentences on those that do not, as `read_guesses`."""
    item = item_column(path, table.header, ids)
    has_columns(path, table.header, "label")
    found: dict[tuple[int, str], Guess] = {}
    odd: dict[str, list[str]] = {}
    for k, row in enumerate(
        zip(*(_cells(table, column) for column in (item, "label", "score", "source")), strict=True)
    ):
        id, label, source = one_line(row[0]), one_name(row[1]), one_line(row[3]) or Path(path).stem
        if label is None:
            continue
        wrong = _what_is_wrong(id, label, row[2], places, classes)
        if wrong is None and source.startswith(RULE):
            wrong = f"the names of rules begin with {RULE.strip()!r}; call the source otherwise", source
        if wrong is None and (places[id or ""], source) in found:
            wrong = "a second suggestion of one source for an item; keep one of them", id
        if wrong is not None:
            odd.setdefault(wrong[0], []).append(f"{wrong[1]!r} on {table.where(k)}")
            continue
        score = None if one_line(row[2]) is None else number(row[2])
        found[places[id or ""], source] = Guess(places[id or ""], source, label, score)
    left = [
        f"{Path(path).name}: {counted(len(rows), 'row')} left out, {why}: {first_few(rows)}"
        for why, rows in odd.items()
    ]
    if not found and left:
        raise FileError(f"{path}: no suggestion fits. {'. '.join(left)}")
    if not found:
        raise FileError(f"{path}: no row has a label; give the columns item and label, and perhaps score and source")
    return list(found.values()), left


def item_column(path: FilePath, header: Sequence[str], ids: str | None, names: Sequence[str] = ITEM) -> str:
    """Return the column that names items: the one called as that of the project's ids, else one of ``names``."""
    known = [*([ids] if ids and ids not in names else []), *names]
    if (name := next((name for name in known if name in header), None)) is None:
        raise FileError(
            f"{path}: no column called {' or '.join(known)} (columns: {few(list(header))}); name the column of items so"
        )
    return name


def first_few(rows: Sequence[str]) -> str:
    """Return the first rows of those left out, and a sign that there are more."""
    return ", ".join(rows[:MAX_NAMED]) + (", …" if len(rows) > MAX_NAMED else "")


def _cells(table: Table, name: str) -> Sequence[Any]:
    return table.cells(name) if name in table.header else [None] * len(table.cells(table.header[0]))


def _what_is_wrong(
    id: str | None, label: str, score: Any, places: Mapping[str, int], classes: Sequence[str]
) -> tuple[str, object] | None:
    """Return why a row does not fit, and what of it does not; None if it fits."""
    if id is None or id not in places:
        return "no item of the project has this id", id
    if classes and label not in classes:
        return f"not a class of the project ({few(list(classes))}); rename it, or label an item so first", label
    if not classes and (odd := find_invisible(label)):
        return f"a label that holds {odd}, which nobody sees", label
    if one_line(score) is not None and ((value := number(score)) is None or not 0 <= value <= 1):
        return "the score is not a number from 0 to 1; divide percentages by 100", score
    return None
