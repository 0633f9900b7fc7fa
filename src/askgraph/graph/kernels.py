"""Features as a covariance between nodes: cosines of features, as they are and smoothed along the edges, in few columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from scipy.sparse import csr_array, diags_array, eye_array, hstack, issparse

from askgraph.errors import GraphError, SettingError
from askgraph.graph.build import check_features, unit_rows
from askgraph.graph.graph import Graph
from askgraph.types import Array

HOPS = 2  # how often features are smoothed
RANK = 64  # columns that stand for features of more columns
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
    r"""Yield rows scaled to length 1, then smoothed once, twice, … by :math:`D^{-1/2} (W + I) D^{-1/2}`."""
    if not isinstance(hops, int) or hops < 1:
        raise SettingError(f"hops={hops!r}: smooth features along edges at least once")
    looped = graph.weights + eye_array(graph.n_nodes)
    root = diags_array(1 / np.sqrt(looped.sum(axis=1)))
    average, rows = root @ looped @ root, unit_rows(rows)[:, :-1]
    yield rows
    for _ in range(hops):
        rows = average @ rows
        yield rows


def feature_columns(graph: Graph, X: Any, rank: int = RANK) -> Array:
    r"""Return Φ: ΦΦᵀ is the mean of the cosine kernels of features smoothed 0, 1 and 2 times, each of variance 1.

    The variance of a kernel is about its mean, :math:`\mathrm{mean}\, K_{ii} - \mathrm{mean}\, K_{ij}`. With more columns than
    ``rank``, Φ has the ``rank`` directions in which features vary most, scaled to variance 1 again.

    >>> import askgraph as ag
    >>> phi = feature_columns(ag.chain(3), [[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    >>> phi.shape, round(float((phi**2).sum(axis=1).mean() - (phi.mean(axis=0) ** 2).sum()), 6)
    ((3, 6), 1.0)
    """
    blocks = [unit_rows(rows)[:, :-1] for rows in smoothed(graph, checked_rows(graph, X), HOPS)]
    kept = [block / np.sqrt(scale) for block in blocks if (scale := variance_of(block)) > FLAT]
    if not kept:
        raise GraphError("all rows of features have the same direction: they tell no node from another")
    whole = _beside(kept)
    columns: Any = _largest(whole, rank) if whole.shape[1] > rank else whole
    dense = columns.toarray() if issparse(columns) else columns
    return np.asarray(dense / np.sqrt(variance_of(dense)))


def variance_of(rows: Any) -> float:
    """Return mean K_ii − mean K_ij of K = rows · rowsᵀ."""
    square = rows.power(2).sum() if issparse(rows) else np.square(rows).sum()
    return float(square / rows.shape[0] - np.square(np.asarray(rows.mean(axis=0))).sum())


def _beside(blocks: Sequence[Any]) -> Any:
    return csr_array(hstack(blocks, format="csr")) if issparse(blocks[0]) else np.hstack(blocks)


def _largest(rows: Any, rank: int) -> Array:
    """Return rows in their ``rank`` largest singular directions, by a randomized SVD."""
    from sklearn.utils.extmath import randomized_svd

    left, values, _ = randomized_svd(rows, min(rank, *rows.shape), random_state=0)
    return np.asarray(left * values)
