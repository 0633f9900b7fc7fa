"""Foreign objects -> the entries of a matrix: matrices, edges, frames, networkx graphs, unchecked."""

from __future__ import annotations

import itertools
import os
from collections.abc import Hashable, Iterable, Sequence
from numbers import Real
from typing import Any, Literal, NamedTuple

import numpy as np
import scipy.sparse as sp

from askgraph.errors import GraphError
from askgraph.types import AnyArray, Array, IntArray

SOURCES = {"source", "src", "from", "node1", "node_1", "id1"}
TARGETS = {"target", "dst", "to", "node2", "node_2", "id2"}
FLOATS = (float, np.floating)


class Raw(NamedTuple):
    """What came, unchecked; ``kind`` says what an entry (i, j) without its mirror means, or that all is clean (csr)."""

    weights: Any
    names: Iterable[Hashable] | None = None
    kind: Literal["matrix", "edges", "directed", "clean"] = "matrix"
    notes: tuple[str, ...] = ()


def foreign(source: Any) -> Raw | None:
    """A networkx graph, a frame or a list of edges, unchecked; None for anything else."""
    if hasattr(source, "is_directed") and hasattr(source, "nodes"):
        return _networkx(source)
    if is_frame(source):
        return _frame(source)
    listed = isinstance(source, list | tuple) and any(isinstance(row, tuple) for row in source)
    if listed or hasattr(source, "__next__"):
        return edge_list(source)
    if isinstance(source, str | bytes | os.PathLike):
        raise GraphError(f"{source!r} is no graph; for a file use askgraph.read_graph(path)")
    return None


def entries(source: Any) -> sp.coo_array:
    """The entries of any square matrix as float64."""
    if np.ma.is_masked(source):
        raise GraphError("the matrix has masked entries: fill them, with 0 for no edge")
    try:
        matrix = source if sp.issparse(source) else np.asarray(source)
    except ValueError as error:
        raise GraphError(f"this {type(source).__name__} is no matrix ({error}); for edges use from_edges") from None
    if matrix.ndim == 0:
        raise GraphError(f"a {type(source).__name__} is no graph: give a matrix, edges, a frame or a networkx graph")
    n_rows(matrix.shape)
    if matrix.dtype.kind not in "biuf":
        raise GraphError(f"weights of type {matrix.dtype}: give real numbers; for edges use Graph.from_edges")
    return coordinates(matrix) if sp.issparse(matrix) else _as_float64(matrix)


def _as_float64(matrix: Any) -> sp.coo_array:
    with np.errstate(over="ignore"):  # a long double too large becomes inf, which is refused later
        return sp.coo_array(matrix).astype(np.float64, copy=False)


def coordinates(matrix: Any) -> sp.coo_array:
    """Return the entries of a sparse matrix as float64, its index arrays checked: compiled code trusts them."""
    try:
        _check_structure(matrix)
        return _as_float64(matrix)
    except (ValueError, TypeError, IndexError, AttributeError) as error:
        raise GraphError(
            f"a {matrix.format} matrix whose index arrays do not fit together ({error}): build it again, for example "
            "with scipy.sparse.coo_array((values, (rows, columns)), shape)"
        ) from None


def _check_structure(matrix: Any) -> None:
    if matrix.format in ("csr", "csc", "bsr"):
        matrix.check_format(full_check=True)
    elif matrix.format == "coo":
        sp.coo_array((matrix.data, (matrix.row, matrix.col)), shape=matrix.shape)
    elif matrix.format == "dia":
        sp.dia_array((matrix.data, matrix.offsets), shape=matrix.shape)
    elif matrix.format == "lil" and [len(row) for row in matrix.rows] != [len(row) for row in matrix.data]:
        raise ValueError("a row has more places than values, or fewer")


def n_rows(shape: tuple[int, ...]) -> int:
    """How many nodes a matrix of this shape has."""
    if len(shape) != 2 or shape[0] != shape[1]:
        raise GraphError(f"a graph needs a square matrix, not shape {shape}; for edges use Graph.from_edges")
    if shape[0] == 0:
        raise GraphError("the graph has no nodes: give at least one")
    return int(shape[0])


def edge_list(edges: Any, nodes: int | Iterable[Hashable] | None = None) -> Raw:
    """Pairs or triples of any form, unchecked."""
    if is_frame(edges):
        a, b, weights, notes = _frame_edges(edges)
    elif isinstance(edges, np.ndarray):
        a, b, weights, notes = *_array_edges(edges), ()
    else:
        a, b, weights, notes = *_row_edges(edges), ()
    return assembled(*both_ends(a, b), weights, notes, nodes)


def edge_columns(header: Sequence[object]) -> tuple[int, int, int | None]:
    """Where source, target and weight are: by their usual names, else the first two or three columns.

    >>> edge_columns(["id", "Source", "Target", "Weight"]), edge_columns(["x", "y"])
    ((1, 2, 3), (0, 1, None))
    """
    words = [str(word).strip().casefold() for word in header]
    a, b, w = (next((k for k, x in enumerate(words) if x in known), None) for known in (SOURCES, TARGETS, {"weight"}))
    if a is None or b is None:
        if len(words) not in (2, 3):
            raise GraphError(f"{counted(len(words), 'column')}: give source, target and perhaps weight, so named")
        a, b, w = 0, 1, None
    return a, b, 3 - a - b if len(words) == 3 else w


def edge_arrays(stored: dict[str, AnyArray]) -> Raw:
    """Arrays called source, target and perhaps weight, or edges (two or three columns), unchecked."""
    if "edges" in stored:
        return edge_list(stored["edges"])
    if not {"source", "target"} <= stored.keys():
        raise GraphError(f"no graph among {few(list(stored))}: use Graph.save or save_npz, or save source and target")
    columns = {key: stored[key] for key in ("source", "target", "weight") if key in stored}
    if any(column.ndim != 1 or column.size != stored["source"].size for column in columns.values()):
        shapes = ", ".join(f"{key} {column.shape}" for key, column in columns.items())
        raise GraphError(f"arrays of shape {shapes}: give one entry an edge in each")
    w = columns.get("weight")
    weights = None if w is None else _weights(w if w.dtype.kind in "biuf" else w.tolist())
    return assembled(*both_ends(columns["source"], columns["target"]), weights, ())


def _networkx(source: Any) -> Raw:
    names, directed, triples = list(source.nodes), source.is_directed(), list(source.edges(data="weight", default=1.0))
    place = {name: i for i, name in enumerate(names)}
    i, j = (np.array([place[edge[k]] for edge in triples], dtype=np.int64) for k in (0, 1))
    ends = (i, j) if directed else (np.minimum(i, j), np.maximum(i, j))
    weights = _weights([edge[2] for edge in triples])
    return Raw(_entries(weights, ends[0], ends[1], len(names)), names, "directed" if directed else "edges")


def _frame(source: Any) -> Raw:
    if hasattr(source, "iloc") and source.shape[0] == source.shape[1] and source.index.equals(source.columns):
        return Raw(entries(source.to_numpy()), source.index)
    return edge_list(source)


def _frame_edges(frame: Any) -> tuple[Any, Any, Array | None, tuple[str, ...]]:
    columns = [str(column) for column in frame.columns]
    a, b, w = edge_columns(columns)
    ends = (frame_column(frame, k) for k in (a, b))
    plain = (x.to_numpy() if x.to_numpy().dtype.kind in "iuf" else x.to_list() for x in ends)
    weights = None if w is None else _weights(frame_column(frame, w).to_numpy(), f"column {columns[w]!r}")
    return *plain, weights, ignored(columns, (a, b, w))


def ignored(header: Sequence[str], used: tuple[int | None, ...]) -> tuple[str, ...]:
    """A note on the columns that were not used, if there are any.

    >>> ignored(["id", "source", "target"], (1, 2, None))
    ('ignored columns: id',)
    """
    others = [name for k, name in enumerate(header) if k not in used]
    return (f"ignored columns: {', '.join(others)}",) if others else ()


def _array_edges(edges: AnyArray) -> tuple[Any, Any, Array | None]:
    if edges.ndim != 2 or edges.shape[1] not in (2, 3):
        advice = "; transpose it" if edges.ndim == 2 and edges.shape[0] in (2, 3) else ""
        raise GraphError(f"edges of shape {edges.shape}: give an (m, 2) or (m, 3) array{advice}")
    a, b, *w = edges.T if edges.dtype.kind in "iuf" else edges.T.tolist()
    return a, b, _weights(w[0]) if w else None


def _row_edges(edges: Any) -> tuple[Any, Any, Array]:
    if isinstance(edges, set | frozenset):
        raise GraphError("a set of edges has no order, so nodes would be numbered anew in every run: give a list")
    rows = list(edges)
    for k, row in enumerate(rows):
        if not isinstance(row, tuple | list | np.ndarray) or len(row) not in (2, 3):
            raise GraphError(f"edge {k} (counted from 0) is {row!r}: give (source, target) or (source, target, weight)")
    weights = _weights([row[2] if len(row) == 3 else 1.0 for row in rows])
    return [row[0] for row in rows], [row[1] for row in rows], weights


def both_ends(a: Any, b: Any) -> tuple[Any, Any]:
    """Both endpoint columns as integer arrays if they can be, else as lists; nothing is missing in them."""
    whole = _integers(a), _integers(b)
    if whole[0] is not None and whole[1] is not None:
        return whole
    a, b = (x.tolist() if isinstance(x, np.ndarray) else x for x in (a, b))
    for k, ends in enumerate(zip(a, b, strict=True)):
        if is_missing(ends[0]) or is_missing(ends[1]):
            raise GraphError(f"edge {k} (counted from 0) is {ends!r}: an endpoint is missing")
    return a, b


def _integers(column: Any) -> IntArray | None:
    if isinstance(column, list):
        if not all(isinstance(x, int | np.integer) and not isinstance(x, bool) for x in column):
            return None
        column = np.array(column) if column else np.empty(0, dtype=np.int64)
    if column.dtype.kind == "f":
        odd = np.flatnonzero(~(np.abs(column) < 2**53) | (column != np.round(column)))
        if odd.size:
            k = odd[0]
            raise GraphError(f"edge {k} (counted from 0) has endpoint {column[k]}: ids are whole numbers or text")
    fits = column.dtype.kind in "if" or (column.dtype.kind == "u" and column.max(initial=0) < 2**63)
    return column.astype(np.int64, copy=False) if fits else None


def _weights(column: Any, where: str = "weight") -> Array:
    values = column if isinstance(column, np.ndarray) else np.array(column or [], dtype=None)
    if values.dtype.kind not in "biuf" and len(values):
        odd = next((x for x in column if not isinstance(x, Real) or is_missing(x)), column[0])
        raise GraphError(f"{where} {odd!r} is no real number: give numbers ≥ 0, or no weights")
    return values.astype(np.float64)


def assembled(
    a: Any, b: Any, weights: Array | None, notes: tuple[str, ...], nodes: int | Iterable[Hashable] | None = None
) -> Raw:
    """The entries of an edge list, its nodes numbered."""
    found, i, j = _distinct_integers(a, b) if isinstance(a, np.ndarray) else _distinct(a, b)
    names: Sequence[Hashable] = found
    if nodes is not None:
        names = range(nodes) if isinstance(nodes, int | np.integer) else list(nodes)
        places = _placed(found, names)
        i, j = places[i], places[j]
    elif isinstance(a, np.ndarray):
        notes += gaps(found)
    return Raw(_entries(weights, i, j, len(names)), names, "edges", notes)


def numbered(names: Sequence[Hashable], i: IntArray, j: IntArray, weights: Array | None, notes: tuple[str, ...]) -> Raw:
    """The entries of an edge list whose nodes are numbered as they first appear; names that are integers get sorted."""
    try:
        ids = np.array(names, dtype=np.int64) if all(type(name) is int for name in names) else None
    except OverflowError:
        ids = None
    if ids is not None:
        return assembled(ids[i], ids[j], weights, notes)
    return Raw(_entries(weights, i, j, len(names)), names, "edges", notes)


def _entries(weights: Array | None, i: IntArray, j: IntArray, n: int) -> sp.coo_array:
    i, j = (side.astype(index_type(n, i.size), copy=False) for side in (i, j))
    return sp.coo_array((np.ones(i.size) if weights is None else weights, (i, j)), shape=(n, n))


def index_type(n: int, m: int) -> type[np.signedinteger[Any]]:
    """The integers that number n nodes and m entries with their mirrors."""
    return np.int32 if max(n, 2 * m) < 2**31 else np.int64


def gaps(ids: Sequence[Any]) -> tuple[str, ...]:
    """A note on ids that do not follow each other, if they do not."""
    if not ids or ids[-1] - ids[0] < len(ids):
        return ()
    return (f"ids run from {ids[0]} to {ids[-1]} with gaps: they are names now; nodes= would add isolated nodes",)


def _distinct(a: Any, b: Any) -> tuple[Sequence[Hashable], IntArray, IntArray]:
    """The distinct endpoints as they first appear, and the places among them of a and of b."""
    try:
        names = list(dict.fromkeys(itertools.chain.from_iterable(zip(a, b, strict=True))))
    except TypeError as error:
        raise GraphError(f"an endpoint is not usable ({error}): names are text, numbers or other hashables") from None
    return names, _placed(a, names), _placed(b, names)


def _distinct_integers(a: IntArray, b: IntArray) -> tuple[Sequence[int], IntArray, IntArray]:
    """The distinct endpoints, sorted, and the places among them of a and of b; by a table where ids lie close."""
    low, high = (int(f([f(a), f(b)])) for f in (np.min, np.max)) if a.size else (0, -1)
    if high - low > 4 * a.size:
        found, places = np.unique(np.concatenate([a, b]), return_inverse=True)
        return found.tolist(), places[: a.size], places[a.size :]
    seen = np.zeros(high - low + 1, dtype=bool)
    for ends in (a, b):
        seen[ends - low] = True
    if low == 0 and seen.all():
        return range(high + 1), a, b
    places = np.cumsum(seen) - 1
    return (np.flatnonzero(seen) + low).tolist(), places[a - low], places[b - low]


def _placed(wanted: Iterable[Hashable], names: Sequence[Hashable]) -> IntArray:
    try:
        place = {name: i for i, name in enumerate(names)}
        return np.fromiter((place[name] for name in wanted), dtype=np.int64)
    except KeyError as error:
        raise GraphError(f"an edge ends at {error.args[0]!r}, which is not in nodes: add it there") from None
    except TypeError as error:
        raise GraphError(f"a node is not usable ({error}): names are text, numbers or other hashables") from None


def is_frame(source: object) -> bool:
    """Whether this is a pandas or polars frame, told without importing either."""
    known = type(source).__module__.partition(".")[0] in ("pandas", "polars")
    return known and hasattr(source, "columns") and hasattr(source, "shape")


def frame_column(frame: Any, k: int) -> Any:
    """The k-th column of a pandas or polars frame."""
    return frame.iloc[:, k] if hasattr(frame, "iloc") else frame.to_series(k)


def is_missing(value: object) -> bool:
    """Whether a cell stands for nothing: None, NaN, and what pandas has for them."""
    nan = isinstance(value, FLOATS) and value != value
    return value is None or nan or type(value).__name__ in ("NAType", "NaTType")


def counted(k: int, word: str) -> str:
    """A number and its noun.

    >>> counted(1, "node"), counted(2, "node")
    ('1 node', '2 nodes')
    """
    return f"{k} {word}" if k == 1 else f"{k} {word}s"


def few(items: Sequence[object]) -> str:
    """The first few of many, in words.

    >>> few("abcdefgh")
    "'a', 'b', 'c', 'd', 'e', … (8 in all)"
    """
    return ", ".join(map(repr, items[:5])) + (f", … ({len(items)} in all)" if len(items) > 5 else "")
