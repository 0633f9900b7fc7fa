"""Read a table of items: their ids, the fields to show, labels that exist already, and the graph that joins the items."""

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
from askgraph.io.readers import TABLES, has_columns, read_graph
from askgraph.io.tables import Table, text_table
from askgraph.io.text import FilePath, is_number, suffix
from askgraph.support.progress import working
from askgraph.support.wording import counted, few
from askgraph.types import Array, IntArray

MIN_TEXT_CHARACTERS = 25  # a column whose cells have fewer on average is not compared by its words unless named
MAX_SPARSE_ITEMS = 20_000  # up to here TF-IDF rows stay sparse; beyond, they are reduced to WORD_DIMENSIONS first
WORD_DIMENSIONS = 100
MAX_VOCABULARY = 50_000  # words; rarer ones are left out
MISSING = {"na", "n/a", "nan", "null", "none", "missing", "unknown", "-", "?", "."}  # cells that mean no number


@dataclass(frozen=True)
class Source:
    """The files and columns that items and their graph come from; ``read_items`` chooses where None is given.

    Parameters
    ----------
    table
        A csv, tsv, jsonl or parquet file with one row per item; None where items are the nodes of ``graph``.
    graph
        A file with a graph whose nodes are the ids.
    id
        The column of ids; by default the column called "id", else row numbers from 1.
    features
        Columns of numbers to compare items by.
    text
        The column of text to compare items by.
    show
        Columns to show; by default all others.
    image
        The column of image file names.
    label
        The column of labels that exist already; an empty cell means no label.
    neighbors
        Nearest neighbors per item.
    """

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
    """Items by columns: ids, fields to show, file names of images, and labels that the items came with."""

    ids: list[str]
    fields: dict[str, list[Any]] = field(default_factory=dict)
    images: list[str | None] | None = None
    labels: list[str | None] | None = None

    @property
    def kinds(self) -> dict[str, str]:
        """The kind of each field: "number" or "text"."""
        return {name: "number" if _is_numeric(cells) else "text" for name, cells in self.fields.items()}

    def row(self, k: int) -> dict[str, Any]:
        """Return the fields of the k-th item that are not empty."""
        return {name: cells[k] for name, cells in self.fields.items() if cells[k] is not None}


def read_items(source: Source) -> tuple[Items, Graph, list[str]]:
    """Return the items, the graph over them in the same order, and sentences that say how the graph was made."""
    if source.table is None:
        return _items_of_graph(source)
    with working(f"reading {Path(source.table).name}"):
        table = read_columns(source.table)
    if odd := [name for name in table.header if not is_storable(name)]:
        raise FileError(f"{source.table}: the column name {odd[0]!r} is not valid text; rename the column")
    if not table.header:
        raise FileError(f"{source.table}: the first row names no column; give it the names of the fields")
    has_columns(
        source.table,
        table.header,
        *(source.features or ()),
        *(source.show or ()),
        *(source.id, source.text, source.image, source.label),
    )
    source = _fill_in(source, table)
    items = _make_items(source, table)
    graph, notes = _build_graph(source, table, items.ids)
    ids = f"ids are those of {source.id!r}" if source.id else "ids are row numbers, from 1; --id names a column instead"
    return items, graph, [*notes, ids]


def _items_of_graph(source: Source) -> tuple[Items, Graph, list[str]]:
    if source.graph is None:
        raise SettingError("what are the items? give a table, or a graph with --graph")
    graph = read_graph(source.graph)
    names = [graph.name(k) for k in range(graph.n_nodes)]
    ids = _check_ids(source.graph, names, lambda k: f"node {k}")
    return Items(ids), graph, [f"items are the nodes of {Path(source.graph).name}"]


def read_columns(path: FilePath) -> Table:
    """Read a table of any supported file type."""
    return TABLES.get(suffix(path, (".csv", ".tsv", ".txt", *TABLES)), text_table)(path)


def _fill_in(source: Source, table: Table) -> Source:
    """Find the id column by its name, and choose features or text where the source does not say how to compare items."""
    found = source.id or next((name for name in table.header if name.casefold() == "id"), None)
    features, text = source.features, source.text
    if features is None and text is None and source.graph is None:
        free = [name for name in table.header if name not in (found, source.image, source.label)]
        numbers = [name for name in free if _is_numeric(table.cells(name))]
        text = _longest_text(table, [name for name in free if name not in set(numbers)])
        features = None if text else numbers
        if not text and not features:
            raise SettingError(
                f"{source.table}: what joins the items? no column holds numbers or text to compare (columns: {few(table.header)}); "
                "name some with --features or --text, or give --graph FILE"
            )
    known = {**vars(source), "id": found, "features": features, "text": text}
    return Source(**known)


def _longest_text(table: Table, names: Sequence[str]) -> str | None:
    """Return the column with the longest text; None if even that is too short to compare."""
    lengths = {name: _mean_characters(table.cells(name)) for name in names}
    longest = max(lengths, key=lambda name: lengths[name], default=None)
    return longest if longest is not None and lengths[longest] >= MIN_TEXT_CHARACTERS else None


def _mean_characters(cells: list[Any]) -> float:
    lengths = [len(cell) for cell in cells if isinstance(cell, str) and not is_number(cell)]
    return sum(lengths) / len(cells)


def _plain_numbers(cells: list[Any]) -> Array | None:
    """Return a column as floats if every cell is a finite number, else None. Must be fast: tables can be wide."""
    if not set(map(type, cells)) <= {str, int, float}:
        return None
    try:
        values = np.array(list(map(float, cells)))
    except (ValueError, OverflowError):
        return None
    grouped = "_" in "".join(map(str, cells))  # Python reads 1_000 as a number
    return values if np.isfinite(values).all() and not grouped else None


def _is_numeric(cells: list[Any]) -> bool:
    if _plain_numbers(cells) is not None:
        return True
    there = [cell for cell in cells if not _is_missing(cell)]
    return bool(there) and all(_number(cell) is not None for cell in there)


def _is_missing(cell: Any) -> bool:
    return cell is None or (isinstance(cell, str) and cell.strip().lower() in MISSING)


def _number(cell: Any) -> float | None:
    if isinstance(cell, str):
        cell = float(cell) if is_number(cell) else None
    if isinstance(cell, bool) or not isinstance(cell, int | float) or not abs(cell) <= sys.float_info.max:
        return None
    return float(cell)


def _make_items(source: Source, table: Table) -> Items:
    path = source.table or ""
    n = len(table.cells(table.header[0]))
    named = None if source.id is None else table.cells(source.id)
    ids = [str(k + 1) for k in range(n)] if named is None else _check_ids(path, named, table.where)
    hidden = (source.id, source.image, source.label)
    shown = [name for name in table.header if name not in hidden] if source.show is None else source.show
    fields = {name: [_to_stored(cell) for cell in table.cells(name)] for name in shown}
    images = None if source.image is None else [one_line(cell) for cell in table.cells(source.image)]
    labels = None if source.label is None else [one_line(cell) for cell in table.cells(source.label)]
    return Items(ids, fields, images, labels)


def _check_ids(path: FilePath, cells: Sequence[Any], where: Callable[[int], str]) -> list[str]:
    """Return ids as text; raise an error if one is empty or occurs twice."""
    seen: dict[str, int] = {}
    for k, cell in enumerate(cells):
        id = one_line(cell)
        if id is None:
            raise FileError(f"{path}, {where(k)}: the id is empty; every item needs one")
        if id in seen:
            raise FileError(
                f"{path}, {where(k)}: the id {id!r} is on {where(seen[id])} already; give each item its own id"
            )
        seen[id] = k
    return list(seen)


def one_line(cell: Any) -> str | None:
    """Return a cell as one line of text that can be stored and typed; None for an empty cell.

    >>> one_line("  two  words "), one_line(7), one_line(" ")
    ('two words', '7', None)
    """
    line = " ".join(str(cell).split()) if cell is not None else ""
    return line.encode(errors="replace").decode().replace("\0", "?") or None


def is_storable(text: str) -> bool:
    """Return whether SQLite can store this text."""
    try:
        text.encode()
        return "\0" not in text
    except UnicodeEncodeError:
        return False


def _to_stored(cell: Any) -> Any:
    """Return a cell as it is stored: text and numbers unchanged, lists and objects as JSON, anything else as text."""
    if isinstance(cell, str) and cell.isascii():
        return cell
    if cell is None or isinstance(cell, bool | int) or (isinstance(cell, float) and math.isfinite(cell)):
        return cell
    nested = isinstance(cell, list | tuple | dict)
    kept = json.dumps(cell, ensure_ascii=False, default=str) if nested else str(cell)
    return kept.encode(errors="replace").decode()


def _build_graph(source: Source, table: Table, ids: list[str]) -> tuple[Graph, list[str]]:
    given = None if source.graph is None else _read_graph_of(source.graph, ids)
    if source.features is None and source.text is None:
        if given is None:
            raise SettingError("what joins the items? name --features or --text, or give --graph FILE")
        return given, [f"edges of {Path(source.graph or '').name}"]
    with working("comparing items"):
        rows, note = _comparison_rows(source, table)
        notes = [note] if given is None else [note, f"together with the edges of {Path(source.graph or '').name}"]
        return _join_rows(given, rows, source), notes


def _join_rows(given: Graph | None, rows: Any, source: Source) -> Graph:
    if given is not None:
        return with_features(given, rows, source.neighbors)
    if source.text is not None:
        return _join_texts(rows, source)
    return nearest_neighbors(rows, source.neighbors)


def _join_texts(rows: Any, source: Source) -> Graph:
    """Join texts by their words; a text without words gets no edge."""
    n, with_words = rows.shape[0], np.flatnonzero(abs(rows).sum(axis=1) > 0)
    if with_words.size in (0, 1, n):
        return nearest_neighbors(rows, source.neighbors, metric="cosine")
    found = nearest_neighbors(rows[with_words], source.neighbors, metric="cosine")
    without = counted(n - with_words.size, "item")
    return _place_nodes(found, with_words, n).noted(
        f"{without} without words in {source.text!r}: they have no edge, so nothing is predicted for them"
    )


def _comparison_rows(source: Source, table: Table) -> tuple[Any, str]:
    """Return one row of numbers per item to compare items by, and a sentence that says where the numbers come from."""
    k = f"{counted(source.neighbors, 'nearest neighbor')} of each item"
    if source.features is not None and source.text is not None:
        raise SettingError("--features and --text: compare items by one of them, or give the other as --graph")
    if source.text is not None:
        return tfidf_rows(table.cells(source.text)), f"{k} by the words of {source.text!r} (TF-IDF, cosine)"
    numbers, filled = _scaled_columns(source.table or "", table, source.features or ())
    note = f"; {counted(filled, 'empty cell')} filled with the median of the column" if filled else ""
    return numbers, f"{k} by {few(list(source.features or ()))}, scaled{note}"


def tfidf_rows(texts: Sequence[Any]) -> Any:
    """Return one TF-IDF row per text: sparse, or reduced to fewer dimensions where items are many.

    >>> tfidf_rows(["red apples", "green apples", None]).shape
    (3, 3)
    """
    from sklearn.feature_extraction.text import TfidfVectorizer

    written = [text if isinstance(text, str) else "" if text is None else str(text) for text in texts]
    try:
        rows = TfidfVectorizer(sublinear_tf=True, max_features=MAX_VOCABULARY).fit_transform(written)
    except ValueError:
        raise SettingError("no words in this column; choose another one with --text") from None
    if len(written) <= MAX_SPARSE_ITEMS or rows.shape[1] <= WORD_DIMENSIONS:
        return csr_array(rows)
    from sklearn.decomposition import TruncatedSVD

    return TruncatedSVD(WORD_DIMENSIONS, random_state=0).fit_transform(rows)


def _scaled_columns(path: FilePath, table: Table, names: Sequence[str]) -> tuple[Array, int]:
    """Return columns scaled to mean 0 and deviation 1 with gaps filled by the median, and the number of gaps."""
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
        values /= np.abs(values[~gaps]).max() or 1.0  # so that medians, means and squares cannot overflow
        values[gaps] = np.median(values[~gaps])
        filled += int(gaps.sum())
        columns.append((values - values.mean()) / (values.std() or 1.0))
    return np.column_stack(columns), filled


def _check_gaps(path: FilePath, table: Table, name: str, values: Array) -> None:
    """Raise an error if a cell is neither a number nor missing."""
    cells = table.cells(name)
    odd = next((k for k, cell in enumerate(cells) if np.isnan(values[k]) and not _is_missing(cell)), None)
    if odd is not None:
        raise FileError(
            f"{path}, {table.where(odd)}, column {name!r}: {cells[odd]!r} is not a finite number; fix it or leave it out"
        )


def _read_graph_of(path: FilePath, ids: list[str]) -> Graph:
    """Read a graph and put its nodes in the order of the items; items that the graph does not name get no edge."""
    graph = read_graph(path)
    place = {one: k for k, one in enumerate(ids)}
    at = np.empty(graph.n_nodes, dtype=np.int64)
    for k in range(graph.n_nodes):
        name = one_line(graph.name(k)) or ""
        if name not in place:
            raise LabelError(
                f"{path}: the graph has a node {name!r} and no item has that id; name the column of ids with --id"
            )
        at[k] = place[name]
    return _place_nodes(graph, at, len(ids))


def _place_nodes(graph: Graph, at: IntArray, n: int) -> Graph:
    """Return a graph of n nodes with the nodes of ``graph`` at the places ``at``; the others get no edge."""
    edges = graph.weights.tocoo()
    return Graph(csr_array((edges.data, (at[edges.row], at[edges.col])), shape=(n, n))).noted(*graph.notes)
