"""Lists of edges -> the entries of a matrix."""

from __future__ import annotations

import itertools
import mmap
import os
import re
import warnings
from typing import Any

import numpy as np

from askgraph.errors import FileError
from askgraph.foreign import SOURCES, TARGETS, Raw, assembled, both_ends, counted, edge_columns
from askgraph.text import INTEGER, FilePath, Row, delimiter, is_number, numbers, rectangle, rows, typed
from askgraph.types import AnyArray

ODD = re.compile(rb"[^0-9eE.,;\t\r\n +-]|(?<![0-9.eE+-])0[0-9]|(?<![eE])(?:\+|-0)")  # what numpy would read amiss
LARGE = 2**20  # a file from which numpy's parser pays


def text_edges(path: FilePath) -> Raw:
    """A csv, tsv, txt or edges file: source, target and perhaps weight."""
    return _fast_edges(path) or _slow_edges(path)


def _slow_edges(path: FilePath) -> Raw:
    """An edge list, with a message for any line that is wrong."""
    rows = rectangle(path)
    named = _has_edge_header(rows)
    a, b, w = edge_columns(rows[0].cells if named else ["?"] * len(rows[0].cells))
    notes = _edge_notes(rows[0], named, [k for k in (a, b, w) if k is not None])
    if not (rows := rows[named:]):
        raise FileError(f"{path}: a header and no edges; give at least one edge")
    for row in rows:
        if not (row.cells[a] and row.cells[b]):
            raise FileError(f"{path}, line {row.line}: an endpoint is empty; fill it in or drop the row")
    ends = typed([row.cells[a] for row in rows] + [row.cells[b] for row in rows])
    weights = None if w is None else numbers(path, rows, w, ", weight")
    if weights is not None and (weights < 0).any():
        k = int(np.argmax(weights < 0))
        raise FileError(f"{path}, line {rows[k].line}: weight {weights[k]} is negative; weights are ≥ 0")
    return assembled(*both_ends(ends[: len(rows)], ends[len(rows) :]), weights, notes)


def _has_edge_header(rows: list[Row]) -> bool:
    """Usual column names, words over weights, or words over integers."""
    first, words = rows[0].cells, {cell.casefold() for cell in rows[0].cells}
    if len(first) < 2:
        return False
    whole = all(INTEGER.fullmatch(cell) for row in rows[1:] for cell in row.cells[:2])
    over = len(rows) > 1 and whole and not any(INTEGER.fullmatch(cell) for cell in first[:2])
    return bool(words & SOURCES and words & TARGETS) or over or (len(first) == 3 and not is_number(first[2]))


def _edge_notes(first: Row, named: bool, used: list[int]) -> tuple[str, ...]:
    ignored = [cell for k, cell in enumerate(first.cells) if k not in used]
    notes = [f"passed over {counted(first.line - 1, 'opening line')}"] if first.line > 1 else []
    notes += [f"read line {first.line} as a header: {', '.join(first.cells)}"] if named else []
    return (*notes, f"ignored columns: {', '.join(ignored)}") if ignored else tuple(notes)


def _fast_edges(path: FilePath) -> Raw | None:
    """A large list of integer ids by numpy's parser; None, for the slow way, wherever that does not fit exactly."""
    try:
        if os.path.getsize(path) < LARGE:
            return None
        head = list(itertools.islice(rows(path), 3))
        named, width = _has_edge_header(head), len(head[0].cells)
        if edge_columns(head[0].cells if named else ["?"] * width) != (0, 1, 2 if width == 3 else None):
            return None
        columns = [("a", np.int64), ("b", np.int64), ("w", np.float64)][:width]
        table = _loadtxt(path, columns, head[named].line - 1)
        weights = table["w"] if width == 3 else None
        if weights is not None and not (np.isfinite(weights) & (weights >= 0)).all():
            return None
        return assembled(table["a"], table["b"], weights, _edge_notes(head[0], named, list(range(width))))
    except (OSError, ValueError, Warning, IndexError):
        return None


def _loadtxt(path: FilePath, columns: list[Any], skip: int) -> AnyArray:
    """Numbers only: numpy's integer parser runs out of bounds beyond ASCII (numpy/numpy#31586), and 007 is text here."""
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        start = sum(len(file.readline()) for _ in range(skip))
        mark = delimiter(path, file.readline().decode("utf-8"))
        if ODD.search(content, start):
            raise ValueError("not numbers alone")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return np.loadtxt(path, columns, delimiter=mark, skiprows=skip, comments=None, encoding="utf-8-sig", ndmin=1)
