"""Positions of all nodes in the plane, from the graph alone, coarse to fine: neighbors attract, random pairs repel."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from askgraph.errors import GraphError
from askgraph.graph import Graph
from askgraph.layout.packing import fit_into_boxes, lattice, rectangles
from askgraph.layout.stress import apply_mean_forces, minimize_stress, path_lengths, spiral
from askgraph.support.arguments import generator
from askgraph.support.progress import Tick, compiling
from askgraph.types import AnyArray, Array, IntArray

if TYPE_CHECKING:
    from askgraph.linalg.multigrid import Level

Points = NDArray[np.float32]

ALL_PAIRS_UP_TO = 500  # nodes with edges; up to here forces act on all pairs, beyond on random ones in compiled code
STRESS_UP_TO = 1000  # nodes of a component; up to here stress places them first, beyond they start on a spiral
MIN_ROUNDS, MAX_ROUNDS = 60, 200  # rounds of forces at a level
NODE_MOVES = 1e8  # moves of a node at a level; they give the number of rounds, within the limits above
PULLS, PUSHES = 4, 5  # per node and round: edges drawn, and for each of them random nodes that repel the node
ALL_PAIRS_ROUNDS = 60  # rounds of forces on all pairs
STALLED = 0.9  # coarsening ends when a level keeps more than this share of the nodes
JITTER = 0.1  # standard deviation of the distance at which nodes of an aggregate start from its position


def layout(graph: Graph, rng: int | np.random.Generator | None = 0, tick: Tick | None = None) -> Points:
    """Place the nodes in the unit square: neighbors near each other, components apart, isolated nodes in rows.

    Edges, drawn by weight, attract, and random pairs repel each other (as in LargeVis and UMAP). Nodes start from the
    positions of aggregates of nodes, and so on up to a few hundred aggregates, which minimize stress.

    Parameters
    ----------
    graph : Graph
        The graph.
    rng : int or numpy.random.Generator, optional
        The seed; the same seed gives the same positions.
    tick : callable, optional
        Called with shares of the work that add up to 1.

    Returns
    -------
    array of float32
        Positions (n, 2), one row per node.

    Examples
    --------
    >>> import askgraph as ag
    >>> x = layout(ag.chain(5))
    >>> x.shape, bool(x[0, 0] < x[1, 0] < x[2, 0]) or bool(x[0, 0] > x[1, 0] > x[2, 0])
    ((5, 2), True)
    """
    if not isinstance(graph, Graph):
        raise GraphError(f"a {type(graph).__name__} is not a Graph: make one first, with askgraph.Graph")
    order, sizes = _by_component(graph)
    linked = sizes[sizes > 1]
    isolated = graph.n_nodes - int(linked.sum())
    W, rng = _reorder(graph.weights, order[: graph.n_nodes - isolated]), generator(rng)
    tick = tick or (lambda amount=1: None)
    x = (
        _place_by_all_pairs(W, linked, tick)
        if W.shape[0] <= ALL_PAIRS_UP_TO
        else _place_by_levels(W, linked, rng, tick)
    )
    boxes = rectangles(np.append(linked, isolated) if isolated else linked.astype(float))
    rows = lattice(isolated, boxes[-1] if isolated else boxes)
    positions = np.empty((graph.n_nodes, 2), dtype=np.float32)
    positions[order] = np.r_[fit_into_boxes(x, linked, boxes[: linked.size]), rows]
    return np.clip(positions, 0.0, 1.0)


def _by_component(graph: Graph) -> tuple[IntArray, IntArray]:
    """Return the nodes in order of their components, the largest first, and the number of nodes of each component."""
    part = graph.components()
    sizes = np.bincount(part)
    largest = np.argsort(-sizes, kind="stable")
    rank = np.empty_like(largest)
    rank[largest] = np.arange(largest.size)
    return np.argsort(rank[part], kind="stable"), sizes[largest]


def _reorder(W: csr_array, order: IntArray) -> csr_array:
    """Return the weights among these nodes, in this order; no other node has an edge to them."""
    rank = np.zeros(W.shape[0], dtype=W.indices.dtype)
    rank[order] = np.arange(order.size)
    rows = W[order]
    return csr_array((rows.data, rank[rows.indices], rows.indptr), shape=(order.size, order.size))


def _place_by_all_pairs(W: csr_array, sizes: IntArray, tick: Tick) -> Array:
    ends = np.cumsum(sizes)
    parts = [csr_array(W[a:b, a:b]) for a, b in zip(ends - sizes, ends, strict=True)]
    positions = [apply_mean_forces(part, _place_by_stress(part), PULLS, PUSHES, ALL_PAIRS_ROUNDS) for part in parts]
    tick(1.0)
    return np.concatenate([np.empty((0, 2)), *positions])


def _place_by_stress(W: csr_array) -> Array:
    """Return positions with distances like the number of edges between nodes; too many nodes go on a spiral."""
    if W.shape[0] > STRESS_UP_TO:
        return np.asarray(np.sqrt(W.shape[0]) * spiral(W.shape[0]))
    return minimize_stress(path_lengths(csr_array((np.ones(W.nnz), W.indices, W.indptr), shape=W.shape)))


def _place_by_levels(W: csr_array, sizes: IntArray, rng: np.random.Generator, tick: Tick) -> Array:
    with compiling("layout"):
        levels, groups, parts = _coarsen(W, np.repeat(np.arange(sizes.size), sizes))
        work = sum(_count_rounds(part.size) * part.size for part in parts)
        x = _place_coarsest(levels[-1].weights, parts[-1])
        for depth in range(len(levels) - 1, -1, -1):
            _apply_forces(levels[depth].weights, parts[depth], x, rng, tick, work)
            if depth:
                group = groups[depth - 1]
                x = x[group] + np.float32(JITTER) * rng.standard_normal((group.size, 2), dtype=np.float32)
    return x.astype(float)


def _coarsen(W: csr_array, part: IntArray) -> tuple[list[Level], list[AnyArray], list[IntArray]]:
    """Return the levels from fine to coarse.

    With them come the aggregate of each node of each level but the last, and the component of each node of each level.
    """
    from askgraph.linalg.multigrid import Level

    levels, groups, parts = [Level(W, np.zeros(W.shape[0]))], list[AnyArray](), [part]
    while _count_linked(levels[-1]) > ALL_PAIRS_UP_TO:
        group, level = levels[-1].coarser()
        if _count_linked(level) > STALLED * _count_linked(levels[-1]):
            break
        part = np.empty(level.excess.size, dtype=np.int64)
        part[group] = parts[-1]
        part[-1] = part[:-1].max(initial=0) + 1  # the last aggregate holds all nodes that have no edges any more
        levels, groups, parts = [*levels, level], [*groups, group], [*parts, part]
    return levels, groups, parts


def _count_linked(level: Level) -> int:
    return int(np.count_nonzero(level.degree))


def _place_coarsest(W: csr_array, part: IntArray) -> Points:
    """Return positions that minimize the stress of each component with edges; all other nodes are at (0, 0)."""
    x = np.zeros((part.size, 2), dtype=np.float32)
    starts, sizes = _runs(part)
    for start, size in zip(starts[sizes > 1].tolist(), sizes[sizes > 1].tolist(), strict=True):
        here = slice(start, start + size)
        x[here] = _place_by_stress(csr_array(W[here, here]))
    return x


def _apply_forces(W: csr_array, part: IntArray, x: Points, rng: np.random.Generator, tick: Tick, work: float) -> None:
    """Move the nodes of a level, in place, by rounds of forces whose steps get smaller."""
    from askgraph.layout import kernels

    share = np.empty(W.nnz, dtype=np.float32)
    kernels.cumulate_shares(W.indptr, W.data, share)
    starts, sizes = _runs(part)
    low, size = np.repeat(starts, sizes), np.repeat(sizes, sizes)
    shuffled = np.lexsort((rng.random(part.size, dtype=np.float32), part)).astype(np.int32)
    for step in np.linspace(1, 0, _count_rounds(part.size), endpoint=False, dtype=np.float32):
        seed = rng.integers(2**64, dtype=np.uint64)
        kernels.apply_forces(W.indptr, W.indices, share, low, size, shuffled, x, step, seed, PULLS, PUSHES)
        tick(part.size / work)


def _count_rounds(n: int) -> int:
    return int(np.clip(NODE_MOVES / max(n, 1), MIN_ROUNDS, MAX_ROUNDS))


def _runs(part: IntArray) -> tuple[IntArray, IntArray]:
    """Return the start and the length of each run of equal numbers."""
    starts = np.flatnonzero(np.diff(part, prepend=-1))
    return starts, np.diff(starts, append=part.size)
