"""Tables -> columns by name: text and npz files; a parquet or jsonl file gives the same face."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from askgraph.errors import FileError
from askgraph.graph.sources import few
from askgraph.io.text import FilePath, is_number, numbers, rows, texts
from askgraph.support.npz import load_arrays
from askgraph.types import AnyArray, Array


class Table(NamedTuple):
    """Columns by name: ``numbers`` gives finite numbers, ``values`` labels or ids, ``cells`` what is there, None where nothing is;
    ``where`` says which row is the k-th.
    """

    header: list[str]
    numbers: Callable[[str], Array]
    values: Callable[[str], list[Hashable]]
    cells: Callable[[str], list[Any]]
    where: Callable[[int], str]


def text_table(path: FilePath) -> Table:
    """A csv, tsv or txt file; its first row is a header if nothing in it is a number."""
    found = list(rows(path))
    first, header = found[0], [cell or str(k) for k, cell in enumerate(found[0].cells)]
    if any(is_number(cell) for cell in first.cells):
        header = [str(k) for k in range(len(header))]
    else:
        distinct(f"{path}, line {first.line}", header)
        if not (found := found[1:]):
            raise FileError(f"{path}: a header and no rows; give at least one row")
    place = {name: k for k, name in enumerate(header)}

    @cache
    def columns() -> list[tuple[str, ...]]:
        return list(zip(*(row.cells for row in found), strict=True))

    return Table(
        header,
        lambda name: numbers(path, found, place[name], f", column {name!r}"),
        lambda name: texts(path, found, place[name]),
        lambda name: [cell or None for cell in columns()[place[name]]],
        lambda k: f"line {found[k].line}",
    )


def distinct(where: str, header: list[str]) -> None:
    """Refuse two columns of one name."""
    if twice := next((name for name in header if header.count(name) > 1), None):
        raise FileError(f"{where}: two columns are called {twice!r}; rename one")


def npz_table(path: FilePath) -> tuple[Array, list[Hashable] | None, list[Hashable] | None]:
    """X, and perhaps y and names."""
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
    """Labels from an array: integers (whole floats too), booleans or text."""
    if array.ndim != 1 or array.dtype.kind not in "biufU":
        raise FileError(f"{path}: labels of shape {array.shape} and type {array.dtype}; give one line of ints or text")
    if array.dtype.kind == "f":
        if (odd := np.flatnonzero(array != np.round(array))).size:
            raise FileError(f"{path}: label {odd[0]} is {array[odd[0]]}; give integers or text")
        array = array.astype(np.int64)
    labels: list[Hashable] = array.tolist()
    return labels
