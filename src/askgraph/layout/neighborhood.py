"""The part of a graph around a node, small enough to draw: which nodes, which edges, and where they lie."""

from __future__ import annotations

import heapq
from collections.abc import Iterable

import numpy as np
from scipy.sparse import csr_array

from askgraph.field import Field
from askgraph.layout.stress import arranged, distances, path_lengths
from askgraph.types import Array, IntArray

MOST = 60  # nodes in a neighbourhood
CENTRAL = 4.0  # how much more distances from the node count than others
APART, TRIES = 0.12, 40  # of what an even lattice would have between points, and how often they are moved apart


def neighborhood(field: Field, node: int, g: Array, pull: Array, voters: IntArray) -> IntArray:
    """The node, these voters and the ways to them, then what is near by g_i, up to 60 in all."""
    W, d = field.origin.precision.graph.weights, field.origin.precision.graph.degrees
    chosen = dict.fromkeys([node, *voters.tolist()])
    for voter in voters.tolist():
        way = [step for step in _way_home(W, g, voter, node) if step not in chosen]
        if len(chosen) + len(way) <= MOST:
            chosen.update(dict.fromkeys(way))
    free = field.prior.gather(field.free)
    _grow(W, free, chosen, np.divide(pull, d, out=g.copy(), where=(free == 0) & (d > 0)))
    return np.array(list(chosen), dtype=np.int64)


def _way_home(W: csr_array, g: Array, start: int, home: int) -> list[int]:
    """A path on which g_i rises, if it is short: Q g_i = e_i, so anywhere but at i some neighbour has more of it."""
    way, at = list[int](), start
    while at != home and len(way) < MOST:
        near, weights = _row(W, at)
        value = np.where(g[near] > g[at], weights * g[near], 0.0)
        if not value.any():
            break
        at = int(near[value.argmax()])
        way.append(at)
    return way if at == home else []


def _grow(W: csr_array, free: Array, chosen: dict[int, None], worth: Array) -> None:
    """Best first, up to 60: next comes the neighbour of a chosen node that is worth most; nothing is seen behind a label."""
    first, waiting = next(iter(chosen)), list[tuple[float, int]]()
    fresh: Iterable[int] = list(chosen)
    while len(chosen) < MOST:
        for at in fresh:
            if free[at] or at == first:
                near = _row(W, at)[0]
                best = near[np.argsort(-worth[near], kind="stable")[: 2 * MOST]]
                for j in best[worth[best] > 0].tolist():
                    heapq.heappush(waiting, (-worth[j], j))
        while waiting and waiting[0][1] in chosen:
            heapq.heappop(waiting)
        if not waiting:
            return
        fresh = [heapq.heappop(waiting)[1]]
        chosen[fresh[0]] = None


def _row(W: csr_array, i: int) -> tuple[IntArray, Array]:
    here = slice(W.indptr[i], W.indptr[i + 1])
    return W.indices[here], W.data[here]


def drawn(W: csr_array, nodes: IntArray) -> tuple[IntArray, Array, Array]:
    """Edges among these nodes, their strengths in (0, 1], and positions with the first node in the middle."""
    part = W[nodes][:, nodes].tocoo()
    upper = part.row < part.col
    ends = np.c_[part.row[upper], part.col[upper]].astype(np.int64)
    strengths = part.data[upper] / part.data.max(initial=1e-300)
    strengths = np.clip(strengths, np.finfo(float).tiny, 1.0)
    k = nodes.size
    lengths = csr_array((2.0 - strengths, (ends[:, 0], ends[:, 1])), shape=(k, k))
    return nodes[ends], strengths, _centred(arranged(path_lengths(lengths), CENTRAL))


def _centred(x: Array) -> Array:
    """In the unit square with the first point in the middle, and none on top of another."""
    x = x - x[0]
    x /= max(2 * np.abs(x).max(), 1e-300)
    gap = APART / np.sqrt(len(x))
    for _ in range(TRIES):
        d = distances(x) + np.eye(len(x))
        push = np.maximum(gap - d, 0.0) / d
        if not push.any():
            break
        x = x + 0.6 * (push.sum(axis=1)[:, None] * x - push @ x)
    x = x - x[0]
    return np.asarray(0.5 + x / max(2 * np.abs(x).max(), 1.0))
