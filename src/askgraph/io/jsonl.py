"""Files with one JSON object per line -> edges, tables; values keep the types they have in the file."""

from __future__ import annotations

import itertools
import json
import math
import sys
from collections.abc import Hashable, Iterator
from typing import Any, NamedTuple

import numpy as np

from askgraph.errors import FileError
from askgraph.graph.sources import Raw, find_edge_columns, from_numbered, ignored_columns_note
from askgraph.io.edge_lists import collect_edges, reading_bar
from askgraph.io.tables import Table
from askgraph.io.text import FilePath, read_lines
from askgraph.support.progress import Tick
from askgraph.types import Array


class Line(NamedTuple):
    """One object and the number of its line."""

    number: int
    values: dict[str, Any]


def read_jsonl_edges(path: FilePath) -> Raw:
    """Read edges; the keys of the first object say which are source, target and weight."""
    with reading_bar(path) as tick:
        objects = _read_objects(path, tick)
        first = next(objects)
        header = list(first.values)
        columns = find_edge_columns(header)
        a, b, *w = (header[k] for k in columns if k is not None)
        kind = type(first.values[a])
        edges = collect_edges(
            (_get_id(path, line, a, kind), _get_id(path, line, b, kind), _get_number(path, line, w[0], 0) if w else 1.0)
            for line in itertools.chain([first], objects)
        )
    return from_numbered(*edges, ignored_columns_note(header, columns))


def jsonl_table(path: FilePath) -> Table:
    """Read a table; its columns are the keys of all objects, in the order in which they first appear."""
    found = list(_read_objects(path))

    def numbers(name: str) -> Array:
        return np.array([_get_number(path, line, name) for line in found])

    def values(name: str) -> list[Hashable]:
        kind = type(found[0].values.get(name))
        return [_get_id(path, line, name, kind, (int, str, bool)) for line in found]

    def cells(name: str) -> list[Any]:
        return [line.values.get(name) for line in found]

    header = list(dict.fromkeys(key for line in found for key in line.values))
    return Table(header, numbers, values, cells, lambda k: f"line {found[k].number}")


def _read_objects(path: FilePath, tick: Tick | None = None) -> Iterator[Line]:
    """Yield the objects; raise an error if there is none."""
    number = 0
    for k, text in enumerate(read_lines(path, tick), 1):
        if not text.strip():
            continue
        try:
            values = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise FileError(f"{path}, line {k}: not JSON ({error}); give one object per line") from None
        if not isinstance(values, dict):
            raise FileError(f"{path}, line {k}: {text.strip()[:40]!r} is not an object; give one object per line")
        number = k
        yield Line(k, values)
    if not number:
        raise FileError(f"{path}: the file is empty; give at least one row")


def _get_id(path: FilePath, line: Line, key: str, kind: type, known: tuple[type, ...] = (int, str)) -> Hashable:
    value: Hashable = line.values.get(key)
    if type(value) is kind and kind in known and value != "":
        return value
    words = "text" if kind is str else "integers" if kind is int else "integers or text"
    raise FileError(f"{path}, line {line.number}: {key!r} is {value!r}; give {words} throughout")


def _get_number(path: FilePath, line: Line, key: str, least: float = -math.inf) -> float:
    value: Any = line.values.get(key)
    if type(value) in (int, float) and abs(value) <= sys.float_info.max and value >= least:
        return float(value)
    range_ = "" if least == -math.inf else f" ≥ {least:g}"
    wrong = f"{key!r} is {value!r}, not a finite number{range_}"
    raise FileError(f"{path}, line {line.number}: {wrong}; fix it or leave it out")
