"""The coarse levels of a multilevel preconditioner on a GPU: aggregates as on the CPU, weighted for a ridge and pinned nodes."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import block_diag, csr_array

from askgraph.linalg.cuda.runtime import cupy
from askgraph.linalg.multigrid import Groups, Hierarchy, Level, contiguous_children, inverse_permutation
from askgraph.types import AnyArray, Array, IntArray

OVERSHOOT = 1.5  # factor of coarse corrections, as piecewise constants are too stiff
DAMPING = 0.85  # factor of a step of Jacobi; below 1, so that the V-cycle is definite
DENSE = 2_000  # nodes: the largest dense inverse on the last level
MOST = 1_024  # nodes of an aggregate, neighbors of a coarse node: with more, a few threads would work while all others wait


class Aggregates:
    """The aggregates of a graph, which do not depend on labels, and an order of its nodes in which aggregates are contiguous."""

    order: IntArray
    groups: list[Groups]

    def __init__(self, W: csr_array) -> None:
        fine = Level(W, np.zeros(W.shape[0]))
        self.order, ordered = Hierarchy.multilevel(fine, *fine.coarser(), DENSE).ordered()
        self.groups, self._weights = ordered.groups, [level.weights for level in ordered.levels[1:]]
        pairs = zip(self.groups, ordered.levels, self._weights, strict=False)
        self._members = [np.bincount(group, v.degree > 0, minlength=len(W.indptr) - 1) for group, v, W in pairs]

    @property
    def nodes(self) -> int:
        """The number of nodes of all coarse levels."""
        return sum(weights.shape[0] for weights in self._weights)

    @property
    def even(self) -> bool:
        """Whether every thread of a device would get about as much work."""
        return max(int(many.max(initial=0)) for many in (*self._members, *map(_degree, self._weights))) <= MOST

    def levels(self, W: csr_array, ridge: Array, pinned: AnyArray) -> list[Level]:
        """Return the coarse levels of L + diag(ridge) without its pinned nodes; W, ridge and pinned are in the graph's order."""
        sizes = [weights.shape[0] for weights in self._weights]
        group = self.groups[0][inverse_permutation(self.order)]
        if pinned.any():
            levels = [_free(W, ridge, pinned).contracted(group, sizes[0])]
        else:
            levels = [Level(self._weights[0], np.bincount(group, ridge, minlength=sizes[0]).astype(np.float64))]
        for group, size in zip(self.groups[1:], sizes[1:], strict=True):
            levels.append(levels[-1].contracted(group, size))
        return levels

    def arguments(self, levels: list[Level], kind: Any) -> tuple[Any, ...]:
        """Return levels as the kernel takes them."""
        begin, child, end = contiguous_children(self.groups, [level.excess.size for level in levels])
        above = [group + at for group, at in zip(self.groups[1:], begin[1:], strict=False)]
        parent = np.concatenate([*above, np.zeros(levels[-1].excess.size)])
        joint = csr_array(block_diag([level.weights for level in levels]))
        excess, inverse = (np.concatenate(a) for a in ([v.excess for v in levels], self._inverses(levels)))
        dense, part, total = _last(levels[-1], OVERSHOOT ** (len(levels) - 1))

        def ints(*arrays: AnyArray) -> list[Any]:
            return [cupy().asarray(a.astype(np.int32)) for a in arrays]

        def reals(*arrays: AnyArray) -> list[Any]:
            return [cupy().asarray(a.astype(kind)) for a in arrays]

        matrix = *ints(begin, joint.indptr, joint.indices), *reals(joint.data, excess, inverse)
        links = ints(child, end, np.pad(self.groups[0], (0, 3)), parent)
        last = np.int32(len(dense)), *reals(dense), *ints(part), *reals(total)
        return np.int32(len(levels)), *matrix, *links, *last

    def _inverses(self, levels: list[Level]) -> list[Array]:
        """Return the inverse of each level's diagonal; a component that has become one node is solved on that level alone."""
        some = [(v.diagonal > 0) & (v.degree + members > 0) for v, members in zip(levels, self._members, strict=True)]
        return [np.divide(1.0, v.diagonal, out=np.zeros(at.size), where=at) for v, at in zip(levels, some, strict=True)]


def _degree(W: csr_array) -> AnyArray:
    return np.diff(W.indptr)


def _free(W: csr_array, ridge: Array, pinned: AnyArray) -> Level:
    """Return the level of free nodes: edges to pinned nodes count as excess, pinned nodes have no weight at all."""
    free = ~pinned
    row = np.repeat(np.arange(free.size), _degree(W))
    inside = csr_array((W.data * (free[row] & free[W.indices]), W.indices, W.indptr), shape=W.shape)
    return Level(inside, np.where(free, ridge + W @ pinned.astype(np.float64), 0.0))


def _last(level: Level, scale: float) -> tuple[Array, AnyArray, Array]:
    """Return the dense inverse without constants, the component of each of its nodes, and 1 / (scale 1ᵀQ1) of the component."""
    m = int(np.count_nonzero(level.degree))
    empty = level.diagonal[:m] == 0  # all nodes of the aggregate are pinned
    level = Level(level.weights[:m, :m], level.excess[:m] + empty)
    part = level.component
    return level.inverse() if m else np.zeros((0, 0)), part, 1 / (scale * np.bincount(part, level.excess)[part])
