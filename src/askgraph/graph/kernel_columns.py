"""Features as covariances of numbers: linear, and two that fall off with distance, in few columns each.

A number is often a smooth function of what was measured, and often, in part, a linear one. The Laplace kernel reads each column by
itself, and the Matérn kernel reads distances; both are wide, so they add what is left between the linear function and the graph.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import issparse
from scipy.spatial.distance import cdist

from askgraph.errors import GraphError
from askgraph.graph.graph import Graph
from askgraph.graph.kernels import checked_rows, feature_columns, in_median_edges, variance_of
from askgraph.types import Array

LINEAR, CURVED = 32, 48  # columns of the linear kernel, and of each of the others, at most
SAMPLE = 500  # rows that the directions of a kernel are found from
WIDE = 256  # columns of features; with more, cosines say more than distances
LENGTH = 4.0  # of both kernels, in standard deviations of a column
FLAT = 1e-9  # of the largest entry: a column that varies by less is constant
PART = 5_000_000  # numbers of a kernel that are computed at a time
Kernel = Callable[[Array, Array], Array]


def kernel_columns(graph: Graph, X: Any) -> list[Array]:
    """Return columns Φ of each kernel of features, one row per node; ΦΦᵀ has the variance 1 about its mean.

    Columns of features count alike, whatever their units. Sparse features, such as words, and those of very many columns have one
    kernel, that of their cosines.

    >>> import askgraph as ag
    >>> linear, laplace, matern = kernel_columns(ag.chain(4), [[1.0, 5.0], [2.0, 5.5], [3.0, 4.5], [4.0, 5.0]])
    >>> linear.shape, round(variance_of(laplace), 6)
    ((4, 2), 1.0)
    """
    rows = checked_rows(graph, X)
    if issparse(rows) or rows.shape[1] > WIDE:
        return [feature_columns(in_median_edges(graph), rows)]
    Z = standardized(rows)
    return [_unit(part) for part in (_leading(Z), _of_kernel(_laplace, Z), _of_kernel(_matern, Z))]


def standardized(rows: Array) -> Array:
    """Return columns of mean 0 and variance 1, without constant ones."""
    spread, largest = rows.std(axis=0), np.abs(rows).max(axis=0, initial=0.0)
    some = spread > FLAT * largest
    if not some.any():
        raise GraphError("all rows of features are the same, so they tell no node from another; leave features out")
    return np.asarray((rows[:, some] - rows[:, some].mean(axis=0)) / spread[some])


def _unit(columns: Array) -> Array:
    return columns / np.sqrt(variance_of(columns))


def _leading(Z: Array) -> Array:
    """Return the columns, or of many the directions in which rows vary most."""
    if Z.shape[1] <= LINEAR:
        return Z
    _, directions = np.linalg.eigh(Z.T @ Z)
    return np.asarray(Z @ directions[:, -LINEAR:])


def _of_kernel(kernel: Kernel, Z: Array) -> Array:
    """Return the leading columns of a kernel, found from an even sample of the rows (Nyström)."""
    sample = Z[:: -(-len(Z) // SAMPLE)]
    values, directions = np.linalg.eigh(kernel(sample, sample))
    values, directions = values[-CURVED:], directions[:, -CURVED:]
    kept = values > FLAT * values[-1]
    turn = directions[:, kept] / np.sqrt(values[kept])
    step = max(1, PART // len(sample))
    return np.concatenate([kernel(Z[at : at + step], sample) @ turn for at in range(0, len(Z), step)])


def _laplace(A: Array, B: Array) -> Array:
    return np.asarray(np.exp(-cdist(A, B, "cityblock") / (LENGTH * A.shape[1])))


def _matern(A: Array, B: Array) -> Array:
    r = np.sqrt(3 / A.shape[1]) * cdist(A, B) / LENGTH
    return np.asarray((1 + r) * np.exp(-r))
