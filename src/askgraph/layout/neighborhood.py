"""The neighborhood of a node, small enough to draw: its nodes, its edges, and their positions."""

from __future__ import annotations

import heapq
from collections.abc import Iterable

import numpy as np
from scipy.sparse import csr_array

from askgraph.field import Field
from askgraph.layout.stress import distances, minimize_stress, path_lengths
from askgraph.types import Array, IntArray

MAX_NODES = 60  # nodes in a neighborhood
CENTER_WEIGHT = 4.0  # distances from the node in the center count this many times as much as others
MIN_GAP = 0.12  # points closer than this are moved apart, as a share of the spacing of an even lattice
MAX_SPREADING_ROUNDS = 40  # rounds of moving points apart; some may stay close after that


def neighborhood(field: Field, node: int, g: Array, pull: Array, voters: IntArray) -> IntArray:
    """Return the node, the voters and the paths to them, then nodes that are near by g_i, at most 60 in all."""
    W, d = field.origin.precision.graph.weights, field.origin.precision.graph.degrees
    chosen = dict.fromkeys([node, *voters.tolist()])
    for voter in voters.tolist():
        path = [step for step in _find_path(W, g, voter, node) if step not in chosen]
        if len(chosen) + len(path) <= MAX_NODES:
            chosen.update(dict.fromkeys(path))
    free = field.space.gather(field.free)
    _grow(W, free, chosen, np.divide(pull, d, out=g.copy(), where=(free == 0) & (d > 0)))
    return np.array(list(chosen), dtype=np.int64)


def _find_path(W: csr_array, g: Array, start: int, end: int) -> list[int]:
    """Return a path on which g_i rises, or nothing if the path is longer than a neighborhood may be.

    Q g_i = e_i, so that every node but i has a neighbor with a higher value.
    """
    path, at = list[int](), start
    while at != end and len(path) < MAX_NODES:
        near, weights = _row(W, at)
        value = np.where(g[near] > g[at], weights * g[near], 0.0)
        if not value.any():
            break
        at = int(near[value.argmax()])
        path.append(at)
    return path if at == end else []


def _grow(W: csr_array, free: Array, chosen: dict[int, None], worth: Array) -> None:
    """Add nodes to the chosen ones, best first: next is the neighbor of a chosen node that is worth most.

    Labeled nodes are added, but nothing beyond them.
    """
    first, waiting = next(iter(chosen)), list[tuple[float, int]]()
    fresh: Iterable[int] = list(chosen)
    while len(chosen) < MAX_NODES:
        for at in fresh:
            if free[at] or at == first:
                near = _row(W, at)[0]
                best = near[np.argsort(-worth[near], kind="stable")[: 2 * MAX_NODES]]
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


def arrange(W: csr_array, nodes: IntArray) -> tuple[IntArray, Array, Array]:
    """Return the edges among some nodes, their strengths in (0, 1], and positions with the first node in the center."""
    part = W[nodes][:, nodes].tocoo()
    upper = part.row < part.col
    ends = np.c_[part.row[upper], part.col[upper]].astype(np.int64)
    strengths = part.data[upper] / part.data.max(initial=1e-300)
    strengths = np.clip(strengths, np.finfo(float).tiny, 1.0)
    k = nodes.size
    lengths = csr_array((2.0 - strengths, (ends[:, 0], ends[:, 1])), shape=(k, k))
    return nodes[ends], strengths, _center_first(minimize_stress(path_lengths(lengths), CENTER_WEIGHT))


def _center_first(x: Array) -> Array:
    """Move points into the unit square, with the first in the center and the others apart from each other."""
    x = x - x[0]
    x /= max(2 * np.abs(x).max(), 1e-300)
    gap = MIN_GAP / np.sqrt(len(x))
    for _ in range(MAX_SPREADING_ROUNDS):
        d = distances(x) + np.eye(len(x))
        push = np.maximum(gap - d, 0.0) / d
        if not push.any():
            break
        x = x + 0.6 * (push.sum(axis=1)[:, None] * x - push @ x)
    x = x - x[0]
    return np.asarray(0.5 + x / max(2 * np.abs(x).max(), 1.0))
