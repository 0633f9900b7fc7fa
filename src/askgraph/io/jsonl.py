"""Files of one JSON object a line -> edges, tables; values keep the types they have there."""

from __future__ import annotations

import itertools
import json
import math
import sys
from collections.abc import Hashable, Iterator
from typing import Any, NamedTuple

import numpy as np

from askgraph.errors import FileError
from askgraph.graph.sources import Raw, edge_columns, ignored, numbered
from askgraph.io.edge_lists import gathered, reading
from askgraph.io.tables import Table
from askgraph.io.text import FilePath, lines
from askgraph.support.progress import Tick
from askgraph.types import Array


class Line(NamedTuple):
    """One object and its line."""

    number: int
    values: dict[str, Any]


def jsonl_edges(path: FilePath) -> Raw:
    """Edges; the keys of the first object say which are source, target and weight."""
    with reading(path) as tick:
        objects = _objects(path, tick)
        first = next(objects)
        header = list(first.values)
        columns = edge_columns(header)
        a, b, *w = (header[k] for k in columns if k is not None)
        kind = type(first.values[a])
        edges = gathered(
            (_id(path, line, a, kind), _id(path, line, b, kind), _number(path, line, w[0], 0) if w else 1.0)
            for line in itertools.chain([first], objects)
        )
    return numbered(*edges, ignored(header, columns))


def jsonl_table(path: FilePath) -> Table:
    """A table; its columns are the keys of all objects, as they first appear."""
    found = list(_objects(path))

    def numbers(name: str) -> Array:
        return np.array([_number(path, line, name) for line in found])

    def values(name: str) -> list[Hashable]:
        kind = type(found[0].values.get(name))
        return [_id(path, line, name, kind, (int, str, bool)) for line in found]

    def cells(name: str) -> list[Any]:
        return [line.values.get(name) for line in found]

    header = list(dict.fromkeys(key for line in found for key in line.values))
    return Table(header, numbers, values, cells, lambda k: f"line {found[k].number}")


def _objects(path: FilePath, tick: Tick | None = None) -> Iterator[Line]:
    """The objects, at least one."""
    number = 0
    for k, text in enumerate(lines(path, tick), 1):
        if not text.strip():
            continue
        try:
            values = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise FileError(f"{path}, line {k}: not JSON ({error}); give one object a line") from None
        if not isinstance(values, dict):
            raise FileError(f"{path}, line {k}: {text.strip()[:40]!r} is no object; give one object a line")
        number = k
        yield Line(k, values)
    if not number:
        raise FileError(f"{path}: the file is empty; give at least one row")


def _id(path: FilePath, line: Line, key: str, kind: type, known: tuple[type, ...] = (int, str)) -> Hashable:
    value: Hashable = line.values.get(key)
    if type(value) is kind and kind in known and value != "":
        return value
    words = "text" if kind is str else "integers" if kind is int else "integers or text"
    raise FileError(f"{path}, line {line.number}: {key!r} is {value!r}; give {words} throughout")


def _number(path: FilePath, line: Line, key: str, least: float = -math.inf) -> float:
    value: Any = line.values.get(key)
    if type(value) in (int, float) and abs(value) <= sys.float_info.max and value >= least:
        return float(value)
    range_ = "" if least == -math.inf else f" ≥ {least:g}"
    raise FileError(f"{path}, line {line.number}: {key!r} is {value!r}, no finite number{range_}; mend or leave it out")
