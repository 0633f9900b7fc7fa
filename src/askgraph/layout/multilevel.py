"""All nodes in the plane, from the graph alone: coarse to fine, neighbours draw together, random pairs move apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from askgraph.graph import Graph
from askgraph.layout.packing import fitted, lattice, rectangles
from askgraph.layout.stress import arranged, path_lengths, settled, spiral
from askgraph.support.progress import Tick, compiling
from askgraph.types import AnyArray, Array, IntArray

if TYPE_CHECKING:
    from askgraph.linalg.multigrid import Level

Points = NDArray[np.float32]

FEW = 500  # nodes with edges up to which all pairs are looked at, without compiled code
MOST = 1000  # nodes of a coarse component that stress can arrange
LEAST, ROUNDS, WORK = 60, 200, 1e8  # rounds of forces at a level; between the two, so many node visits
PULLS, PUSHES = 4, 5  # edges drawn a node and round, and random nodes it moves away from for each
SETTLING = 60  # rounds where all pairs are looked at: nothing is left to chance there
STALLED = 0.9  # a coarser level with more nodes than this share is not worth it
JITTER = 0.1  # how far the nodes of an aggregate start from each other


def layout(graph: Graph, rng: int | np.random.Generator | None = 0, tick: Tick | None = None) -> Points:
    """Positions (n, 2) in the unit square: neighbours near each other, components apart, isolated nodes in rows.

    Attraction along edges drawn by weight, repulsion of random pairs (as LargeVis and UMAP do), from the positions of
    aggregates of nodes, and so on up to a few hundred that majorise stress. The same seed gives the same picture.
    ``tick`` is called with shares of the work that add up to 1.

    >>> import askgraph as ag
    >>> x = layout(ag.chain(5))
    >>> x.shape, bool(x[0, 0] < x[1, 0] < x[2, 0]) or bool(x[0, 0] > x[1, 0] > x[2, 0])
    ((5, 2), True)
    """
    order, sizes = _by_component(graph)
    joined = sizes[sizes > 1]
    alone = graph.n_nodes - int(joined.sum())
    W, rng = _taken(graph.weights, order[: graph.n_nodes - alone]), np.random.default_rng(rng)
    tick = tick or (lambda amount=1: None)
    x = _all_pairs(W, joined, tick) if W.shape[0] <= FEW else _multilevel(W, joined, rng, tick)
    boxes = rectangles(np.append(joined, alone) if alone else joined.astype(float))
    placed = np.empty((graph.n_nodes, 2), dtype=np.float32)
    placed[order] = np.r_[fitted(x, joined, boxes[: joined.size]), lattice(alone, boxes[-1] if alone else boxes)]
    return np.clip(placed, 0.0, 1.0)


def _by_component(graph: Graph) -> tuple[IntArray, IntArray]:
    """Nodes in order of their component, the largest first, and how many nodes each has."""
    part = graph.components()
    sizes = np.bincount(part)
    largest = np.argsort(-sizes, kind="stable")
    rank = np.empty_like(largest)
    rank[largest] = np.arange(largest.size)
    return np.argsort(rank[part], kind="stable"), sizes[largest]


def _taken(W: csr_array, order: IntArray) -> csr_array:
    """W among these nodes, in this order; no other has an edge to them."""
    rank = np.zeros(W.shape[0], dtype=W.indices.dtype)
    rank[order] = np.arange(order.size)
    rows = W[order]
    return csr_array((rows.data, rank[rows.indices], rows.indptr), shape=(order.size, order.size))


def _all_pairs(W: csr_array, sizes: IntArray, tick: Tick) -> Array:
    ends = np.cumsum(sizes)
    parts = [csr_array(W[a:b, a:b]) for a, b in zip(ends - sizes, ends, strict=True)]
    placed = [settled(part, _stressed(part), PULLS, PUSHES, SETTLING) for part in parts]
    tick(1.0)
    return np.concatenate([np.empty((0, 2)), *placed])


def _stressed(W: csr_array) -> Array:
    """By the number of edges between nodes; on a spiral where they are too many."""
    if W.shape[0] > MOST:
        return np.asarray(np.sqrt(W.shape[0]) * spiral(W.shape[0]))
    return arranged(path_lengths(csr_array((np.ones(W.nnz), W.indices, W.indptr), shape=W.shape)))


def _multilevel(W: csr_array, sizes: IntArray, rng: np.random.Generator, tick: Tick) -> Array:
    with compiling("layout"):
        levels, groups, parts = _coarsened(W, np.repeat(np.arange(sizes.size), sizes))
        work = sum(_rounds(part.size) * part.size for part in parts)
        x = _coarsest(levels[-1].weights, parts[-1])
        for depth in range(len(levels) - 1, -1, -1):
            _move(levels[depth].weights, parts[depth], x, rng, tick, work)
            if depth:
                group = groups[depth - 1]
                x = x[group] + np.float32(JITTER) * rng.standard_normal((group.size, 2), dtype=np.float32)
    return x.astype(float)


def _coarsened(W: csr_array, part: IntArray) -> tuple[list[Level], list[AnyArray], list[IntArray]]:
    """Levels from fine to coarse, the aggregate of each node of all but the last, and the component of each node of all."""
    from askgraph.linalg.multigrid import Level

    levels, groups, parts = [Level(W, np.zeros(W.shape[0]))], list[AnyArray](), [part]
    while _joined(levels[-1]) > FEW:
        group, level = levels[-1].coarser()
        if _joined(level) > STALLED * _joined(levels[-1]):
            break
        part = np.empty(level.excess.size, dtype=np.int64)
        part[group] = parts[-1]
        part[-1] = part[:-1].max(initial=0) + 1  # what has no edges any more is one aggregate, the last
        levels, groups, parts = [*levels, level], [*groups, group], [*parts, part]
    return levels, groups, parts


def _joined(level: Level) -> int:
    return int(np.count_nonzero(level.degree))


def _coarsest(W: csr_array, part: IntArray) -> Points:
    """Each component with edges by its stress, the others in one place."""
    x = np.zeros((part.size, 2), dtype=np.float32)
    starts, sizes = _runs(part)
    for start, size in zip(starts[sizes > 1].tolist(), sizes[sizes > 1].tolist(), strict=True):
        here = slice(start, start + size)
        x[here] = _stressed(csr_array(W[here, here]))
    return x


def _move(W: csr_array, part: IntArray, x: Points, rng: np.random.Generator, tick: Tick, work: float) -> None:
    """Rounds of forces, in place, with steps that get smaller."""
    from askgraph.layout import kernels

    share = np.empty(W.nnz, dtype=np.float32)
    kernels.cumulated(W.indptr, W.data, share)
    starts, sizes = _runs(part)
    low, size = np.repeat(starts, sizes), np.repeat(sizes, sizes)
    dealt = np.lexsort((rng.random(part.size, dtype=np.float32), part)).astype(np.int32)
    for step in np.linspace(1, 0, _rounds(part.size), endpoint=False, dtype=np.float32):
        seed = rng.integers(2**64, dtype=np.uint64)
        kernels.moved(W.indptr, W.indices, share, low, size, dealt, x, step, seed, PULLS, PUSHES)
        tick(part.size / work)


def _rounds(n: int) -> int:
    return int(np.clip(WORK / max(n, 1), LEAST, ROUNDS))


def _runs(part: IntArray) -> tuple[IntArray, IntArray]:
    """Where each run of equal numbers starts, and how long it is."""
    starts = np.flatnonzero(np.diff(part, prepend=-1))
    return starts, np.diff(starts, append=part.size)
