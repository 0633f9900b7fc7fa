"""Sheets of spreadsheets (xlsx, xlsm, ods) -> tables: values only, no formula is computed."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Hashable
from pathlib import Path
from typing import Any

import numpy as np

from askgraph.errors import FileError
from askgraph.io.ods import read_ods
from askgraph.io.sheets import Sheet, column_letters
from askgraph.io.tables import Table, check_header
from askgraph.io.text import FilePath, is_number, parse_integers
from askgraph.io.xlsx import read_xlsx
from askgraph.support.wording import counted
from askgraph.types import Array

READERS = {".xlsx": read_xlsx, ".xlsm": read_xlsx, ".ods": read_ods}
SPREADSHEETS = tuple(READERS)
PLACE_BYTES = 24  # of memory: of a place in the table, in its row, its column and a copy of that
MAX_TITLES = 5  # rows above the names of columns that hold a title


def sheet_table(path: FilePath, sheet: str | None = None) -> Table:
    """Read a sheet, by default the first; its first row that is neither empty nor a title names the columns.

    Empty rows and columns are left out. A cell that is merged over several rows stands in each of them. Dates are text such as
    2024-03-01, and cells with an error such as #N/A are empty.
    """
    found = READERS[Path(path).suffix.casefold()](path, sheet)
    if not found.rows:
        others = ", ".join(repr(name) for name in found.names if name != found.name)
        raise FileError(f"{path}: the sheet {found.name!r} is empty; {_choose(others)}")
    return _as_table(path, found)


def _choose(others: str) -> str:
    return f"name another with --sheet: {others}" if others else "it is the only one; give a sheet with rows"


def _as_table(path: FilePath, sheet: Sheet) -> Table:
    titles = _title_rows(sheet)
    (top, names), *rows = list(sheet.rows.items())[titles:]
    if not rows:
        raise FileError(f"{path}, sheet {sheet.name!r}: a header and no rows; give at least one row")
    numbers = [number for number, _ in rows]
    width = max(map(len, sheet.rows.values()))
    sheet.budget.spend(PLACE_BYTES * width * len(sheet.rows))
    padded = [row + [None] * (width - len(row)) for row in (names, *(row for _, row in rows))]
    columns = [list(column) for column in zip(*padded, strict=True)]
    _fill_merged(columns, [top, *numbers], sheet.merged)
    for column in columns:  # a text counts in each cell that shows it: what is made of the cells has it as often
        sheet.budget.spend(sum(len(cell) for cell in column if type(cell) is str))
    kept = [k for k, column in enumerate(columns) if any(cell is not None for cell in column)]
    header = [str(columns[k][0]) if columns[k][0] is not None else f"column {column_letters(k)}" for k in kept]
    check_header(f"{path}, sheet {sheet.name!r}, row {top}", header)
    cells = {name: columns[k][1:] for name, k in zip(header, kept, strict=True)}

    def where(k: int) -> str:
        return f"row {numbers[k]} of sheet {sheet.name!r}"

    def as_numbers(name: str) -> Array:
        return np.array([_number(f"{path}, {where(k)}, column {name!r}", cell) for k, cell in enumerate(cells[name])])

    def values(name: str) -> list[Hashable]:
        if None in cells[name]:
            place = where(cells[name].index(None))
            raise FileError(f"{path}, {place}: column {name!r} is empty; fill it in or drop the row")
        return parse_integers([str(cell) for cell in cells[name]])

    errors = f"{counted(sheet.errors, 'cell')} with an error such as #N/A {'is' if sheet.errors == 1 else 'are'} empty"
    above = f"row {top} names the columns: above it stands a title"
    notes = (*([above] if titles else []), *([errors] if sheet.errors else []))
    return Table(header, as_numbers, values, cells.__getitem__, where, notes, sheets=sheet.names, sheet=sheet.name)


def _title_rows(sheet: Sheet) -> int:
    """Return how many rows at the top hold one cell only, above a row of three or more and at least one row below that."""
    filled = [sum(cell is not None for cell in row) for row in list(sheet.rows.values())[: MAX_TITLES + 2]]
    titles = next((k for k, count in enumerate(filled) if count > 1), 0)
    return titles if titles <= MAX_TITLES and len(filled) > titles + 1 and filled[titles] > 2 else 0


def _fill_merged(columns: list[list[Any]], numbers: list[int], merged: list[tuple[int, int, int]]) -> None:
    """Repeat the value of cells that are merged over several rows in each of those rows that is there, below the header."""
    place, free = {number: k for k, number in enumerate(numbers)}, len(numbers) * len(columns)
    for top, bottom, left in merged:
        first, end = place.get(top, 0), bisect_right(numbers, bottom)
        free -= max(end - first, 0)
        if first and left < len(columns) and free >= 0:  # the header has none; beyond, merged cells would overlap
            columns[left][first + 1 : end] = [columns[left][first]] * (end - first - 1)


def _number(where: str, cell: Any) -> float:
    if isinstance(cell, int | float) and not isinstance(cell, bool):
        return float(cell)
    if isinstance(cell, str) and is_number(cell) and np.isfinite(float(cell)):
        return float(cell)
    raise FileError(f"{where}: {cell!r} is not a finite number; fix it or leave it out")
