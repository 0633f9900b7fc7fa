"""A table of items -> ids, fields to show, labels that exist; and the graph that joins them."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from askgraph.errors import FileError, LabelError, SettingError
from askgraph.graph import Graph
from askgraph.graph.build import nearest_neighbors
from askgraph.graph.combine import with_features
from askgraph.graph.sources import counted, few
from askgraph.io.readers import TABLES, has_columns, read_graph
from askgraph.io.tables import Table, text_table
from askgraph.io.text import FilePath, is_number, suffix
from askgraph.support.progress import working
from askgraph.types import Array, IntArray

PROSE = 25  # characters of a cell, on average, from which a column is text to read
DENSE_WORDS = 20_000  # items from which words are first brought down to so many
WORD_AXES = 100  # dimensions
MISSING = {"na", "n/a", "nan", "null", "none", "missing", "unknown", "-", "?", "."}  # words for no number


@dataclass(frozen=True)
class Source:
    """Where items come from and what joins them; None is for us to find."""

    table: FilePath | None = None
    graph: FilePath | None = None
    id: str | None = None
    features: Sequence[str] | None = None
    text: str | None = None
    show: Sequence[str] | None = None
    image: str | None = None
    label: str | None = None
    neighbors: int = 10


@dataclass(frozen=True)
class Items:
    """Ids, what to show of each (a column a field), the file name of its image, and the label it came with, if any."""

    ids: list[str]
    fields: dict[str, list[Any]] = field(default_factory=dict)
    images: list[str | None] | None = None
    labels: list[str | None] | None = None

    @property
    def kinds(self) -> dict[str, str]:
        """Which fields are numbers, which text."""
        return {name: "number" if _numeric(cells) else "text" for name, cells in self.fields.items()}

    def row(self, k: int) -> dict[str, Any]:
        """What to show of the k-th item."""
        return {name: cells[k] for name, cells in self.fields.items() if cells[k] is not None}


def read_items(source: Source) -> tuple[Items, Graph, list[str]]:
    """The items, the graph that joins them in the same order, and how it was made, in words."""
    if source.table is None:
        return _nodes_alone(source)
    with working(f"reading {Path(source.table).name}"):
        table = read_columns(source.table)
    if odd := [name for name in table.header if not writable(name)]:
        raise FileError(f"{source.table}: a column called {odd[0]!r}, which is no text; rename it")
    if not table.header:
        raise FileError(f"{source.table}: no column in its first row; give every item its fields")
    has_columns(
        source.table,
        table.header,
        *(source.features or ()),
        *(source.show or ()),
        *(source.id, source.text, source.image, source.label),
    )
    source = _completed(source, table)
    items = _items(source, table)
    graph, notes = _joined(source, table, items.ids)
    ids = f"ids are those of {source.id!r}" if source.id else "ids are row numbers, from 1; --id names a column instead"
    return items, graph, [*notes, ids]


def _nodes_alone(source: Source) -> tuple[Items, Graph, list[str]]:
    if source.graph is None:
        raise SettingError("what are the items? give a table, or a graph with --graph")
    graph = read_graph(source.graph)
    names = [graph.name(k) for k in range(graph.n_nodes)]
    ids = _ids(source.graph, names, lambda k: f"node {k}")
    return Items(ids), graph, [f"items are the nodes of {Path(source.graph).name}"]


def read_columns(path: FilePath) -> Table:
    """A table of any kind we read, by columns."""
    return TABLES.get(suffix(path, (".csv", ".tsv", ".txt", *TABLES)), text_table)(path)


def _completed(source: Source, table: Table) -> Source:
    """With the id found by its name, and features or text chosen where nothing says what joins the items."""
    found = source.id or next((name for name in table.header if name.casefold() == "id"), None)
    features, text = source.features, source.text
    if features is None and text is None and source.graph is None:
        free = [name for name in table.header if name not in (found, source.image, source.label)]
        numbers = [name for name in free if _numeric(table.cells(name))]
        text = _prose(table, [name for name in free if name not in set(numbers)])
        features = None if text else numbers
        if not text and not features:
            raise SettingError(
                f"{source.table}: what joins the items? no column holds numbers or text to compare (columns: {few(table.header)}); "
                "name some with --features or --text, or give --graph FILE"
            )
    known = {**vars(source), "id": found, "features": features, "text": text}
    return Source(**known)


def _prose(table: Table, names: Sequence[str]) -> str | None:
    """The column with the longest text, if it is text to read."""
    lengths = {name: _length(table.cells(name)) for name in names}
    longest = max(lengths, key=lambda name: lengths[name], default=None)
    return longest if longest is not None and lengths[longest] >= PROSE else None


def _length(cells: list[Any]) -> float:
    words = [len(cell) for cell in cells if isinstance(cell, str) and not is_number(cell)]
    return sum(words) / len(cells)


def _plain_numbers(cells: list[Any]) -> Array | None:
    """Return a column in which every cell is a finite number, as floats; None for any other. Quick, since tables are wide."""
    if not set(map(type, cells)) <= {str, int, float}:
        return None
    try:
        values = np.array(list(map(float, cells)))
    except (ValueError, OverflowError):
        return None
    grouped = "_" in "".join(map(str, cells))  # Python reads 1_000 as a number
    return values if np.isfinite(values).all() and not grouped else None


def _numeric(cells: list[Any]) -> bool:
    if _plain_numbers(cells) is not None:
        return True
    there = [cell for cell in cells if not _missing(cell)]
    return bool(there) and all(_number(cell) is not None for cell in there)


def _missing(cell: Any) -> bool:
    return cell is None or (isinstance(cell, str) and cell.strip().lower() in MISSING)


def _number(cell: Any) -> float | None:
    if isinstance(cell, str):
        cell = float(cell) if is_number(cell) else None
    if isinstance(cell, bool) or not isinstance(cell, int | float) or not abs(cell) <= sys.float_info.max:
        return None
    return float(cell)


def _items(source: Source, table: Table) -> Items:
    path = source.table or ""
    n = len(table.cells(table.header[0]))
    named = None if source.id is None else table.cells(source.id)
    ids = [str(k + 1) for k in range(n)] if named is None else _ids(path, named, table.where)
    hidden = (source.id, source.image, source.label)
    shown = [name for name in table.header if name not in hidden] if source.show is None else source.show
    fields = {name: [_plain(cell) for cell in table.cells(name)] for name in shown}
    images = None if source.image is None else [word(cell) for cell in table.cells(source.image)]
    labels = None if source.label is None else [word(cell) for cell in table.cells(source.label)]
    return Items(ids, fields, images, labels)


def _ids(path: FilePath, cells: Sequence[Any], where: Callable[[int], str]) -> list[str]:
    """Ids, none of them empty or given twice."""
    seen: dict[str, int] = {}
    for k, cell in enumerate(cells):
        id = word(cell)
        if id is None:
            raise FileError(f"{path}, {where(k)}: the id is empty; every item needs one")
        if id in seen:
            raise FileError(
                f"{path}, {where(k)}: the id {id!r} is on {where(seen[id])} already; give each item its own"
            )
        seen[id] = k
    return list(seen)


def word(cell: Any) -> str | None:
    """A cell as one line of text that can be stored and typed; None for an empty one.

    >>> word("  two  words "), word(7), word(" ")
    ('two words', '7', None)
    """
    line = " ".join(str(cell).split()) if cell is not None else ""
    return line.encode(errors="replace").decode().replace("\0", "?") or None


def writable(text: str) -> bool:
    """Whether it is text that can be stored."""
    try:
        text.encode()
        return "\0" not in text
    except UnicodeEncodeError:
        return False


def _plain(cell: Any) -> Any:
    """A cell as it is stored: as it came, if that is text or a number; lists and the like as JSON, dates and the like as text."""
    if isinstance(cell, str) and cell.isascii():
        return cell
    if cell is None or isinstance(cell, bool | int) or (isinstance(cell, float) and math.isfinite(cell)):
        return cell
    nested = isinstance(cell, list | tuple | dict)
    kept = json.dumps(cell, ensure_ascii=False, default=str) if nested else str(cell)
    return kept.encode(errors="replace").decode()


def _joined(source: Source, table: Table, ids: list[str]) -> tuple[Graph, list[str]]:
    given = None if source.graph is None else _given(source.graph, ids)
    if source.features is None and source.text is None:
        if given is None:
            raise SettingError("what joins the items? name --features or --text, or give --graph FILE")
        return given, [f"edges of {Path(source.graph or '').name}"]
    with working("comparing items"):
        rows, said = _rows(source, table)
        notes = [said] if given is None else [said, f"together with the edges of {Path(source.graph or '').name}"]
        return _compared(given, rows, source), notes


def _compared(given: Graph | None, rows: Any, source: Source) -> Graph:
    if given is not None:
        return with_features(given, rows, source.neighbors)
    if source.text is not None:
        return _alike(rows, source)
    return nearest_neighbors(rows, source.neighbors)


def _alike(rows: Any, source: Source) -> Graph:
    """Texts joined by their words; one without any is joined to none."""
    n, said = rows.shape[0], np.flatnonzero(abs(rows).sum(axis=1) > 0)
    if said.size in (0, 1, n):
        return nearest_neighbors(rows, source.neighbors, metric="cosine")
    found = nearest_neighbors(rows[said], source.neighbors, metric="cosine")
    silent = counted(n - said.size, "item")
    return _placed(found, said, n).noted(
        f"{silent} without words in {source.text!r}: joined to none, so nothing is predicted there"
    )


def _rows(source: Source, table: Table) -> tuple[Any, str]:
    """Each item as a row to compare it by, and in words what that is."""
    k = f"{counted(source.neighbors, 'nearest neighbour')} of each item"
    if source.features is not None and source.text is not None:
        raise SettingError("--features and --text: compare items by one of them, or give the other as --graph")
    if source.text is not None:
        return words(table.cells(source.text)), f"{k} by the words of {source.text!r} (TF-IDF, cosine)"
    numbers, filled = _numbers(source.table or "", table, source.features or ())
    note = f"; {counted(filled, 'empty cell')} filled by the column's median" if filled else ""
    return numbers, f"{k} by {few(list(source.features or ()))}, scaled{note}"


def words(texts: Sequence[Any]) -> Any:
    """TF-IDF rows of texts: sparse, or in fewer dimensions where items are many.

    >>> words(["red apples", "green apples", None]).shape
    (3, 3)
    """
    from sklearn.feature_extraction.text import TfidfVectorizer

    written = [text if isinstance(text, str) else "" if text is None else str(text) for text in texts]
    try:
        rows = TfidfVectorizer(sublinear_tf=True, max_features=50_000).fit_transform(written)
    except ValueError:
        raise SettingError("no words in this column; choose another one with --text") from None
    if len(written) <= DENSE_WORDS or rows.shape[1] <= WORD_AXES:
        return csr_array(rows)
    from sklearn.decomposition import TruncatedSVD

    return TruncatedSVD(WORD_AXES, random_state=0).fit_transform(rows)


def _numbers(path: FilePath, table: Table, names: Sequence[str]) -> tuple[Array, int]:
    """Columns scaled to mean 0 and deviation 1, gaps at the median, and how many there were."""
    columns, filled = [], 0
    for name in names:
        cells = table.cells(name)
        values = _plain_numbers(cells)
        if values is None:
            values = np.array([np.nan if (value := _number(cell)) is None else value for cell in cells])
            _check_gaps(path, table, name, values)
        gaps = np.isnan(values)
        if gaps.all():
            raise FileError(f"{path}: column {name!r} is empty; leave it out of --features")
        values[gaps] = np.median(values[~gaps])
        filled += int(gaps.sum())
        values /= np.abs(values).max() or 1.0  # a mean or a square of what is left cannot overflow
        columns.append((values - values.mean()) / (values.std() or 1.0))
    return np.column_stack(columns), filled


def _check_gaps(path: FilePath, table: Table, name: str, values: Array) -> None:
    """Refuse a cell that is neither a number nor missing."""
    cells = table.cells(name)
    odd = next((k for k, cell in enumerate(cells) if np.isnan(values[k]) and not _missing(cell)), None)
    if odd is not None:
        raise FileError(
            f"{path}, {table.where(odd)}, column {name!r}: {cells[odd]!r} is not a finite number; fix it or leave it out"
        )


def _given(path: FilePath, ids: list[str]) -> Graph:
    """The graph of a file with its nodes in the order of the items; items without an edge are alone."""
    graph = read_graph(path)
    place = {one: k for k, one in enumerate(ids)}
    at = np.empty(graph.n_nodes, dtype=np.int64)
    for k in range(graph.n_nodes):
        name = word(graph.name(k)) or ""
        if name not in place:
            raise LabelError(
                f"{path}: the graph has a node {name!r} and no item has that id; which column is the id? --id"
            )
        at[k] = place[name]
    return _placed(graph, at, len(ids))


def _placed(graph: Graph, at: IntArray, n: int) -> Graph:
    """The graph with its nodes at these places among n; the others are alone."""
    edges = graph.weights.tocoo()
    return Graph(csr_array((edges.data, (at[edges.row], at[edges.col])), shape=(n, n))).noted(*graph.notes)
