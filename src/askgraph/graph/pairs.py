"""Neighbors and their distances, as a search gives them, as weighted pairs of nodes."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import scipy.sparse as sp

from askgraph.errors import GraphError
from askgraph.support.arguments import real_number
from askgraph.types import AnyArray, Array, IntArray

LARGEST_FEATURE = 1e150  # a larger feature would overflow when squared and is refused


def edge_weights(i: IntArray, j: IntArray, d: Array, bandwidth: float | str | None) -> Array:
    """Return the weights of the edges (i, j) with distances d, where every j is the neighbor of some i too."""
    if bandwidth is None:
        return np.ones_like(d)
    if not isinstance(bandwidth, str) or bandwidth != "self-tuning":
        with np.errstate(over="ignore"):  # a weight of 0 then
            return np.exp(-((d / check_bandwidth(bandwidth)) ** 2))
    reach = np.zeros(1 + int(max(i.max(initial=0), j.max(initial=0))))
    np.maximum.at(reach, i, d)
    return np.exp(-self_tuned(d, reach[i], reach[j]))


def self_tuned(d: Array, own: Array, other: Array) -> Array:
    """Return 4 d² / (own · other), by which a weight falls off; ``own`` takes the place of a reach of 0 at the other end."""
    powers, apart, other = np.zeros_like(d), d > 0, np.where(other > 0, other, own)
    with np.errstate(over="ignore"):  # a weight of 0 then
        powers[apart] = 4 * (d[apart] / own[apart]) * (d[apart] / other[apart])
    return powers


def check_bandwidth(bandwidth: object) -> float:
    """Return a bandwidth, checked."""
    advice = "a number > 0 (nearest_neighbors: or 'self-tuning' or None)"
    return real_number(bandwidth, "bandwidth", sys.float_info.min, LARGEST_FEATURE, advice)


def distinct_pairs(n: int, i: IntArray, j: IntArray, weights: Array | None = None) -> sp.coo_array:
    """Return the entries of the edges (i, j); a pair that comes again, in either direction, counts once."""
    key, first = np.unique(np.minimum(i, j) * n + np.maximum(i, j), return_index=True)
    values = np.ones(key.size) if weights is None else weights[first]
    return sp.coo_array((values, (key // n, key % n)), shape=(n, n))


def is_search_result(source: Any) -> bool:
    """Return whether an object is a pair of tables of one shape, one of whole numbers and one of others."""
    if not isinstance(source, tuple | list) or len(source) != 2:
        return False
    one, other = (getattr(part, "shape", None) for part in source)
    if one is None or other is None or len(one) != 2 or tuple(one) != tuple(other):
        return False
    return sorted(np.asarray(part).dtype.kind in "iu" for part in source) == [False, True]


def neighbor_lists(one: Any, other: Any, squared: bool = False) -> tuple[int, IntArray, IntArray, Array]:
    """Return the number of points, and each point i with its neighbors j and their distances, of tables in either order.

    A point among its own neighbors and a neighbor of −1 (none was found) are left out.

    >>> neighbor_lists(np.array([[0.0, 1.0], [0.0, 1.0]]), np.array([[0, 1], [1, 0]]))[1:]
    (array([0, 1]), array([1, 0]), array([1., 1.]))
    """
    try:
        tables = [np.asarray(one), np.asarray(other)]
    except ValueError:
        raise GraphError("rows of unequal length: give as many neighbors and distances for every point") from None
    if tables[0].dtype.kind in "iu" and tables[1].dtype.kind not in "iu":
        tables.reverse()
    distances, indices = tables
    _check_lists(distances, indices)
    n, k = indices.shape
    i, j, d = np.repeat(np.arange(n), k), indices.astype(np.int64).ravel(), distances.astype(np.float64).ravel()
    keep = (j != i) & (j >= 0)
    d = np.maximum(d[keep], 0.0)  # a distance of roundoff may be below 0
    return n, i[keep], j[keep], np.sqrt(d) if squared else d


def _check_lists(distances: AnyArray, indices: AnyArray) -> None:
    if (
        distances.shape != indices.shape
        or distances.ndim != 2
        or 0 in distances.shape
        or indices.dtype.kind not in "iu"
    ):
        raise GraphError(
            f"distances of shape {distances.shape} and indices of shape {indices.shape} and type {indices.dtype}: "
            "give two tables of one row per point and one column per neighbor, the indices whole numbers"
        )
    there = indices.astype(np.int64) >= 0
    if (indices[there] >= len(indices)).any():
        raise GraphError(
            f"a neighbor {indices[there].max()} of {len(indices)} points: search for the neighbors of the points that were indexed"
        )
    if not np.isfinite(distances[there]).all() or (there & (distances < -1e-3)).any():
        raise GraphError(
            "a distance is below 0 or not finite: for inner products give 1 - product, of rows of length 1"
        )
    known = there[:, 1:] & there[:, :-1] if there.shape[1] > 1 else there[:, :0]
    steps = np.where(known, np.diff(distances), 0.0) if known.size else np.zeros(0)
    if (steps < 0).sum() > (steps > 0).sum():
        raise GraphError("distances fall along the rows, as similarities do: for cosines give 1 - cosine")
