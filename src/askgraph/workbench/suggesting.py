"""Read what models suggest: a table with an item, a label and perhaps a score and a source in each row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from askgraph.errors import FileError
from askgraph.io.readers import has_columns
from askgraph.io.tables import Table
from askgraph.io.text import FilePath
from askgraph.support.wording import few
from askgraph.workbench.cells import find_invisible, number, one_line, one_name
from askgraph.workbench.source import read_columns

ITEM = ("item", "id")  # names of the column of items


class Suggested(NamedTuple):
    """A label that a source suggests for an item; ``item`` is the place of the item."""

    item: int
    source: str
    label: str
    score: float | None = None


def read_suggestions(
    path: FilePath,
    places: Mapping[str, int],
    classes: Sequence[str],
    sheet: str | None = None,
    encoding: str | None = None,
) -> list[Suggested]:
    """Return the rows of a table of suggestions, checked; rows without a label are left out.

    ``places`` are the places of the items by their ids. Labels must be among ``classes``, unless there are none yet.
    ``sheet`` and ``encoding`` say how the table is read, as in `read_columns`.
    """
    table = read_columns(path, sheet, encoding)
    name = next((name for name in ITEM if name in table.header), None)
    if name is None:
        raise FileError(
            f"{path}: no column called item or id (columns: {few(table.header)}); name the column of items so"
        )
    has_columns(path, table.header, "label")
    found: dict[tuple[int, str], Suggested] = {}
    for k, row in enumerate(
        zip(*(_cells(table, column) for column in (name, "label", "score", "source")), strict=True)
    ):
        one = _checked(f"{path}, {table.where(k)}", row, places, classes, Path(path).stem)
        if one is None:
            continue
        if (one.item, one.source) in found:
            raise FileError(
                f"{path}, {table.where(k)}: a second suggestion of {one.source!r} for {row[0]!r}; keep one of them"
            )
        found[one.item, one.source] = one
    if not found:
        raise FileError(f"{path}: no row has a label; give the columns item and label, and perhaps score and source")
    return list(found.values())


def _cells(table: Table, name: str) -> Sequence[Any]:
    return table.cells(name) if name in table.header else [None] * len(table.cells(table.header[0]))


def _checked(
    where: str, row: Sequence[Any], places: Mapping[str, int], classes: Sequence[str], source: str
) -> Suggested | None:
    id, label, score, source = one_line(row[0]), one_name(row[1]), row[2], one_line(row[3]) or source
    if label is None:
        return None
    if id is None or id not in places:
        raise FileError(f"{where}: there is no item {id!r}; items are called by their ids in the project")
    if classes and label not in classes:
        raise FileError(
            f"{where}: {label!r} is not a class of the project ({few(list(classes))}); rename it, or label an item so first"
        )
    if not classes and (odd := find_invisible(label)):
        raise FileError(f"{where}: the label {label!r} holds {odd}, which nobody sees; leave it out")
    value = None if one_line(score) is None else number(score)
    if one_line(score) is not None and (value is None or not 0 <= value <= 1):
        raise FileError(f"{where}: the score {score!r} is not a number from 0 to 1; divide percentages by 100")
    return Suggested(places[id], source, label, value)
