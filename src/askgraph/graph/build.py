"""Points -> Graph: nearest neighbours, radial basis, correlation; and toy graphs with known answers."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from contextlib import nullcontext
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import cdist

from askgraph.errors import GraphError, SettingError
from askgraph.graph.graph import Graph
from askgraph.graph.neighbors import neighbors
from askgraph.graph.sources import Raw, coordinates, counted, frame_column, is_frame
from askgraph.support.progress import Tick, bar, working
from askgraph.types import Array, BoolArray, IntArray

MAX_ENTRIES = 50_000_000  # stored weights (600 MB); beyond it radial_basis and pearson ask for a threshold
CHUNK = 4_000_000  # numbers in one block of pairs (32 MB)
ROUNDOFF = 1e-14  # a correlation below it is none
LARGEST = 1e150  # features beyond it overflow when squared
ROUNDS = 20  # in which ends are matched
MANY = 100_000  # nodes from which making a graph takes seconds
Seed = int | np.random.Generator | None


def nearest_neighbors(
    X: object,
    k: int = 10,
    metric: Literal["euclidean", "cosine"] = "euclidean",
    bandwidth: float | Literal["self-tuning"] | None = "self-tuning",
    scale: bool = False,
    names: Iterable[Hashable] | None = None,
    approximate: bool | None = None,
) -> Graph:
    r"""Each point joined to its k nearest, in either direction.

    :math:`w_{ij} = \exp(-4 d_{ij}^2 / (d_k(i) d_k(j)))` with d_k the distance to the k-th neighbour;
    :math:`\exp(-d_{ij}^2/\sigma^2)` for a bandwidth σ; 1 for None. Equal points get weight 1, and a point with k
    copies of itself, so without d_k, takes its partner's. The cosine distance is 1 − cos; rows of zeros are alike, and
    at distance 1 from all others. ``scale`` first scales every column to [−1, 1].

    ``approximate``: by faiss (``pip install "askgraph[ann]"``), with the share of true neighbours found in the graph's notes; None
    means beyond 50,000 rows of more than 10 columns, where faiss is installed.

    >>> nearest_neighbors([[0.0], [1.0], [2.0], [9.0]], k=1, bandwidth=None).weights.toarray().astype(int).tolist()
    [[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 1, 0]]
    """
    _at_least("k", k, 1)
    if metric not in ("euclidean", "cosine"):
        raise SettingError(f"metric={metric!r}: pass 'euclidean' or 'cosine'")
    points, found = _points(X, names, scale)
    n = points.shape[0]
    if n < 2:
        raise GraphError(f"{counted(n, 'point')}: neighbours need at least two")
    rows = points if metric == "euclidean" else _unit_rows(points)
    i, j, d, notes = neighbors(rows, min(k, n - 1), approximate)
    d = d if metric == "euclidean" else d**2 / 2  # |u − v|²/2 = 1 − cos for unit rows
    graph = _joined(n, i, j, _kernel(i, j, d, bandwidth), found)
    notes += [] if k < n else [f"k={k} came down to {n - 1}: there are {n} points"]
    return graph.noted(*notes)


def radial_basis(
    X: object,
    bandwidth: float,
    threshold: float = 0.0,
    scale: bool = False,
    names: Iterable[Hashable] | None = None,
) -> Graph:
    r""":math:`w_{ij} = \exp(-\|x_i - x_j\|^2/\sigma^2)`, weights below the threshold cut.

    >>> radial_basis([[0.0], [1.0], [9.0]], bandwidth=1.0, threshold=0.1).weights.toarray().round(3).tolist()
    [[0.0, 0.368, 0.0], [0.368, 0.0, 0.0], [0.0, 0.0, 0.0]]
    """
    sigma = _positive(bandwidth)
    points, found = _points(X, names, scale)
    P = _dense(points) / sigma
    return _pairs(lambda rows: np.exp(-cdist(P[rows], P[rows.start :], "sqeuclidean")), len(P), threshold, found)


def pearson(
    X: object,
    threshold: float = 0.0,
    centered: bool = False,
    scale: bool = True,
    names: Iterable[Hashable] | None = None,
) -> Graph:
    r"""The paper's correlation, :math:`w_{ij} = x_i^T x_j / (\|x_i\| \|x_j\|)`.

    Weights that are negative or below the threshold are cut. Columns are first scaled to [−1, 1]; ``centered`` takes
    off each row's mean, which makes it Pearson's. A row of zeros (centered: a constant row) correlates with nothing.

    >>> pearson([[1.0, 0.0], [1.0, 1.0], [-1.0, 0.5]], scale=False).weights.toarray().round(3).tolist()
    [[0.0, 0.707, 0.0], [0.707, 0.0, 0.0], [0.0, 0.0, 0.0]]
    """
    points, found = _points(X, names, scale)
    U = _directions(_dense(points), centered)
    graph = _pairs(lambda rows: U[rows] @ U[rows.start :].T, len(U), max(threshold, ROUNDOFF), found)
    flat = int(np.count_nonzero(~U.any(axis=1)))
    return graph.noted(f"{counted(flat, 'row')} without direction: isolated") if flat else graph


def scale_features(X: object) -> Array:
    """Every column to [−1, 1]; a constant column becomes 0.

    >>> scale_features([[1.0, 5.0], [2.0, 5.0], [3.0, 5.0]]).tolist()
    [[-1.0, 0.0], [0.0, 0.0], [1.0, 0.0]]
    """
    return _scaled(_dense(_points(X, None, False)[0]))


def grid(rows: int, columns: int) -> Graph:
    """Each node joined to those left, right, above and below; node (r, c) has index r · columns + c.

    >>> grid(10, 10)
    Graph(100 nodes, 180 edges)
    """
    _at_least("rows", rows, 1)
    _at_least("columns", columns, 1)
    at = np.arange(rows * columns).reshape(rows, columns)
    right, down = (at[:, :-1], at[:, 1:]), (at[:-1], at[1:])
    return _joined(rows * columns, *(np.concatenate([x.ravel(), y.ravel()]) for x, y in zip(right, down, strict=True)))


def two_squares(rng: Seed = None) -> tuple[Graph, IntArray]:
    """The paper's 10 × 10 grid: class 1 on two 3 × 3 squares with fuzzy borders, class 0 elsewhere.

    >>> graph, labels = two_squares(rng=0)
    >>> labels.reshape(10, 10)[1:4, 1:4].tolist()
    [[1, 1, 1], [1, 1, 1], [1, 1, 1]]
    """
    labels = np.zeros((10, 10), dtype=np.int64)
    labels[1:4, 1:4] = labels[6:9, 6:9] = 1
    coins = np.random.default_rng(rng).random(10) < 0.5
    labels[4, :5], labels[5, 5:] = coins[:5], coins[5:]
    return grid(10, 10), labels.ravel()


def chain(n: int) -> Graph:
    """Nodes 0 … n−1 in a row.

    >>> chain(4).degrees.tolist()
    [1.0, 2.0, 2.0, 1.0]
    """
    _at_least("n", n, 1)
    return _joined(n, np.arange(n - 1), np.arange(1, n))


def star(n: int) -> Graph:
    """Node 0 joined to each of the nodes 1 … n−1.

    >>> star(4).degrees.tolist()
    [3.0, 1.0, 1.0, 1.0]
    """
    _at_least("n", n, 1)
    return _joined(n, np.zeros(n - 1, dtype=np.int64), np.arange(1, n))


def communities(
    sizes: Sequence[int] = (250, 350, 400),
    mixing: float = 0.1,
    mean_degree: float = 10,
    exponent: float = 3.0,
    rng: Seed = None,
) -> tuple[Graph, IntArray]:
    r"""A connected community graph in the manner of LFR, and the community of each node.

    Degrees follow a power law :math:`p(d) \propto d^{-\text{exponent}}`; a share ``mixing`` of each node's edges leaves
    its community; ends are matched at random, without repeated edges or self-loops, and what is left apart is joined by
    a few edges more.

    >>> graph, labels = communities((20, 30), rng=0)
    >>> graph.n_nodes, int(graph.components().max()), np.bincount(labels).tolist()
    (50, 0, [20, 30])
    """
    for size in (len(sizes), *sizes):
        _at_least("sizes", size, 1)
    if not (0 <= mixing <= 1 and mean_degree > 0 and exponent > 1):
        raise SettingError(f"mixing={mixing}, mean_degree={mean_degree}, exponent={exponent}: need 0–1, > 0 and > 1")
    rng, labels = np.random.default_rng(rng), np.repeat(np.arange(len(sizes)), sizes)
    degrees = (1 - rng.random(labels.size)) ** (-1 / (exponent - 1))
    degrees = np.minimum(degrees * mean_degree / degrees.mean(), labels.size - 1)
    with bar(2 * ROUNDS if labels.size >= MANY else 0, f"matching the edges of {labels.size:,} nodes") as tick:
        inside = _matched(_rounded(degrees * (1 - mixing), rng), labels, True, rng, tick)
        outside = _matched(_rounded(degrees * mixing, rng), labels, False, rng, tick)
    pairs = np.concatenate([inside, outside])
    for group in (labels, np.zeros_like(labels)):  # within communities first, then whatever is still apart
        pairs = np.concatenate([pairs, _bridges(pairs, group, rng)])
    return _joined(labels.size, pairs[:, 0], pairs[:, 1]), labels


def power_law(n: int, m: int = 5, rng: Seed = None) -> Graph:
    """Preferential attachment (Barabási & Albert 1999): each new node joins m older ones, drawn by their degrees.

    >>> power_law(1000, m=5, rng=0)
    Graph(1000 nodes, 4975 edges)
    """
    _at_least("m", m, 1)
    _at_least("n", n, m + 1)
    rng = np.random.default_rng(rng)
    edge = np.arange(m, m * (n - m))  # after a star of m edges; edge e has its ends at places 2e and 2e + 1
    older = 2 * m * (edge // m)  # places that were there before the node of this edge: one of them, evenly drawn,
    place = rng.integers(0, older) if edge.size else edge  # is a node drawn by its degree (Batagelj & Brandes 2005)
    with working(f"attaching {n:,} nodes") if n >= MANY else nullcontext():
        for _ in range(100):
            target = _attached(place, m)
            if not (again := _repeated(target, m)).any():
                break
            place[again] = rng.integers(0, older[again])
    hub = np.arange(1, m + 1), np.zeros(m, dtype=np.int64)
    return _joined(n, np.concatenate([hub[0], m + edge // m]), np.concatenate([hub[1], target]))


def _points(X: Any, names: Any, scale: bool) -> tuple[Any, Any]:
    """The table as floats, dense or sparse rows, and the names of its rows."""
    if is_frame(X):
        names = X.index if names is None and hasattr(X, "index") else names
        table, columns = _frame_table(X), [repr(str(column)) for column in X.columns]
    else:
        table, columns = X if sp.issparse(X) else np.asarray(X), None
    if table.ndim != 2 or 0 in table.shape:
        raise GraphError(f"a table of shape {table.shape}: give rows of points and columns of features")
    if table.dtype.kind not in "biuf":
        raise GraphError(f"features of type {table.dtype}: give numbers, and encode text columns")
    if sp.issparse(table) and scale:
        raise SettingError("scale=True would fill a sparse table: pass scale=False, or a dense table")
    table = coordinates(table).tocsr() if sp.issparse(table) else table.astype(np.float64)
    _check_finite(table, columns)
    return (_scaled(table) if scale else table), names


def _frame_table(frame: Any) -> Array:
    columns = [frame_column(frame, k).to_numpy() for k in range(frame.shape[1])]
    for column, values in zip(frame.columns, columns, strict=True):
        if values.dtype.kind not in "biuf":
            raise GraphError(f"column {column!r} is not numeric (type {values.dtype}): fill it, encode it or drop it")
    return np.column_stack(columns) if columns else np.empty(frame.shape)


def _check_finite(table: Any, columns: list[str] | None) -> None:
    values = table.data if sp.issparse(table) else table
    if np.abs(values).max(initial=0.0) <= LARGEST:
        return
    entries = sp.coo_array(table)
    k = np.flatnonzero(~(np.abs(entries.data) <= LARGEST))[0]
    row, column = int(entries.row[k]), int(entries.col[k])
    where = f"row {row}, column {columns[column] if columns else column}"
    raise GraphError(f"{where} is {entries.data[k]}: features are finite, at most 1e150; fill it or drop the row")


def _scaled(table: Array) -> Array:
    low, high = table.min(axis=0), table.max(axis=0)
    span = np.where(high > low, high - low, 1.0)
    return np.where(high > low, np.clip(2 * ((table - low) / span) - 1, -1, 1), 0.0)


def _dense(points: Any) -> Array:
    dense: Array = points.toarray() if sp.issparse(points) else points
    return dense


def _unit_rows(points: Any) -> Any:
    """Rows of length 1; rows of zeros share a direction of their own, at right angles to all others."""
    peak = abs(points).max(axis=1)
    peak = peak.toarray().ravel() if sp.issparse(points) else peak
    empty = (peak == 0).astype(np.float64)[:, None]
    if sp.issparse(points):
        rows = sp.csr_array(sp.diags_array(1 / (peak + empty[:, 0])) @ points)
        rows = sp.hstack([rows, sp.csr_array(empty)], format="csr")
        return sp.csr_array(sp.diags_array(1 / np.sqrt(rows.power(2).sum(axis=1))) @ rows)
    rows = np.hstack([points / (peak[:, None] + empty), empty])
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def _directions(table: Array, centered: bool) -> Array:
    """Rows of length 1, and zeros where a row has no direction but roundoff."""
    peak = np.abs(table).max(axis=1, keepdims=True)
    rows = table / np.where(peak > 0, peak, 1.0)
    rows = rows - rows.mean(axis=1, keepdims=True) if centered else rows
    norm = np.linalg.norm(rows, axis=1, keepdims=True)
    none = norm <= ROUNDOFF * np.sqrt(rows.shape[1])
    return np.where(none, 0.0, rows / np.where(none, 1.0, norm))


def _kernel(i: IntArray, j: IntArray, d: Array, bandwidth: float | str | None) -> Array:
    if bandwidth is None:
        return np.ones_like(d)
    if bandwidth != "self-tuning":
        return np.exp(-((d / _positive(bandwidth)) ** 2))
    reach = d.reshape(int(i[-1]) + 1, -1).max(axis=1)
    own, other = reach[i], np.where(reach[j] > 0, reach[j], reach[i])
    apart = d > 0
    with np.errstate(over="ignore"):
        square = (d[apart] / own[apart]) * (d[apart] / other[apart])
    weights = np.ones_like(d)
    weights[apart] = np.exp(-4 * square)
    return weights


def _pairs(block: Callable[[slice], Array], n: int, threshold: float, names: Any) -> Graph:
    """All pairs with a weight of at least the threshold, by blocks of rows; only the upper half is computed."""
    step, kept, total = max(1, CHUNK // n), [], 0
    for start in range(0, n, step):
        weights = block(slice(start, min(start + step, n)))
        i, j = np.nonzero(np.triu((weights >= threshold) & (weights > 0), 1))
        kept.append((i + start, j + start, np.minimum(weights[i, j], 1.0)))
        total += 2 * i.size
        if total > MAX_ENTRIES:
            raise GraphError(f"over {MAX_ENTRIES:,} weights: raise the threshold, or use nearest_neighbors")
    i, j, weights = (np.concatenate(side) for side in zip(*kept, strict=True))
    return _joined(n, i, j, weights, names)


def _joined(n: int, i: IntArray, j: IntArray, weights: Array | None = None, names: Any = None) -> Graph:
    """The graph of these pairs, each once, whichever way round."""
    key, first = np.unique(np.minimum(i, j) * n + np.maximum(i, j), return_index=True)
    ends = (key // n, key % n)
    values = np.ones(key.size) if weights is None else weights[first]
    return Graph(Raw(sp.coo_array((values, ends), shape=(n, n)), names, "edges"))


def _matched(ends: IntArray, labels: IntArray, within: bool, rng: np.random.Generator, tick: Tick) -> IntArray:
    """Distinct pairs of nodes, inside communities or across; node i in up to ``ends[i]`` of them."""
    left, pairs = np.repeat(np.arange(labels.size), ends), np.empty((0, 2), dtype=np.int64)
    for _ in range(ROUNDS):
        left = rng.permutation(left)[: left.size // 2 * 2]
        left = left[np.argsort(labels[left], kind="stable")] if within else left
        new = np.sort(left.reshape(-1, 2), axis=1)
        seen = np.concatenate([pairs, new]) @ np.array([labels.size, 1])
        fits = np.isin(np.arange(len(pairs), len(seen)), np.unique(seen, return_index=True)[1])
        fits &= (new[:, 0] != new[:, 1]) & ((labels[new[:, 0]] == labels[new[:, 1]]) == within)
        pairs, left = np.concatenate([pairs, new[fits]]), new[~fits].ravel()
        tick()
    return pairs


def _bridges(pairs: IntArray, group: IntArray, rng: np.random.Generator) -> IntArray:
    """An edge inside each group from every component to the one that is largest there."""
    n, bridges = group.size, [np.empty((0, 2), dtype=np.int64)]
    part = connected_components(sp.coo_array((np.ones(len(pairs)), pairs.T), shape=(n, n)), directed=False)[1]
    order = rng.permutation(n)
    for g in np.unique(group):
        nodes = order[group[order] == g]
        main = np.bincount(part[nodes]).argmax()
        lone = nodes[np.unique(part[nodes], return_index=True)[1]]
        lone = lone[part[lone] != main]
        bridges.append(np.column_stack([lone, rng.choice(nodes[part[nodes] == main], lone.size)]))
    return np.concatenate(bridges)


def _attached(place: IntArray, m: int) -> IntArray:
    """The node at each place: even places hold the newer node of an edge, odd ones point on to an older place."""
    at = place.copy()
    while (odd := np.flatnonzero((at % 2 == 1) & (at >= 2 * m))).size:
        at[odd] = place[at[odd] // 2 - m]
    edge = at // 2
    return np.where(at % 2 == 1, 0, np.where(edge < m, edge + 1, m + edge // m))


def _repeated(target: IntArray, m: int) -> BoolArray:
    """Where a node joins the same older node once more."""
    rows = target.reshape(-1, m)
    order = np.argsort(rows, axis=1, kind="stable")
    ranked = np.take_along_axis(rows, order, axis=1)
    again = np.zeros(rows.shape, dtype=bool)
    np.put_along_axis(again, order[:, 1:], ranked[:, 1:] == ranked[:, :-1], axis=1)
    return again.ravel()


def _rounded(x: Array, rng: np.random.Generator) -> IntArray:
    """Whole numbers with these means."""
    return np.floor(x + rng.random(x.size)).astype(np.int64)


def _positive(bandwidth: object) -> float:
    if isinstance(bandwidth, int | float | np.number) and not isinstance(bandwidth, bool) and 0 < bandwidth < LARGEST:
        return float(bandwidth)
    raise SettingError(f"bandwidth={bandwidth!r}: give a number > 0 (nearest_neighbors: or 'self-tuning' or None)")


def _at_least(what: str, value: int, least: int) -> None:
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < least:
        raise SettingError(f"{what}={value!r}: give a whole number of at least {least}")
