"""Objects of other libraries (matrices, edges, frames, networkx graphs) -> the entries of a matrix, not yet cleaned."""

from __future__ import annotations

import itertools
import os
from collections.abc import Hashable, Iterable, Sequence
from copy import copy
from dataclasses import dataclass
from numbers import Real
from typing import Any, Literal, NamedTuple

import numpy as np
import scipy.sparse as sp

from askgraph.errors import GraphError
from askgraph.support.arguments import is_missing, listed, whole_number
from askgraph.support.memory import fits
from askgraph.support.wording import counted, few
from askgraph.types import AnyArray, Array, IntArray

SOURCES = {"source", "src", "from", "node1", "node_1", "id1"}  # usual names of the column of sources, in lower case
TARGETS = {"target", "dst", "to", "node2", "node_2", "id2"}


class Raw(NamedTuple):
    """A graph as it came, before cleaning.

    ``kind`` says what an entry (i, j) without its mirror (j, i) means: an asymmetry ("matrix"), an undirected edge
    ("edges") or a directed one ("directed"). "clean" says that the weights, a csr array, need no cleaning.
    """

    weights: Any
    names: Iterable[Hashable] | None = None
    kind: Literal["matrix", "edges", "directed", "clean"] = "matrix"
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Column:
    """A column of `Columns`, with the two methods that columns of pandas and polars have."""

    values: AnyArray

    def to_numpy(self) -> AnyArray:
        """Return the values as they are."""
        return self.values

    def to_list(self) -> list[Any]:
        """Return the values as Python has them."""
        return self.values.tolist()


@dataclass(frozen=True)
class Columns:
    """A frame of named arrays, for tables of libraries that are neither pandas nor polars."""

    columns: list[str]
    arrays: list[AnyArray]

    @property
    def shape(self) -> tuple[int, int]:
        """The number of rows and of columns."""
        return len(self.arrays[0]) if self.arrays else 0, len(self.arrays)

    def to_series(self, k: int) -> Column:
        """Return the k-th column."""
        return Column(self.arrays[k])


def from_object(source: Any) -> Raw | None:
    """Convert a networkx graph, a frame or a list of edges; return None for anything else."""
    if hasattr(source, "is_directed") and hasattr(source, "nodes"):
        return _from_networkx(source)
    if is_frame(source):
        return _from_frame(source)
    of_edges = isinstance(source, list | tuple) and any(isinstance(row, tuple) for row in source)
    if of_edges or hasattr(source, "__next__"):
        return from_edges(source)
    if isinstance(source, str | bytes | os.PathLike):
        raise GraphError(f"{source!r} is not a graph; for a file use askgraph.read_graph(path)")
    return None


def matrix_entries(source: Any) -> sp.coo_array:
    """Return the entries of any square matrix as float64."""
    if np.ma.is_masked(source):
        raise GraphError("the matrix has masked entries: fill them, with 0 for no edge")
    try:
        matrix = source if sp.issparse(source) else np.asarray(source)
    except ValueError as error:
        raise GraphError(f"this {type(source).__name__} is not a matrix ({error}); for edges use from_edges") from None
    if matrix.ndim == 0:
        raise GraphError(f"a {type(source).__name__} is not a graph: give a matrix, edges, a frame or a networkx graph")
    count_nodes(matrix.shape)
    if matrix.dtype.kind not in "biuf":
        raise GraphError(f"weights of type {matrix.dtype}: give real numbers; for edges use Graph.from_edges")
    return coordinates(matrix) if sp.issparse(matrix) else _as_float64(matrix)


def _as_float64(matrix: Any) -> sp.coo_array:
    with np.errstate(over="ignore"):  # a long double that is too large becomes inf, which is refused later
        entries = sp.coo_array(matrix) if sp.issparse(matrix) else sp.coo_array(matrix.astype(np.float64, copy=False))
        return entries.astype(np.float64, copy=False)


def _with_float64(matrix: Any) -> Any:
    """Return a sparse matrix with float64 values: scipy's kernels take neither other byte orders nor float16."""
    if not isinstance(values := getattr(matrix, "data", None), np.ndarray) or values.dtype.kind not in "biuf":
        return matrix
    matrix = copy(matrix)
    with np.errstate(over="ignore"):
        matrix.data = values.astype(np.float64, copy=False)
    return matrix


def coordinates(matrix: Any) -> sp.coo_array:
    """Return the entries of a sparse matrix as float64, its index arrays checked: compiled code trusts them."""
    try:
        matrix = _with_float64(matrix)
        check_structure(matrix)
        return _as_float64(matrix)
    except (ValueError, TypeError, IndexError, AttributeError) as error:
        raise GraphError(
            f"a {matrix.format} matrix whose index arrays do not fit together ({error}): build it again, for example "
            "with scipy.sparse.coo_array((values, (rows, columns)), shape)"
        ) from None


def check_structure(matrix: Any) -> None:
    """Raise a `ValueError` if the index arrays of a sparse matrix do not fit together."""
    if matrix.format in ("csr", "csc", "bsr"):
        matrix.check_format(full_check=True)
        _check_compressed(matrix)
    elif matrix.format == "coo":
        sp.coo_array((matrix.data, (matrix.row, matrix.col)), shape=matrix.shape)
    elif matrix.format == "dia":
        sp.dia_array((matrix.data, matrix.offsets), shape=matrix.shape)
    elif matrix.format == "lil":
        if [len(row) for row in matrix.rows] != [len(row) for row in matrix.data]:
            raise ValueError("a row has more places than values, or fewer")
        if any(not 0 <= place < matrix.shape[1] for row in matrix.rows for place in row):
            raise ValueError("a place is not in the matrix")


def _check_compressed(matrix: Any) -> None:
    """Check what scipy leaves out where the last pointer is 0: pointers that fall, and arrays shorter than they say."""
    pointers = np.asarray(matrix.indptr)
    if (
        pointers[0] != 0
        or (pointers[1:] < pointers[:-1]).any()
        or pointers[-1] > min(len(matrix.indices), len(matrix.data))
    ):
        raise ValueError("the pointers to the rows fall, or lead beyond the entries")


def count_nodes(shape: tuple[int, ...]) -> int:
    """Return the number of nodes of a matrix of this shape; raise an error unless it is square."""
    if len(shape) != 2 or shape[0] != shape[1]:
        table = "; for a table of features use askgraph.nearest_neighbors(X), or Learner(features=X)"
        raise GraphError(
            f"a graph needs a square matrix, not shape {shape}{table if len(shape) == 2 else ''}; for edges use Graph.from_edges"
        )
    if shape[0] == 0:
        raise GraphError("the graph has no nodes: give at least one")
    return int(shape[0])


def from_edges(edges: Any, nodes: int | Iterable[Hashable] | None = None) -> Raw:
    """Convert edges: a frame, an array, or rows of two or three values."""
    if is_frame(edges):
        a, b, weights, notes = _frame_edges(edges)
    elif isinstance(edges, np.ndarray):
        a, b, weights, notes = *_array_edges(edges), ()
    else:
        a, b, weights, notes = *_row_edges(edges), ()
    return number_nodes(*check_ends(a, b), weights, notes, nodes)


def find_edge_columns(header: Sequence[object]) -> tuple[int, int, int | None]:
    """Return the columns of source, target and weight: those with the usual names, else the first two or three.

    >>> find_edge_columns(["id", "Source", "Target", "Weight"]), find_edge_columns(["x", "y"])
    ((1, 2, 3), (0, 1, None))
    """
    words = [str(word).strip().casefold() for word in header]
    a, b, w = (next((k for k, x in enumerate(words) if x in known), None) for known in (SOURCES, TARGETS, {"weight"}))
    if a is None or b is None:
        if len(words) not in (2, 3):
            raise GraphError(
                f"{counted(len(words), 'column')}: give source, target and perhaps weight, by these names; "
                "for a table of features use askgraph.nearest_neighbors(X)"
            )
        a, b, w = 0, 1, None
    return a, b, 3 - a - b if len(words) == 3 else w


def from_arrays(stored: dict[str, AnyArray]) -> Raw:
    """Convert arrays called source, target and perhaps weight, or one called edges with two or three columns."""
    if "edges" in stored:
        return from_edges(stored["edges"])
    if not {"source", "target"} <= stored.keys():
        raise GraphError(f"no graph among {few(list(stored))}: use Graph.save or save_npz, or save source and target")
    columns = {key: stored[key] for key in ("source", "target", "weight") if key in stored}
    if any(column.ndim != 1 or column.size != stored["source"].size for column in columns.values()):
        shapes = ", ".join(f"{key} {column.shape}" for key, column in columns.items())
        raise GraphError(f"arrays of shape {shapes}: give one entry per edge in each")
    w = columns.get("weight")
    weights = None if w is None else _weights(w if w.dtype.kind in "biuf" else w.tolist())
    return number_nodes(*check_ends(columns["source"], columns["target"]), weights, ())


def _from_networkx(source: Any) -> Raw:
    names, directed, triples = list(source.nodes), source.is_directed(), list(source.edges(data="weight", default=1.0))
    place = {name: i for i, name in enumerate(names)}
    i, j = (np.array([place[edge[k]] for edge in triples], dtype=np.int64) for k in (0, 1))
    ends = (i, j) if directed else (np.minimum(i, j), np.maximum(i, j))
    matrix = _edge_matrix(_weights([edge[2] for edge in triples]), ends[0], ends[1], len(names))
    return Raw(matrix, names, "directed" if directed else "edges", _other_weights_note(source))


def _other_weights_note(source: Any) -> tuple[str, ...]:
    """Return a note where edges of a networkx graph have numbers, but none called "weight"."""
    if not any(True for *_, weight in source.edges(data="weight") if weight is not None):
        for *_, data in source.edges(data=True):
            for key, value in data.items():
                if isinstance(value, Real) and not isinstance(value, bool):
                    way = f"Graph(networkx.to_scipy_sparse_array(g, weight={key!r}), names=g.nodes)"
                    return (f"every edge has weight 1: edges have {key!r}, but no 'weight'; to use it: {way}",)
    return ()


def _from_frame(source: Any) -> Raw:
    if hasattr(source, "iloc") and source.shape[0] == source.shape[1] and source.index.equals(source.columns):
        return Raw(matrix_entries(source.to_numpy()), source.index)
    return from_edges(source)


def _frame_edges(frame: Any) -> tuple[Any, Any, Array | None, tuple[str, ...]]:
    columns = [str(column) for column in frame.columns]
    a, b, w = find_edge_columns(columns)
    ends = (frame_column(frame, k) for k in (a, b))
    plain = (x.to_numpy() if x.to_numpy().dtype.kind in "iuf" else x.to_list() for x in ends)
    weights = None if w is None else _weights(frame_column(frame, w).to_numpy(), f"column {columns[w]!r}")
    return *plain, weights, ignored_columns_note(columns, (a, b, w))


def ignored_columns_note(header: Sequence[str], used: tuple[int | None, ...]) -> tuple[str, ...]:
    """Return a note on the columns that were not used, if there are any.

    >>> ignored_columns_note(["id", "source", "target"], (1, 2, None))
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
        raise GraphError("a set of edges has no order, so node numbers would differ from run to run: give a list")
    rows = listed(edges, "edges", GraphError)
    for k, row in enumerate(rows):
        if not isinstance(row, tuple | list | np.ndarray) or getattr(row, "ndim", 1) != 1 or len(row) not in (2, 3):
            raise GraphError(f"edge {k} (counted from 0) is {row!r}: give (source, target) or (source, target, weight)")
    weights = _weights([row[2] if len(row) == 3 else 1.0 for row in rows])
    return [row[0] for row in rows], [row[1] for row in rows], weights


def check_ends(a: Any, b: Any) -> tuple[Any, Any]:
    """Return both endpoint columns as integer arrays if they can be, else as lists; raise an error if one is missing."""
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
    try:
        values = column if isinstance(column, np.ndarray) else np.array(column or [], dtype=None)
    except (ValueError, TypeError, OverflowError):  # values of several shapes
        values = np.array([None])
    if values.dtype.kind not in "biuf" and len(values):
        odd = next((x for x in column if not isinstance(x, Real) or is_missing(x)), column[0])
        raise GraphError(f"{where} {odd!r} is not a real number: give numbers ≥ 0, or no weights")
    if values.ndim != 1:
        raise GraphError(f"weights of shape {values.shape}: give one number per edge")
    return values.astype(np.float64)


def number_nodes(
    a: Any, b: Any, weights: Array | None, notes: tuple[str, ...], nodes: int | Iterable[Hashable] | None = None
) -> Raw:
    """Number the nodes of an edge list, and return its entries: integers sorted, other names as they first appear."""
    found, i, j = _number_integers(a, b) if isinstance(a, np.ndarray) else _number_names(a, b)
    names: Sequence[Hashable] = found
    if nodes is not None:
        names = _all_nodes(nodes)
        places = _find_places(found, names)
        i, j = places[i], places[j]
    elif isinstance(a, np.ndarray):
        notes += id_gaps_note(found)
    return Raw(_edge_matrix(weights, i, j, len(names)), names, "edges", notes)


def _all_nodes(nodes: int | Iterable[Hashable]) -> Sequence[Hashable]:
    """Return the names of all nodes in order, for a number of them or the names themselves."""
    if not isinstance(nodes, int | np.integer):
        return listed(nodes, "nodes", GraphError)
    n = whole_number(nodes, "nodes", 1)
    fits(200.0 * n, f"a graph of {n} nodes", "give fewer")
    return range(n)


def from_numbered(
    names: Sequence[Hashable], i: IntArray, j: IntArray, weights: Array | None, notes: tuple[str, ...]
) -> Raw:
    """Convert an edge list whose nodes are numbered as they first appear; names that are all integers get sorted."""
    try:
        ids = np.array(names, dtype=np.int64) if all(type(name) is int for name in names) else None
    except OverflowError:
        ids = None
    if ids is not None:
        return number_nodes(ids[i], ids[j], weights, notes)
    return Raw(_edge_matrix(weights, i, j, len(names)), names, "edges", notes)


def _edge_matrix(weights: Array | None, i: IntArray, j: IntArray, n: int) -> sp.coo_array:
    i, j = (side.astype(index_type(n, i.size), copy=False) for side in (i, j))
    return sp.coo_array((np.ones(i.size) if weights is None else weights, (i, j)), shape=(n, n))


def index_type(n: int, m: int) -> type[np.signedinteger[Any]]:
    """Return the smallest integer type that can count n nodes, and m entries with their mirrors."""
    return np.int32 if max(n, 2 * m) < 2**31 else np.int64


def id_gaps_note(ids: Sequence[Any]) -> tuple[str, ...]:
    """Return a note if sorted ids have gaps between them."""
    if not ids or ids[-1] - ids[0] < len(ids):
        return ()
    return (f"ids run from {ids[0]} to {ids[-1]} with gaps: they are names now; nodes= would add isolated nodes",)


def _number_names(a: Any, b: Any) -> tuple[Sequence[Hashable], IntArray, IntArray]:
    """Return the distinct endpoints as they first appear, and the places of a and of b among them."""
    try:
        names = list(dict.fromkeys(itertools.chain.from_iterable(zip(a, b, strict=True))))
    except TypeError as error:
        raise GraphError(f"an endpoint is not usable ({error}): names are text, numbers or other hashables") from None
    return names, _find_places(a, names), _find_places(b, names)


def _number_integers(a: IntArray, b: IntArray) -> tuple[Sequence[int], IntArray, IntArray]:
    """Return the distinct endpoints, sorted, and the places of a and of b among them.

    Ids that lie close together are looked up in a table, which is faster than sorting.
    """
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


def _find_places(wanted: Iterable[Hashable], names: Sequence[Hashable]) -> IntArray:
    try:
        place = {name: i for i, name in enumerate(names)}
        return np.fromiter((place[name] for name in wanted), dtype=np.int64)
    except KeyError as error:
        raise GraphError(f"an edge ends at {error.args[0]!r}, which is not in nodes: add it there") from None
    except TypeError as error:
        raise GraphError(f"a node is not usable ({error}): names are text, numbers or other hashables") from None


def is_frame(source: object) -> bool:
    """Return whether an object is a frame of pandas, polars or ours, without importing either."""
    known = isinstance(source, Columns) or type(source).__module__.partition(".")[0] in ("pandas", "polars")
    return known and hasattr(source, "columns") and hasattr(source, "shape")


def frame_column(frame: Any, k: int) -> Any:
    """Return the k-th column of a frame."""
    return frame.iloc[:, k] if hasattr(frame, "iloc") else frame.to_series(k)
