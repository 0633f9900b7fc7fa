"""Features as a covariance between nodes: cosines of features, as they are and smoothed along the edges, in few columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from scipy.linalg import qr
from scipy.sparse import diags_array, eye_array, issparse

from askgraph.errors import GraphError
from askgraph.graph.build import check_features, unit_rows
from askgraph.graph.graph import Graph
from askgraph.support.arguments import whole_number
from askgraph.support.threads import in_threads, one_blas_thread
from askgraph.types import AnyArray, Array

HOPS = 2  # how often features are smoothed
SKETCH = 128  # directions of features that are smoothed; with more columns, those in which features vary most
SAMPLE = 20_000  # rows that these directions are found from, at most
RANK = 64  # columns of Φ, at most
EXTRA, ROUNDS = 10, 4  # more columns, and rounds, that a randomized SVD takes to find the largest directions
ENTRIES_PER_PART = 500_000  # stored entries of a sparse matrix that a thread multiplies at a time
FILLED, MAX_FILLED = (
    0.1,
    60_000_000,
)  # the share of a sparse table from which it is held as a dense one, and its largest size
MOST = 1e250  # times the median: the largest weight that features are smoothed by
FLAT = 1e-9  # a kernel whose variance is below this is constant, and says nothing


def checked_rows(graph: Graph, X: Any) -> Any:
    """Return features as floats, dense or csr, checked: one row per node."""
    rows = check_features(X)
    if rows.shape[0] != graph.n_nodes:
        raise GraphError(
            f"features of shape {rows.shape} for {graph.n_nodes} nodes: give one row per node, in the graph's order"
        )
    return rows


def smoothed(graph: Graph, rows: Any, hops: int) -> Iterator[Any]:
    r"""Yield rows as they are, then smoothed once, twice, … by :math:`D^{-1/2} (W + I) D^{-1/2}`."""
    hops = whole_number(hops, "hops", 1, 1000)
    looped = graph.weights + eye_array(graph.n_nodes)
    root = diags_array(1 / np.sqrt(looped.sum(axis=1)))
    average = root @ looped @ root
    yield rows
    for _ in range(hops):
        rows = _filled(average @ rows)
        yield rows


def in_median_edges(graph: Graph) -> Graph:
    """Return the graph with its weights divided by their median, so that W + I is the same in any unit of the weights.

    The median, since a few large counts among many of 1 are no unit.
    """
    data = graph.weights.data
    unit = float(np.median(data)) if data.size else 1.0
    if unit == 1:
        return graph
    W = graph.weights.copy()
    with np.errstate(over="ignore"):
        W.data = np.minimum(data / unit, MOST)
    return Graph(W, names=graph.names)


def _filled(rows: Any) -> Any:
    """Return a sparse table as a dense one where much of it is filled and it is not large: products are faster then."""
    entries = rows.shape[0] * rows.shape[1]
    return rows.toarray() if issparse(rows) and FILLED * entries < rows.nnz and entries < MAX_FILLED else rows


def feature_columns(graph: Graph, X: Any, rank: int = RANK) -> Array:
    r"""Return Φ: ΦΦᵀ is about the mean of the cosine kernels of features smoothed 0, 1 and 2 times, each of variance 1.

    The variance of a kernel is about its mean, :math:`\mathrm{mean}\, K_{ii} - \mathrm{mean}\, K_{ij}`. Of features of more
    than SKETCH columns the directions in which rows vary most are smoothed, and of more than ``rank`` columns in all, Φ has the
    ``rank`` largest directions: its variance then falls short of 1 by what a node shares with hardly any other.

    >>> import askgraph as ag
    >>> phi = feature_columns(ag.chain(3), [[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    >>> phi.shape, round(variance_of(phi), 6)
    ((3, 6), 1.0)
    """
    rows = unit_rows(checked_rows(graph, X))[:, :-1]
    first, *others = smoothed(graph, _sketch(rows) if rows.shape[1] > SKETCH else rows, HOPS)
    blocks = [(first, variance_of(rows))]
    blocks += [(block, variance_of(block)) for block in (unit_rows(other)[:, :-1] for other in others)]
    kept = [block / np.sqrt(variance) for block, variance in blocks if variance > FLAT]
    if not kept:
        raise GraphError(
            f"all rows of features have the same direction (n_features={rows.shape[1]}), so they tell no node from another; "
            "leave features out, or add a column of ones to a single column of numbers"
        )
    if sum(block.shape[1] for block in kept) > rank:
        columns = _largest(kept, rank)
    else:
        columns = np.hstack([block.toarray() if issparse(block) else block for block in kept])
    return np.asarray(columns / np.sqrt(len(kept)))


def variance_of(rows: Any) -> float:
    """Return mean K_ii − mean K_ij of K = rows · rowsᵀ."""
    square = rows.data @ rows.data if issparse(rows) else np.square(rows).sum()
    return float(square / rows.shape[0] - np.square(np.asarray(rows.mean(axis=0))).sum())


def _sketch(rows: Any) -> Array:
    """Return rows in the SKETCH directions in which they vary most; of many rows, an even sample says which these are.

    The directions are found in float32, in two thirds of the time: they need not be exact, only orthogonal.
    """
    step = -(-rows.shape[0] // SAMPLE)
    return np.asarray(_times(_split(rows), _directions([rows[::step].astype(np.float32)], SKETCH)))


def _largest(blocks: Sequence[Any], rank: int) -> Array:
    """Return the rows of blocks that stand side by side, in their ``rank`` largest singular directions."""
    ends = np.cumsum([block.shape[1] for block in blocks])
    found = np.split(_directions(_shortened(blocks), rank), ends[:-1])
    return np.asarray(sum(block @ part for block, part in zip(blocks, found, strict=True)))


def _shortened(blocks: Sequence[Any]) -> Sequence[Any]:
    """Return blocks of no more rows than columns with the same right singular vectors, where all of them are dense.

    They come from products of columns, which is several times faster than a QR decomposition.
    """
    if any(map(issparse, blocks)) or blocks[0].shape[0] <= sum(block.shape[1] for block in blocks):
        return blocks
    with one_blas_thread():
        table = np.hstack(blocks)
        squares, vectors = np.linalg.eigh(table.T @ table)
    return [np.sqrt(np.maximum(squares, 0.0))[:, None] * vectors.T]


def _directions(blocks: Sequence[Any], rank: int) -> Array:
    """Return the ``rank`` largest right singular vectors of blocks that stand side by side, one column each.

    This is a randomized SVD (Halko, Martinsson & Tropp 2011) that never puts the blocks together: some are sparse, some dense.
    """
    n, ends = blocks[0].shape[0], np.cumsum([block.shape[1] for block in blocks])
    wide = min(rank + EXTRA, n, int(ends[-1]))
    rows = [_split(block) for block in blocks]
    columns = [_split(block.T.tocsr() if issparse(block) else block.T) for block in blocks]

    def times(x: AnyArray) -> AnyArray:
        return np.asarray(sum(_times(parts, some) for parts, some in zip(rows, np.split(x, ends[:-1]), strict=True)))

    def transposed(x: AnyArray) -> AnyArray:
        return np.vstack([_times(parts, x) for parts in columns])

    with one_blas_thread():
        start = np.random.default_rng(0).normal(size=(int(ends[-1]), wide)).astype(blocks[0].dtype)
        found = _orthonormal(times(start))[0]
        for _ in range(ROUNDS):
            found = _orthonormal(times(transposed(found)))[0]
        basis, small = _orthonormal(transposed(found))
        right, _, _ = np.linalg.svd(small)
        return np.asarray(basis @ right[:, :rank], dtype=np.float64)


def _orthonormal(columns: AnyArray) -> tuple[AnyArray, AnyArray]:
    """Return the factors of a QR decomposition; SciPy takes a third of NumPy's time."""
    return qr(columns, mode="economic", overwrite_a=True, check_finite=False)


def _split(matrix: Any) -> list[Any]:
    """Return a sparse matrix as parts of a few rows, which threads multiply; a dense one as it is, for BLAS has threads."""
    if not issparse(matrix):
        return [matrix]
    step = max(1, -(-matrix.shape[0] * ENTRIES_PER_PART // max(matrix.nnz, 1)))
    return [matrix[at : at + step] for at in range(0, matrix.shape[0], step)]


def _times(parts: Sequence[Any], x: AnyArray) -> AnyArray:
    """Return the product of a matrix in parts with x."""
    return np.concatenate(in_threads(lambda part: part @ x, parts))
