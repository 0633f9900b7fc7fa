"""What the columns of a table are for: ids, pictures, labels, and what items are compared by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

from askgraph.errors import SettingError
from askgraph.io.pictures import find_picture, is_picture
from askgraph.io.tables import Table
from askgraph.io.text import is_number
from askgraph.support.wording import few
from askgraph.workbench.cells import is_numeric, one_line
from askgraph.workbench.source import Source

MIN_TEXT_CHARACTERS = 25  # a column whose cells have fewer on average is not compared by its words unless named


class Column(NamedTuple):
    """A column of a table: what its cells are, and what it is for unless somebody says otherwise."""

    name: str
    kind: Literal["text", "short", "number"]
    use: Literal["id", "compared"] | None


def look_at_columns(source: Source, table: Table) -> list[Column]:
    """Return what each column of a table is, and what it would be for."""
    try:
        chosen = choose_columns(source, table)
    except SettingError:  # nothing to compare items by: somebody has to say it
        chosen = source
    compared = {*(chosen.texts or ()), *(chosen.features or ())}
    uses = dict.fromkeys(compared, "compared") | ({chosen.id: "id"} if chosen.id else {})
    return [Column(name, _kind(table.cells(name)), uses.get(name)) for name in table.header]  # type: ignore[arg-type]


def _kind(cells: list[Any]) -> Literal["text", "short", "number"]:
    if is_numeric(cells):
        return "number"
    return "text" if sum(len(str(cell)) for cell in cells if cell) >= MIN_TEXT_CHARACTERS * len(cells) else "short"


def choose_columns(source: Source, table: Table) -> Source:
    """Find the id column by its name, and choose features or text where the source does not say how to compare items."""
    if Path(source.table or "").is_dir():
        source = replace(source, id="file", image="file", show=source.show or ())
        free = ["file"]
    else:
        found = source.id or next((name for name in table.header if name.casefold() == "id"), None)
        source = replace(source, id=found, image=source.image or _image_column(source, table))
        free = [name for name in table.header if name not in (found, source.image, source.label)]
    if any(given is not None for given in (source.features, source.text, source.vectors, source.graph or None)):
        return source
    numbers = [name for name in free if table.floats(name) is not None or is_numeric(table.cells(name))]
    known = set(numbers)
    if prose := [name for name in free if name not in known and _is_prose(table.cells(name))]:
        return replace(source, text=prose)
    if not numbers and source.image is not None:
        return replace(source, vectors=source.image)
    if not numbers:
        raise SettingError(
            f"{source.table}: what should items be compared by? no column holds numbers or text (columns: {few(table.header)}); "
            "name some with --features or --text, or give --vectors or --graph FILE"
        )
    return replace(source, features=numbers)


def _image_column(source: Source, table: Table) -> str | None:
    """Return the first column that holds nothing but names of pictures, if one of these files exists."""
    for name in table.header:
        if table.floats(name) is None and all(map(is_picture, cells := table.cells(name))) and is_there(source, cells):
            return name
    return None


def is_there(source: Source, cells: Sequence[Any]) -> bool:
    """Return whether any of these cells names a file in the folder of images."""
    return any(find_picture(line, source.image_folder) for cell in cells if (line := one_line(cell)))


def _is_prose(cells: list[Any]) -> bool:
    """Return whether the cells of a column are long enough to be compared by their words."""
    lengths = [len(cell) for cell in cells if isinstance(cell, str) and not is_number(cell)]
    return sum(lengths) >= MIN_TEXT_CHARACTERS * len(cells)
