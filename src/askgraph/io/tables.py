"""Tables in text and npz files -> columns by name; parquet and jsonl files give the same ``Table``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from functools import cache, partial
from operator import eq, itemgetter
from pathlib import Path
from typing import Any

import numpy as np

from askgraph.errors import FileError
from askgraph.io.decimals import is_decimal, read_decimal_commas
from askgraph.io.encodings import decode_as_found
from askgraph.io.text import (
    FilePath,
    Row,
    find_delimiter,
    is_number,
    number_column,
    plain_numbers,
    read_lines,
    read_rows,
    text_column,
)
from askgraph.support.npz import load_arrays
from askgraph.support.wording import few
from askgraph.types import AnyArray, Array

ID = "id"  # a cell that names a column
HEADER_SAMPLE = 1000  # rows looked at for a cell of the first row


@dataclass(frozen=True, eq=False)
class Table:
    """Columns by name, each in three ways, and the place of a row in the file."""

    header: list[str]
    numbers: Callable[[str], Array]  # a column as finite numbers
    values: Callable[[str], list[Hashable]]  # a column as labels or ids
    cells: Callable[[str], list[Any]]  # a column as it is, None for an empty cell
    where: Callable[[int], str]  # the place of the k-th row, such as "line 5"
    notes: tuple[str, ...] = ()  # what had to be guessed to read the file
    encoding: str | None = None  # of a text file, as --encoding takes it
    sheets: tuple[str, ...] = ()  # all sheets of a spreadsheet
    sheet: str | None = None  # the one that was read
    _floats: dict[str, Array | None] = field(default_factory=dict, repr=False)

    def floats(self, name: str) -> Array | None:
        """Return a column as floats if every cell is a finite number, else None; it is read once, for tables can be wide."""
        if name not in self._floats:
            self._floats[name] = plain_numbers(self.cells(name))
        return self._floats[name]


def text_table(path: FilePath, encoding: str | None = None) -> Table:
    """Read a csv, tsv or txt file, or text without a suffix; its first row is a header unless it looks like data.

    It does where a cell in it is a number or comes again in its column, and none is "id". Without ``encoding`` it is found out.
    """
    (found, notes), encoding, guessed = decode_as_found(path, encoding, partial(_quoted_or_not, path))
    notes = [*(f"{note}; --encoding names another" for note in guessed), *notes]
    commas = find_delimiter(path, _first_line(path, encoding)) == ";"
    first, header = found[0], [cell or str(k) for k, cell in enumerate(found[0].cells)]
    named = ID in first.cells  # then others may be called 1 or 2, as classes are
    if not named and any(is_number(cell) or (commas and is_decimal(cell)) for cell in first.cells):
        header = [str(k) for k in range(len(header))]
    elif not named and _is_data(found):
        header = [str(k) for k in range(len(header))]
        notes.append(f"line {first.line} is read as data: it names no columns, so they are called 0, 1, …")
    else:
        check_header(f"{path}, line {first.line}", header)
        if not (found := found[1:]):
            raise FileError(f"{path}: a header and no rows; give at least one row")
    notes += read_decimal_commas(header, found) if commas else []
    place = {name: k for k, name in enumerate(header)}

    floats = _numbers_at_once(header, found)

    @cache
    def columns() -> list[list[str]]:
        return [list(column) for column in zip(*(row.cells for row in found), strict=True)]

    @cache
    def cells(name: str) -> list[Any]:
        column = columns()[place[name]]
        return column if name in floats or all(column) else [cell or None for cell in column]

    return Table(
        header,
        lambda name: number_column(path, found, place[name], f", column {name!r}"),
        lambda name: text_column(path, found, place[name]),
        cells,
        lambda k: f"line {found[k].line}",
        tuple(notes),
        encoding,
        _floats=dict(floats),
    )


def _numbers_at_once(header: list[str], rows: list[Row]) -> dict[str, Array]:
    """Return the columns of finite numbers, read together by NumPy, several times faster than one by one in Python.

    Nothing is returned where a column that begins with a number has another cell below: each is then read by itself.
    """
    numeric = [k for k, cell in enumerate(rows[0].cells) if is_number(cell)]
    if len(numeric) < 2:
        return {}
    pick = itemgetter(*numeric)
    try:
        values = np.loadtxt((",".join(pick(row.cells)) for row in rows), delimiter=",", comments=None, ndmin=2)
    except ValueError:  # a cell with a comma or a line break in it is found out here too: its row has too many cells
        return {}
    columns = zip(numeric, values.T.copy(), strict=True)
    return {header[k]: column for k, column in columns if np.isfinite(column).all()}


def _quoted_or_not(path: FilePath, encoding: str) -> tuple[list[Row], list[str]]:
    """Return the rows of a text file and what had to be guessed: in text with tabs, quotes may be part of the cells."""
    notes = [] if Path(path).suffix else [f"{Path(path).name} has no suffix: read as text, one item per line"]
    try:
        found, wrong = list(read_rows(path, encoding=encoding)), None
    except FileError as error:
        found, wrong = [], error
    whole = bool(found) and found[-1].line - found[0].line + 1 == len(found)
    if whole or find_delimiter(path, _first_line(path, encoding)) != "\t":
        if wrong:
            raise wrong
        return found, notes
    try:
        plain = list(read_rows(path, quoted=False, encoding=encoding))
    except FileError as error:
        if wrong:
            raise wrong from error
        return found, notes
    if len(plain) == len(found):
        return found, notes
    return plain, [*notes, "quotes are kept as they are: they do not enclose cells here"]


def _first_line(path: FilePath, encoding: str) -> str:
    return next((line for line in read_lines(path, encoding=encoding) if line.strip()), "")


def _is_data(rows: list[Row]) -> bool:
    """Return whether a cell of the first row comes again in its column: names of columns do not."""
    names = [cell or None for cell in rows[0].cells]
    return any(any(map(eq, names, row.cells)) for row in rows[1:HEADER_SAMPLE])


def check_header(where: str, header: list[str]) -> None:
    """Raise an error if two columns have the same name."""
    if twice := next((name for name, times in Counter(header).items() if times > 1), None):
        raise FileError(f"{where}: two columns are called {twice!r}; rename one")


def npz_table(path: FilePath) -> tuple[Array, list[Hashable] | None, list[Hashable] | None]:
    """Read X, and y and names if they are there."""
    stored = load_arrays(path)
    X = stored.get("X", np.empty(0))
    if X.ndim != 2 or X.dtype.kind not in "biuf" or 0 in X.shape:
        raise FileError(f"{path}: no table of numbers X in {few(list(stored))}; save it as X, with labels as y")
    X = X.astype(np.float64)
    if (bad := np.argwhere(~np.isfinite(X))).size:
        raise FileError(f"{path}: X[{bad[0][0]}, {bad[0][1]}] is {X[tuple(bad[0])]}; fill it in or drop the row")
    labels, names = (label_list(path, stored[key]) if key in stored else None for key in ("y", "names"))
    for key, column in (("y", labels), ("names", names)):
        if column is not None and len(column) != len(X):
            raise FileError(f"{path}: {key} has {len(column)} entries for {len(X)} rows of X; give one for each")
    return X, labels, names


def label_list(path: FilePath, array: AnyArray) -> list[Hashable]:
    """Return an array of integers (whole floats too), booleans or text as a list of labels."""
    if array.ndim != 1 or array.dtype.kind not in "biufU":
        raise FileError(
            f"{path}: labels of shape {array.shape} and type {array.dtype}; give one row of integers or text"
        )
    if array.dtype.kind == "f":
        if (odd := np.flatnonzero(array != np.round(array))).size:
            raise FileError(f"{path}: label {odd[0]} is {array[odd[0]]}; give integers or text")
        array = array.astype(np.int64)
    labels: list[Hashable] = array.tolist()
    return labels
