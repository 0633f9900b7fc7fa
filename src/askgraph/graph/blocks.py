"""Blocks of columns, each of unit length, side by side: the cosine of two rows is the mean of the cosines of their blocks.

So items are compared by several things at once, by words and by numbers perhaps, and each counts as much as any other.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from askgraph.errors import GraphError
from askgraph.graph.build import nearest_neighbors, place_nodes
from askgraph.graph.graph import Graph
from askgraph.support.wording import counted
from askgraph.types import AnyArray, Array

NOTHING = 1e-6  # a row as near to the mean of all has no direction


def side_by_side(blocks: Sequence[Any], weights: Sequence[float] | None = None) -> Any:
    """Return blocks as one table, sparse if one of them is; one of weight w counts as w blocks of weight 1.

    >>> side_by_side([np.eye(2), np.ones((2, 1))], [1.0, 4.0]).tolist()
    [[1.0, 0.0, 2.0], [0.0, 1.0, 2.0]]
    """
    scaled = [
        block if w == 1.0 else block * np.sqrt(w)
        for block, w in zip(blocks, weights or [1.0] * len(blocks), strict=True)
    ]
    if any(map(sp.issparse, scaled)):
        return sp.csr_array(sp.hstack([sp.csr_array(block) for block in scaled], format="csr"))
    return np.hstack(scaled)


def centered(vectors: AnyArray, mean: Array | None = None) -> tuple[Array, Array]:
    """Return vectors scaled to length 1, less a mean, by default their own, and scaled again; and the mean. Rows of zeros stay.

    >>> rows, mean = centered(np.array([[2.0, 0.0], [0.0, 1.0], [0.0, 0.0]]))
    >>> rows.round(2).tolist(), mean.tolist()
    ([[0.71, -0.71], [-0.71, 0.71], [0.0, 0.0]], [0.5, 0.5])
    """
    found = _unit(np.asarray(vectors, dtype=np.float64))
    said = found.any(axis=1)
    if mean is None:
        mean = found[said].mean(axis=0) if said.any() else np.zeros(found.shape[1])
    found[said] -= mean
    return _unit(found), mean


def graded(columns: Array, weights: Array | None = None) -> Array:
    """Return columns of numbers as a block: each number is a point on half a circle.

    Points lie as far apart as ranks do, the lowest at one end and the highest at the other, so that no unit and no number far
    off matters. They are taken less their mean: rows that have what most rows have say little.

    >>> block = graded(np.array([[1.0], [2.0], [1000.0]]))
    >>> (block @ block.T).round(2).tolist()
    [[1.0, -0.19, -0.93], [-0.19, 1.0, -0.19], [-0.93, -0.19, 1.0]]
    """
    shares = np.ones(columns.shape[1]) if weights is None else weights
    points = [
        point(np.pi * _ranked(column)) * np.sqrt(w)
        for column, w in zip(columns.T, shares, strict=True)
        for point in (np.cos, np.sin)
    ]
    found = np.column_stack(points)
    return _unit(found - found.mean(axis=0))


def _ranked(column: Array) -> Array:
    """Return the share of lower numbers, and of half those that are equal.

    >>> _ranked(np.array([5.0, 7.0, 5.0, 9.0])).tolist()
    [0.25, 0.625, 0.25, 0.875]
    """
    _, place, counts = np.unique(column, return_inverse=True, return_counts=True)
    return np.asarray(((np.cumsum(counts) - counts / 2) / column.size)[place])


def join_blocks(rows: Any, k: int, names: Iterable[Hashable] | None = None, what: str = "item") -> Graph:
    """Join rows to the k nearest by cosine; a row of zeros gets no edge."""
    n, there = rows.shape[0], np.flatnonzero(np.diff(rows.indptr) if sp.issparse(rows) else rows.any(axis=1))
    if there.size < 2:
        raise GraphError(f"{counted(there.size, what)} to compare: neighbors need at least two")
    if there.size == n:
        return nearest_neighbors(rows, k, "cosine", names=names)
    return place_nodes(nearest_neighbors(rows[there], k, "cosine"), there, n, names)


def _unit(rows: Array) -> Array:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.where(lengths < NOTHING, 0.0, rows / np.maximum(lengths, NOTHING))
