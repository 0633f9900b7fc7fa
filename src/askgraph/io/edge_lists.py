"""Edge lists in text files -> the entries of a matrix."""

from __future__ import annotations

import itertools
import math
import os
from array import array
from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from askgraph.errors import AskgraphError, FileError
from askgraph.graph.sources import (
    SOURCES,
    TARGETS,
    Raw,
    find_edge_columns,
    from_numbered,
    ignored_columns_note,
    number_nodes,
)
from askgraph.io.encodings import UTF_8, decode_as_found, find_mark
from askgraph.io.text import (
    INTEGER,
    FilePath,
    Row,
    find_delimiter,
    is_number,
    parse_integers,
    read_lines,
    read_rows,
)
from askgraph.support.progress import Tick, bar, compiling
from askgraph.support.wording import counted
from askgraph.types import Array, IntArray

Columns = tuple[int, int, int | None]
LARGE_FILE_BYTES = 2**23  # a larger file gets a progress bar
COMPILED_FILE_BYTES = 3_000_000  # a larger file is worth loading the compiled parser for: half a second
CHUNK_BYTES = 2**20  # read at a time by the compiled parser
BOM = b"\xef\xbb\xbf"


def read_text_edges(path: FilePath) -> Raw:
    """Read a csv, tsv, txt or edges file: source, target and perhaps weight."""
    if plain := _parse_plain(path):
        return plain
    raw, _, guessed = decode_as_found(path, None, partial(_parse_any, path))
    return raw._replace(notes=(*guessed, *raw.notes))


def reading_bar(path: FilePath) -> AbstractContextManager[Tick]:
    """Return a progress bar over the bytes of a file; it is shown for a large file only."""
    size = os.path.getsize(path) if os.path.isfile(path) else 0
    return bar(size if size >= LARGE_FILE_BYTES else 0, f"reading {Path(path).name}")


class Edges(NamedTuple):
    """Edges whose nodes are numbered as they first appear."""

    names: list[Hashable]
    i: IntArray
    j: IntArray
    weights: Array


def collect_edges(edges: Iterable[tuple[Hashable, Hashable, float]]) -> Edges:
    """Number the nodes of edges that come one by one.

    >>> collect_edges([("ann", "bob", 1.0), ("bob", "cy", 2.5)]).j.tolist()
    [1, 2]
    """
    place: dict[Hashable, int] = {}
    i, j, weights = array("i"), array("i"), array("d")
    for a, b, w in edges:
        i.append(place.setdefault(a, len(place)))
        j.append(place.setdefault(b, len(place)))
        weights.append(w)
    return Edges(list(place), np.array(i, np.int32), np.array(j, np.int32), np.array(weights))


def _parse_any(path: FilePath, encoding: str | None = None) -> Raw:
    """Read any edge list, with an error that names the line that is wrong."""
    with reading_bar(path) as tick:
        found = read_rows(path, tick, encoding=encoding)
        first = next(found)
        columns, named = _edge_columns(first), _is_header(first)
        edges = collect_edges(
            _parse_edge(path, row, first, columns) for row in (found if named else itertools.chain([first], found))
        )
    return _from_edges(path, first, named, columns, edges)


def _from_edges(path: FilePath, first: Row, named: bool, columns: Columns, edges: Edges) -> Raw:
    """Return the entries of all edges; ``named`` says that the first row is a header, and so not among them."""
    ends = {first.cells[k]: None for k in columns[:2]}
    if not named and _is_over_integers(list(ends), edges):
        k, named = len(ends), True
        edges = Edges(edges.names[k:], edges.i[1:] - k, edges.j[1:] - k, edges.weights[1:])
    if edges.i.size == 0:
        raise FileError(f"{path}: a header and no edges; give at least one edge")
    if not named and "" in ends:
        raise FileError(f"{path}, line {first.line}: an endpoint is empty; fill it in or drop the row")
    return from_numbered(*edges._replace(names=parse_integers(edges.names)), _edge_notes(first, named, columns))


def _edge_columns(first: Row) -> Columns:
    return find_edge_columns(first.cells if _is_usual(first) else ["?"] * len(first.cells))


def _is_usual(first: Row) -> bool:
    words = {cell.casefold() for cell in first.cells}
    return bool(words & SOURCES and words & TARGETS)


def _is_header(first: Row) -> bool:
    """Return whether the first row is a header: usual column names, or a word above the weights."""
    return _is_usual(first) or (len(first.cells) == 3 and not is_number(first.cells[2]))


def _is_over_integers(first: list[str], edges: Edges) -> bool:
    """Return whether the first row is a header: words above integers only.

    The ends of the first row are the first of the names, since nodes are numbered as they first appear.
    """
    if edges.i.size == 1 or any(INTEGER.fullmatch(cell) for cell in first):
        return False
    below = min(edges.i[1:].min(), edges.j[1:].min()) >= len(first)
    return bool(below) and all(INTEGER.fullmatch(str(name)) for name in edges.names[len(first) :])


def _parse_edge(path: FilePath, row: Row, first: Row, columns: Columns) -> tuple[str, str, float]:
    a, b, w = columns
    source, target = row.cells[a], row.cells[b]
    if not (source and target) and row is not first:
        raise FileError(f"{path}, line {row.line}: an endpoint is empty; fill it in or drop the row")
    return source, target, 1.0 if w is None else _parse_weight(path, row, w)


def _parse_weight(path: FilePath, row: Row, k: int) -> float:
    cell = row.cells[k]
    value = float(cell) if is_number(cell) else math.nan
    if 0 <= value < math.inf:
        return value
    if value < 0 and math.isfinite(value):
        raise FileError(f"{path}, line {row.line}: weight {value} is negative; weights are ≥ 0")
    raise FileError(f"{path}, line {row.line}, weight: {cell!r} is not a finite number; fix it or leave it out")


def _edge_notes(first: Row, named: bool, used: Columns) -> tuple[str, ...]:
    notes = [f"skipped {counted(first.line - 1, 'opening line')}"] if first.line > 1 else []
    notes += [f"read line {first.line} as a header: {', '.join(first.cells)}"] if named else []
    return (*notes, *ignored_columns_note(first.cells, used))


def _parse_plain(path: FilePath) -> Raw | None:
    """Read a large edge list by compiled code; return None if any line needs the general parser."""
    try:
        if os.path.getsize(path) < COMPILED_FILE_BYTES or find_mark(path) != UTF_8:
            return None
        head = list(itertools.islice(read_rows(path), 2))
        width, columns = len(head[0].cells), _edge_columns(head[0])
        opening = next(itertools.islice(read_lines(path), head[0].line - 1, None))
        if width > 3 or columns != (0, 1, 2 if width == 3 else None) or opening.count('"') % 2:
            return None
        mark = find_delimiter(path, opening)
        numbered = all(INTEGER.fullmatch(cell) for cell in head[-1].cells[:2])
        return (numbered and _parse_numbers(path, head, columns, mark)) or _parse_names(path, head, columns, mark)
    except (OSError, AskgraphError, IndexError):
        return None


def _parse_numbers(path: FilePath, head: list[Row], columns: Columns, mark: str | None) -> Raw | None:
    """Read a list of integer ids, given its first two rows; words above them are a header."""
    with compiling("reading edges"):
        from askgraph.io.edge_parser import parse_edges
    named = _is_header(head[0]) or not any(INTEGER.fullmatch(cell) for cell in head[0].cells[:2])
    parsed = _parse_chunks(path, mark, head[named].line - 1, len(head[0].cells), parse_edges)
    return parsed and number_nodes(*parsed, _edge_notes(head[0], named, columns))


def _parse_names(path: FilePath, head: list[Row], columns: Columns, mark: str | None) -> Raw | None:
    """Read a list of names, given its first two rows."""
    with compiling("reading edges"):
        from askgraph.io.name_parser import NameTable
    named, table = _is_header(head[0]), NameTable()
    parsed = _parse_chunks(path, mark, head[named].line - 1, len(head[0].cells), table.parse_edges)
    if parsed is None or (names := table.names(apart=mark is None)) is None:
        return None
    i, j, weights = parsed
    edges = Edges(list(names), i, j, np.ones(i.size) if weights is None else weights)
    return _from_edges(path, head[0], named, columns, edges)


def _parse_chunks(
    path: FilePath, mark: str | None, skip: int, width: int, parse: Callable[..., tuple[int, int]]
) -> tuple[IntArray, IntArray, Array | None] | None:
    """Return both ends and the weights of all lines but the first ``skip``; None if a line needs the general parser."""
    from askgraph.io.cell_parser import MAX_CELL_BYTES

    size, k = sum(chunk.count(b"\n") + 1 for chunk in _chunks(path, 0)), 0
    ends, weights = np.empty((2, size), dtype=np.int64), np.empty(size if width == 3 else 0)
    with reading_bar(path) as tick:
        for chunk in _chunks(path, skip):
            deferred = np.empty(chunk.count(b"\n") + 1 if width == 3 else 0, dtype=np.int64)
            words = np.zeros((deferred.size, MAX_CELL_BYTES), dtype=np.uint8)
            text = np.frombuffer(bytearray(chunk), dtype=np.uint8)
            if k + chunk.count(b"\n") >= size:  # the file grew after its lines were counted
                return None
            k, count = parse(text, ord(mark) if mark else -1, width, ends, weights, k, deferred, words)
            if k < 0:
                return None
            exact = words[:count].view(f"S{MAX_CELL_BYTES}").ravel().astype(np.float64)
            if not np.isfinite(exact).all():
                return None
            weights[deferred[:count]] = exact
            tick(len(chunk))
    return ends[0, :k], ends[1, :k], weights[:k] if width == 3 else None


def _chunks(path: FilePath, skip: int) -> Iterator[bytes]:
    """Yield the lines of a file but the first ``skip``, whole lines, about a megabyte at a time."""
    with open(path, "rb") as file:
        if file.read(len(BOM)) != BOM:
            file.seek(0)
        for _ in range(skip):
            file.readline()
        while chunk := file.read(CHUNK_BYTES):
            yield chunk + file.readline()
