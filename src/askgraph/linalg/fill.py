"""The size of a sparse factor, predicted from the matrix before anything is factorized."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order

from askgraph.linalg.components import symmetric_components
from askgraph.types import AnyArray, Array, BoolArray

SHALLOW_LEVELS = 12  # a search with fewer levels is wide from any node: skip looking for a far node
SAMPLE = 300  # nodes whose pairs of neighbors are counted


def find_hubs(Q: csr_array) -> BoolArray:
    """Return which nodes have so many neighbors that they are best eliminated last, as in AMD.

    Minimum degree takes time quadratic in their neighbors.
    """
    return np.asarray(np.diff(Q.indptr) > max(16.0, 10 * np.sqrt(Q.shape[0])))


def predicted_fill(Q: Any) -> float:
    """Return about nnz(L) / nnz(tril Q), without computing the order or the factor.

    The guess is within a factor of two on most graphs; with long-range links it is too high.

    A component of m nodes is cut by a level of a breadth-first search, of width w; its halves by levels that shrink as
    m^a, a = log w / log m; so nnz(L) ≈ c w² Σ_k 2^(k (1 - 2a)). The constants are a fit to 90 graphs of 15 kinds.
    """
    Q = csr_array(Q)
    n, hubs = Q.shape[0], find_hubs(Q)
    core = ~hubs & (np.diff(Q.indptr) > 2)  # a node with one neighbor causes no fill
    A, entries, most = Q if core.all() else Q[core][:, core], (Q.nnz + n) / 2, n * (n + 1) / 2
    if A.shape[0] == 0:
        return float(min(1 + hubs.sum() * hubs.sum() / 2 / entries, most / entries))
    m, degree, width = _components(A)
    w = np.maximum(np.minimum(np.minimum(width, m * degree / (degree + 45)), m * (degree / 2 - 1) + 1), 1e-9)
    a = np.log(np.maximum(w, 1)) / np.log(np.maximum(m, 2))
    steps = np.arange(int(np.log2(m.max())) + 1)[:, None]
    cuts = np.sum(2.0 ** (steps * (1 - 2 * a)) * (steps <= np.log2(m)), axis=0)
    bulk = 2 * np.exp(-3 * _closed_share(A)) * np.maximum(1 - 2 / np.maximum(degree, 1), 0.05) ** 1.2 * w**2 * cuts
    return float(min(1 + (bulk.sum() + hubs.sum() * (A.shape[0] + hubs.sum() / 2)) / entries, most / entries))


def _components(A: csr_array) -> tuple[Array, Array, Array]:
    """Return for each component its nodes, mean degree, and the widest level of a search from a far node."""
    if (level := _levels(A, np.array([A.shape[0] - 1]))) is not None and level.max() < SHALLOW_LEVELS:
        return (
            np.array([float(level.size)]),
            np.array([A.nnz / level.size - 1]),
            np.array([float(np.bincount(level).max())]),
        )
    k, label = (1, np.zeros(A.shape[0], np.int32)) if level is not None else symmetric_components(A)
    far = np.empty(k, dtype=np.int64)
    far[label] = np.arange(len(label))
    nearest_first = np.argsort(_reached(_levels(A, far)), kind="stable")
    far[label[nearest_first]] = nearest_first
    level = _reached(_levels(A, far))
    key, size = np.unique(label * np.int64(level.max() + 1) + level, return_counts=True)
    width = np.zeros(k)
    np.maximum.at(width, key // (level.max() + 1), size)
    m = np.bincount(label, minlength=k).astype(float)
    return m, np.bincount(label, np.diff(A.indptr), k) / m - 1, width


def _reached(level: AnyArray | None) -> AnyArray:
    assert level is not None  # every component was given a root
    return level


def _levels(A: csr_array, roots: AnyArray) -> AnyArray | None:
    """Return the steps from each node to the root of its component; None if a component has no root."""
    n = A.shape[0]
    indices = np.concatenate([A.indices, roots]).astype(np.int32)
    rooted = csr_array((np.ones(len(indices), np.int8), indices, np.append(A.indptr, len(indices))), (n + 1, n + 1))
    order, before = breadth_first_order(rooted, n)
    if order.size <= n:
        return None
    rank = np.empty(n + 1, np.int64)
    rank[order] = np.arange(n + 1)
    up, depth = np.append(0, rank[before[order[1:]]]), np.append(0, np.ones(n, np.int64))
    while up.any():  # pointer doubling: a chain of a million nodes takes twenty rounds
        depth += depth[up]
        up = up[up]
    return depth[rank[:n]] - 1


def _closed_share(A: csr_array) -> float:
    """Return the share of pairs of neighbors that are neighbors themselves, over a sample of SAMPLE nodes."""
    P = csr_array((np.ones(A.nnz), A.indices, A.indptr), A.shape)
    rows = P[np.unique(np.linspace(0, A.shape[0] - 1, SAMPLE).astype(int))]
    d = np.diff(rows.indptr) - 1
    return float(((rows @ P) * rows).sum() - (3 * d + 1).sum()) / max(1, int((d * (d - 1)).sum()))
