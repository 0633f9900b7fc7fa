"""Graphs built from points: nearest neighbors, radial basis, correlation."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from askgraph.errors import GraphError, SettingError
from askgraph.graph.copies import find_copies
from askgraph.graph.foreign import coordinates_of, library, plain
from askgraph.graph.graph import Graph
from askgraph.graph.neighbors import find_neighbors
from askgraph.graph.pairs import LARGEST_FEATURE, check_bandwidth, distinct_pairs, edge_weights, neighbor_lists
from askgraph.graph.sources import Raw, coordinates, frame_column, is_frame
from askgraph.support.arguments import flag, one_of, real_number, whole_number
from askgraph.support.label_names import USUAL_LABELS
from askgraph.support.progress import working
from askgraph.support.wording import counted
from askgraph.types import AnyArray, Array, IntArray

MAX_ENTRIES = 50_000_000  # stored weights (600 MB); with more, radial_basis and pearson refuse and ask for a threshold
PAIRS_PER_BLOCK = 4_000_000  # weights computed at a time by radial_basis and pearson (32 MB)
CORRELATION_ROUNDOFF = 1e-14  # a smaller correlation is roundoff and counts as 0


def nearest_neighbors(
    X: object,
    k: int = 10,
    metric: Literal["euclidean", "cosine"] = "euclidean",
    bandwidth: float | Literal["self-tuning"] | None = "self-tuning",
    scale: bool = False,
    names: Iterable[Hashable] | None = None,
    approximate: bool | None = None,
) -> Graph:
    r"""Join each point to its k nearest points; an edge counts in both directions.

    Parameters
    ----------
    X : array, sparse matrix or frame
        One row per point, one column per feature.
    k : int
        The number of neighbors of each point among distinct points; at most the number of other ones.
    metric : {"euclidean", "cosine"}
        The distance d. The cosine distance is 1 − cos; rows of zeros have distance 0 from each other and 1 from all
        other rows.
    bandwidth : float, "self-tuning" or None
        The weight of an edge: for "self-tuning" :math:`w_{ij} = \exp(-4 d_{ij}^2 / (d_k(i) d_k(j)))`, where d_k is the
        distance to the k-th neighbor; for a number σ :math:`\exp(-d_{ij}^2/\sigma^2)`; for None 1. Copies are tied
        with weight 1.
    scale : bool
        Whether to scale every column to [−1, 1] first.
    names : iterable, optional
        The names of the points; by default the index of a pandas frame.
    approximate : bool, optional
        Whether to search with faiss (``pip install "askgraph[ann]"``); the graph's notes then say which share of the
        true neighbors was found. None means: only where comparing all pairs would take minutes (100,000 rows of more than
        60 columns, 200,000 of more than 15) and faiss is installed.

    Returns
    -------
    Graph
        The graph of the points, one node per row.

    Notes
    -----
    Equal rows are copies; for cosine, rows that are equal once they are scaled to length 1. Neighbors are looked for among
    distinct rows. Each copy is tied to a few others of its kind, so that a label of one counts for all, and joined to one or up
    to three copies of each neighbor. Which ones goes by the order of the rows, which so moves probabilities
    a little. The graph's notes say which share of the rows repeats. Rows that are all the same are tied to each other, and that
    is all.

    Examples
    --------
    >>> nearest_neighbors([[0.0], [1.0], [2.0], [9.0]], k=1, bandwidth=None).weights.toarray().astype(int).tolist()
    [[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 1, 0]]
    """
    check_at_least("k", k, 1)
    one_of(metric, "metric", ("euclidean", "cosine"))
    if approximate is not None:
        flag(approximate, "approximate")
    points, found, named = _check_points(X, names, scale)
    n = points.shape[0]
    if n < 2:
        raise GraphError(f"{counted(n, 'point')}: neighbors need at least two")
    with working(f"copies among {n:,} rows"):
        rows = points if metric == "euclidean" else unit_rows(points)
        copies = find_copies(rows)
    m = copies.first.size
    i, j, d, notes = find_neighbors(rows if m == n else rows[copies.first], min(k, m - 1), approximate)
    d = d if metric == "euclidean" else d**2 / 2  # |u − v|²/2 = 1 − cos for unit rows
    weights = edge_weights(i, j, d, bandwidth)
    if m < n:
        i, j, weights = copies.joined(i, j, weights)
        notes.append(copies.note)
    notes += [] if k < m else [_came_down(k, m, m < n)]
    return graph_from_pairs(n, i, j, weights, found).noted(*notes, *named)


def _came_down(k: int, m: int, repeat: bool) -> str:
    there = f"{'is' if m == 1 else 'are'} {counted(m, 'distinct point' if repeat else 'point')}"
    return f"k={k} came down to {m - 1}: there {there}"


def from_neighbors(
    distances: object,
    indices: object,
    bandwidth: float | Literal["self-tuning"] | None = "self-tuning",
    squared: bool = False,
    names: Iterable[Hashable] | None = None,
) -> Graph:
    """Return the graph of a neighbor search that another library did: faiss, hnswlib, pynndescent, usearch, scikit-learn.

    A point among its own neighbors, and a neighbor of −1 (none was found), are left out.

    Parameters
    ----------
    distances : array
        One row per point, one column per neighbor.
    indices : array of int
        The neighbors, in the same places. The two tables may come in either order.
    bandwidth : float, "self-tuning" or None
        The weight of an edge, as in :func:`nearest_neighbors`; points at distance 0 get weight 1. Where d_k(i) = 0, d_k(j)
        takes its place.
    squared : bool
        Whether the distances are squared, as faiss and hnswlib give them for l2.
    names : iterable, optional
        The names of the points.

    Returns
    -------
    Graph
        The graph of the points, one node per row.

    Examples
    --------
    >>> from_neighbors([[0.0, 1.0], [0.0, 1.0], [0.0, 4.0]], [[0, 1], [1, 0], [2, 1]], squared=True)
    Graph(3 nodes, 2 edges)
    """
    n, i, j, d = neighbor_lists(plain(distances), plain(indices), flag(squared, "squared"))
    return graph_from_pairs(n, i, j, edge_weights(i, j, d, bandwidth), names)


def radial_basis(
    X: object,
    bandwidth: float,
    threshold: float = 0.0,
    scale: bool = False,
    names: Iterable[Hashable] | None = None,
) -> Graph:
    r"""Join all pairs of points with weight :math:`w_{ij} = \exp(-\|x_i - x_j\|^2/\sigma^2)`.

    Parameters
    ----------
    X : array, sparse matrix or frame
        One row per point, one column per feature.
    bandwidth : float
        σ > 0.
    threshold : float
        Smaller weights are dropped.
    scale : bool
        Whether to scale every column to [−1, 1] first.
    names : iterable, optional
        The names of the points; by default the index of a pandas frame.

    Returns
    -------
    Graph
        The graph of the points, one node per row.

    Examples
    --------
    >>> radial_basis([[0.0], [1.0], [9.0]], bandwidth=1.0, threshold=0.1).weights.toarray().round(3).tolist()
    [[0.0, 0.368, 0.0], [0.368, 0.0, 0.0], [0.0, 0.0, 0.0]]
    """
    from scipy.spatial.distance import cdist

    sigma = check_bandwidth(bandwidth)
    points, found, named = _check_points(X, names, scale)
    P = _dense(points) / sigma
    graph = _all_pairs(lambda rows: np.exp(-cdist(P[rows], P[rows.start :], "sqeuclidean")), len(P), threshold, found)
    return graph.noted(*named)


def pearson(
    X: object,
    threshold: float = 0.0,
    centered: bool = False,
    scale: bool = True,
    names: Iterable[Hashable] | None = None,
) -> Graph:
    r"""Join all pairs of points with the paper's correlation, :math:`w_{ij} = x_i^T x_j / (\|x_i\| \|x_j\|)`.

    Negative weights are dropped. A row of zeros (if ``centered``, a constant row) correlates with nothing.

    Parameters
    ----------
    X : array, sparse matrix or frame
        One row per point, one column per feature.
    threshold : float
        Smaller weights are dropped.
    centered : bool
        Whether to subtract the mean of each row, which gives Pearson's correlation.
    scale : bool
        Whether to scale every column to [−1, 1] first.
    names : iterable, optional
        The names of the points; by default the index of a pandas frame.

    Returns
    -------
    Graph
        The graph of the points, one node per row.

    Examples
    --------
    >>> pearson([[1.0, 0.0], [1.0, 1.0], [-1.0, 0.5]], scale=False).weights.toarray().round(3).tolist()
    [[0.0, 0.707, 0.0], [0.707, 0.0, 0.0], [0.0, 0.0, 0.0]]
    """
    points, found, named = _check_points(X, names, scale)
    U = _directions(_dense(points), flag(centered, "centered"))
    least = max(real_number(threshold, "threshold"), CORRELATION_ROUNDOFF)
    graph = _all_pairs(lambda rows: U[rows] @ U[rows.start :].T, len(U), least, found)
    flat = int(np.count_nonzero(~U.any(axis=1)))
    return graph.noted(*([f"{counted(flat, 'row')} without direction: isolated"] if flat else []), *named)


def scale_features(X: object) -> Array:
    """Scale every column to [−1, 1]; a constant column becomes 0.

    Parameters
    ----------
    X : array, sparse matrix or frame
        One row per point, one column per feature.

    Returns
    -------
    array
        The scaled columns, as a dense array.

    Examples
    --------
    >>> scale_features([[1.0, 5.0], [2.0, 5.0], [3.0, 5.0]]).tolist()
    [[-1.0, 0.0], [0.0, 0.0], [1.0, 0.0]]
    """
    return _scale_columns(_dense(_check_points(X, None, False)[0]))


def graph_from_pairs(n: int, i: IntArray, j: IntArray, weights: Array | None = None, names: Any = None) -> Graph:
    """Return the graph with edges (i, j); a pair that comes again, in either direction, counts once."""
    return Graph(Raw(distinct_pairs(n, i, j, weights), names, "edges"))


def place_nodes(graph: Graph, at: IntArray, n: int, names: Iterable[Hashable] | None = None) -> Graph:
    """Return a graph of n nodes with the nodes of ``graph`` at the places ``at``; the others get no edge."""
    edges = graph.weights.tocoo()
    placed = sp.csr_array((edges.data, (at[edges.row], at[edges.col])), shape=(n, n))
    return Graph(placed, names=names).noted(*graph.notes)


def check_at_least(what: str, value: int, least: int) -> None:
    """Raise an error unless the value is a whole number of at least ``least``."""
    whole_number(value, what, least)


def _check_points(X: Any, names: Any, scale: bool) -> tuple[Any, Any, list[str]]:
    """Return the table as floats (a dense or a csr array), the names of its rows, and notes on its columns."""
    X = plain(X)
    if library(X) == "geopandas" and hasattr(X, "geometry"):
        names, X = X.index if names is None else names, coordinates_of(X)
    if is_frame(X):
        names = X.index if names is None and hasattr(X, "index") else names
        table, columns = _frame_table(X), [repr(str(column)) for column in X.columns]
    else:
        table, columns = X if sp.issparse(X) else as_table(X), None
    if table.ndim != 2 or 0 in table.shape:
        raise GraphError(f"a table of shape {table.shape}: give rows of points and columns of features")
    if table.dtype.kind not in "biuf":
        raise GraphError(f"features of type {table.dtype}: give numbers, and encode text columns")
    if flag(scale, "scale") and sp.issparse(table):
        raise SettingError("scale=True would fill a sparse table: pass scale=False, or a dense table")
    table = coordinates(table).tocsr() if sp.issparse(table) else table.astype(np.float64)
    _check_finite(table, columns)
    return (_scale_columns(table) if scale else table), names, note_labels(X)


def note_labels(X: Any) -> list[str]:
    """Return a note on columns of a frame that are called as labels are: rows that are joined by them know the answer.

    >>> import pandas
    >>> note_labels(pandas.DataFrame({"width": [1.0, 2.0], "label": [0, 1]}))
    ["column 'label' may hold labels, and joins rows as a feature does: leave it out if it does"]
    """
    X = plain(X)
    return [
        f"column {name!r} may hold labels, and joins rows as a feature does: leave it out if it does"
        for name in (X.columns if is_frame(X) else ())
        if str(name).casefold() in USUAL_LABELS
    ]


def check_features(X: Any) -> Any:
    """Return a table of features as floats, a dense or a csr array, checked."""
    return _check_points(X, None, False)[0]


def as_table(X: Any) -> AnyArray:
    """Return an array of rows and columns; raise an error for anything that is not one."""
    if np.ma.is_masked(X):
        raise GraphError("the table has masked entries: fill them, or drop their rows")
    try:
        return np.asarray(X)
    except (ValueError, TypeError, OverflowError) as error:
        raise GraphError(f"this {type(X).__name__} is not a table ({error}): give rows of equal length") from None


def _frame_table(frame: Any) -> Array:
    columns = [_unnested(frame_column(frame, k).to_numpy()) for k in range(frame.shape[1])]
    for column, values in zip(frame.columns, columns, strict=True):
        if values.dtype.kind not in "biuf":
            raise GraphError(f"column {column!r} is not numeric (type {values.dtype}): fill it, encode it or drop it")
    return np.column_stack(columns) if columns else np.empty(frame.shape)


def _unnested(values: AnyArray) -> AnyArray:
    """Return a column; one of lists of equal length, such as embeddings, with a column per place."""
    nested = values.dtype == object and len(values) and all(isinstance(row, list | np.ndarray) for row in values)
    return np.array(values.tolist()) if nested and len({len(row) for row in values}) == 1 else values


def _check_finite(table: Any, columns: list[str] | None) -> None:
    values = table.data if sp.issparse(table) else table
    if np.abs(values).max(initial=0.0) <= LARGEST_FEATURE:
        return
    entries = sp.coo_array(table)
    k = np.flatnonzero(~(np.abs(entries.data) <= LARGEST_FEATURE))[0]
    row, column = int(entries.row[k]), int(entries.col[k])
    where = f"row {row}, column {columns[column] if columns else column}"
    raise GraphError(f"{where} is {entries.data[k]}: features are finite, at most 1e150; fill it or drop the row")


def _scale_columns(table: Array) -> Array:
    low, high = table.min(axis=0), table.max(axis=0)
    span = np.where(high > low, high - low, 1.0)
    return np.where(high > low, np.clip(2 * ((table - low) / span) - 1, -1, 1), 0.0)


def _dense(points: Any) -> Array:
    dense: Array = points.toarray() if sp.issparse(points) else points
    return dense


def unit_rows(points: Any) -> Any:
    """Return the rows scaled to length 1; rows of zeros share one extra column, at right angles to all others."""
    if sp.issparse(points):
        return _unit_sparse_rows(sp.csr_array(points))
    peak = abs(points).max(axis=1)
    empty = (peak == 0).astype(np.float64)[:, None]
    rows = np.hstack([points / (peak[:, None] + empty), empty])
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def _unit_sparse_rows(points: sp.csr_array) -> sp.csr_array:
    n, m = points.shape
    lengths, peak = np.diff(points.indptr), np.zeros(n)
    filled = lengths > 0
    if points.nnz:
        peak[filled] = np.maximum.reduceat(abs(points.data), points.indptr[:-1][filled])
    empty = peak == 0
    values = points.data * np.repeat(1 / (peak + empty), lengths)
    rows = sp.csr_array((values, points.indices, points.indptr), shape=(n, m + 1))
    if empty.any():
        rows = sp.hstack([rows[:, :m], sp.csr_array(empty[:, None].astype(np.float64))], format="csr")
        lengths = np.diff(rows.indptr)
    rows.data *= np.repeat(1 / np.sqrt(rows.power(2).sum(axis=1)), lengths)
    return rows


def _directions(table: Array, centered: bool) -> Array:
    """Return the rows scaled to length 1; a row that is zero up to roundoff becomes zeros."""
    peak = np.abs(table).max(axis=1, keepdims=True)
    rows = table / np.where(peak > 0, peak, 1.0)
    rows = rows - rows.mean(axis=1, keepdims=True) if centered else rows
    norm = np.linalg.norm(rows, axis=1, keepdims=True)
    none = norm <= CORRELATION_ROUNDOFF * np.sqrt(rows.shape[1])
    return np.where(none, 0.0, rows / np.where(none, 1.0, norm))


def _all_pairs(block: Callable[[slice], Array], n: int, threshold: float, names: Any) -> Graph:
    """Return the graph of all pairs whose weight is at least the threshold.

    ``block(rows)`` computes the weights of some rows, from their own columns on: only the upper half is needed.
    """
    threshold = real_number(threshold, "threshold")
    step, kept, total = max(1, PAIRS_PER_BLOCK // n), [], 0
    for start in range(0, n, step):
        weights = block(slice(start, min(start + step, n)))
        i, j = np.nonzero(np.triu((weights >= threshold) & (weights > 0), 1))
        kept.append((i + start, j + start, np.minimum(weights[i, j], 1.0)))
        total += 2 * i.size
        if total > MAX_ENTRIES:
            raise GraphError(f"over {MAX_ENTRIES:,} weights: raise the threshold, or use nearest_neighbors")
    i, j, weights = (np.concatenate(side) for side in zip(*kept, strict=True))
    return graph_from_pairs(n, i, j, weights, names)
