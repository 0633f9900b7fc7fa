"""Tables in text and npz files -> columns by name; parquet and jsonl files give the same ``Table``."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from askgraph.errors import FileError
from askgraph.io.text import FilePath, is_number, number_column, read_rows, text_column
from askgraph.support.npz import load_arrays
from askgraph.support.wording import few
from askgraph.types import AnyArray, Array


class Table(NamedTuple):
    """Columns by name, each in three ways, and the place of a row in the file."""

    header: list[str]
    numbers: Callable[[str], Array]  # a column as finite numbers
    values: Callable[[str], list[Hashable]]  # a column as labels or ids
    cells: Callable[[str], list[Any]]  # a column as it is, None for an empty cell
    where: Callable[[int], str]  # the place of the k-th row, such as "line 5"


def text_table(path: FilePath) -> Table:
    """Read a csv, tsv or txt file; its first row is a header if no cell in it is a number."""
    found = list(read_rows(path))
    first, header = found[0], [cell or str(k) for k, cell in enumerate(found[0].cells)]
    if any(is_number(cell) for cell in first.cells):
        header = [str(k) for k in range(len(header))]
    else:
        check_header(f"{path}, line {first.line}", header)
        if not (found := found[1:]):
            raise FileError(f"{path}: a header and no rows; give at least one row")
    place = {name: k for k, name in enumerate(header)}

    @cache
    def columns() -> list[tuple[str, ...]]:
        return list(zip(*(row.cells for row in found), strict=True))

    return Table(
        header,
        lambda name: number_column(path, found, place[name], f", column {name!r}"),
        lambda name: text_column(path, found, place[name]),
        lambda name: [cell or None for cell in columns()[place[name]]],
        lambda k: f"line {found[k].line}",
    )


def check_header(where: str, header: list[str]) -> None:
    """Raise an error if two columns have the same name."""
    if twice := next((name for name in header if header.count(name) > 1), None):
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
