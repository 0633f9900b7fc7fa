"""Q as a graph with excess, and the graphs of aggregates over it: what a multilevel preconditioner is made of."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack
from scipy.sparse import block_diag, csr_array
from scipy.sparse.csgraph import connected_components, reverse_cuthill_mckee

from askgraph.errors import EngineError
from askgraph.types import AnyArray, Array, IntArray

if TYPE_CHECKING:
    from askgraph.linalg.cg_kernels import Coarse, Rows

Groups = NDArray[np.int32]

STRONG = 0.25  # an edge weaker than this share of the strongest at either end does not bind an aggregate
PART = 4_096  # nodes of a component that are one aggregate where aggregates do not pay
EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class Level:
    """Q = Laplacian(weights) + diag(excess): kept apart, since deg + δ in one number rounds δ away."""

    weights: csr_array
    excess: Array
    parts: Groups | None = None  # the component of each node, where the weights do not tell

    @classmethod
    def of(cls, Q: csr_array, excess: Array | None) -> Level:
        """Q in parts; its row sums are summed unless known better."""
        Q = csr_array(Q, dtype=np.float64)
        row = np.repeat(np.arange(Q.shape[0]), np.diff(Q.indptr))
        off = (Q.indices != row) & (Q.data != 0)
        weights = _csr(-Q.data[off], Q.indices[off], np.append(0, np.cumsum(off))[Q.indptr])
        if excess is None:
            excess = Q.diagonal() - _sums(row[off], weights.data, Q.shape[0])
        return cls(weights, np.asarray(excess, dtype=np.float64))

    @cached_property
    def degree(self) -> IntArray:
        """How many neighbors a node has."""
        return np.asarray(np.diff(self.weights.indptr))

    @cached_property
    def diagonal(self) -> Array:
        """diag(Q)."""
        return np.asarray(self.weights.sum(axis=1)).ravel() + self.excess

    @cached_property
    def component(self) -> Groups:
        """The component of each node."""
        return (
            self.parts if self.parts is not None else np.asarray(connected_components(self.weights, directed=False)[1])
        )

    @property
    def size(self) -> int:
        """How many numbers it holds."""
        return int(self.weights.nnz + self.excess.size)

    def coarser(self) -> tuple[Groups, Level]:
        """Aggregates and the level they form; nodes without neighbors share one more, the last, so no node is without."""
        from askgraph.linalg import aggregation

        W, n = self.weights, self.excess.size
        top, group = np.zeros(n), np.full(n, -1, dtype=np.int32)
        np.maximum.at(top, np.repeat(np.arange(n), self.degree), W.data)
        count = 1 + aggregation.aggregate(W.indptr, W.indices, W.data, top, STRONG, group, np.zeros(n))
        group[group < 0] = count - 1
        end = np.append(0, np.cumsum(np.bincount(group, minlength=count)))
        node, weight = np.empty_like(W.indices), np.empty_like(W.data)
        first, slot, member = np.zeros(count + 1, dtype=np.int32), np.full(count, -1), np.argsort(group, kind="stable")
        m = aggregation.contract(W.indptr, W.indices, W.data, group, member, end, slot, first, node, weight)
        return group, Level(_csr(weight[:m].copy(), node[:m].copy(), first), _sums(group, self.excess, count))

    def permuted(self, order: IntArray) -> Level:
        """With its nodes in another order."""
        W, parts = self.weights[order], None if self.parts is None else self.parts[order]
        return Level(_csr(W.data, inverted(order)[W.indices], W.indptr), self.excess[order], parts)

    def rows(self) -> Rows:
        """As kernels take it."""
        from askgraph.linalg.cg_kernels import FAR, Rows

        W, d = self.weights, self.diagonal
        inverse = np.divide(1.0, d, out=np.zeros_like(d), where=d > 0)
        nodes = np.pad(W.indices.astype(np.uint32), (0, FAR))
        return Rows(W.indptr.astype(np.uint64), nodes, W.data, self.excess, d, inverse)

    def smoothed(self, x: AnyArray) -> Array:
        """D⁻¹W x."""
        return np.asarray((self.weights @ x) / self.diagonal[:, None])

    def inverse(self) -> Array:
        """A⁻¹ - Σ_c 1_c 1_cᵀ / E_c, E_c = 1_cᵀ A 1_c: what is left for a V-cycle when the constants are done with.

        With e = A 1_c, (A + s e eᵀ / E_c)⁻¹ = A⁻¹ - s/(1+s) 1_c 1_cᵀ / E_c: no eigenvalue is small there, so nothing cancels.
        """
        e, d, part = self.excess, self.diagonal, self.component
        E = _positive(_sums(part, e, part.max(initial=-1) + 1))
        s, same = _sums(part, d, E.size) / E, part[:, None] == part
        A = np.diag(d) - self.weights.toarray() + same * np.outer(e, e * (s / E)[part])
        from threadpoolctl import threadpool_limits

        with threadpool_limits(1, user_api="blas"):  # its threads spin where a core is busy: 11 ms became 1.4 s
            factor, failed = lapack.dpotrf(A, lower=True) if e.size else (A, True)
            half = np.tril(lapack.dpotri(factor, lower=True)[0]) if not failed else np.diag(1 / d)
        return half if failed else np.asarray(half + np.tril(half, -1).T - same / (E * (1 + s))[part])

    def dense(self) -> Array:
        """`inverse` on the nodes with neighbors, which come first; zero rows fill it up to a multiple of four."""
        m = int(np.count_nonzero(self.degree))
        inverse = Level(self.weights[:m, :m], self.excess[:m]).inverse()
        return np.pad(inverse, [(0, -m % 4), (0, 0)])

    def left(self, r: Array, x: Array, aim: Array) -> Array:
        """‖r‖, r = b - Qx; where that is above aim, less what rounding of x explains row by row, 16 ε |Q| |x|."""
        left = norms(r)
        far = np.flatnonzero(left > aim)
        if far.size and (left[far] <= aim[far] + 32 * EPS * norms(self.diagonal[:, None] * x[:, far])).any():
            y = np.abs(x[:, far])
            explained = 16 * EPS * (self.diagonal[:, None] * y + self.weights @ y)
            left[far] = norms(np.maximum(np.abs(r[:, far]) - explained, 0.0))
        return left


def _csr(weight: Array, node: AnyArray, first: AnyArray) -> csr_array:
    return csr_array((weight, node.astype(np.int32), first.astype(np.int32)), shape=(first.size - 1, first.size - 1))


def _sums(group: AnyArray, values: AnyArray, count: int) -> Array:
    return np.asarray(np.bincount(group, values, minlength=count), dtype=np.float64)


def norms(a: AnyArray) -> Array:
    """‖a‖ of every column."""
    return np.asarray(np.sqrt(np.einsum("ij,ij->j", a, a, dtype=np.float64)))


def inverted(order: IntArray) -> Groups:
    """Where each node is in this order."""
    place = np.empty(order.size, dtype=np.int32)
    place[order] = np.arange(order.size, dtype=np.int32)
    return place


def _positive(E: Array) -> Array:
    if not (E > 0).all():
        raise EngineError("delta is lost in the rounding of the weights: raise delta, or scale the weights down")
    return E


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """Levels from fine to coarse; groups[l] maps the nodes of level l to those of level l + 1."""

    levels: list[Level]
    groups: list[Groups]

    @classmethod
    def multilevel(cls, fine: Level, group: Groups, level: Level) -> Hierarchy:
        """Aggregates of aggregates, until a dense inverse is no more work than a product with Q."""
        levels, groups = [fine, level], [group]
        while np.count_nonzero(levels[-1].degree) > fine.size**0.5:
            group, level = levels[-1].coarser()
            groups.append(group)
            levels.append(level)
        return cls(levels, groups)

    @classmethod
    def constants(cls, fine: Level, group: Groups, level: Level) -> Hierarchy:
        """Jacobi, and the constants: components for aggregates, in parts that threads can share."""
        component = level.component[group]
        order = np.lexsort((fine.degree, component))
        begins = np.diff(component[order], prepend=-1) != 0
        start = np.maximum.accumulate(np.where(begins, np.arange(order.size), 0))
        begins |= (np.arange(order.size) - start) % PART == 0
        group = (np.cumsum(begins) - 1)[inverted(order)].astype(np.int32)
        m = int(np.count_nonzero(begins))
        parts = Level(
            _csr(np.zeros(0), np.zeros(0), np.zeros(m + 1)), _sums(group, fine.excess, m), component[order[begins]]
        )
        return cls([fine, parts], [group])

    @property
    def work(self) -> float:
        """Of a step, relative to one with Jacobi."""
        fine, *coarse, last = self.levels
        more = 3 * sum(level.size for level in coarse) + np.count_nonzero(last.degree) ** 2
        return 1 + more / (fine.size + 6 * fine.excess.size)

    def nested(self) -> list[Groups]:
        """The aggregate that each node is in, level by level."""
        found = self.groups[:1]
        for group in self.groups[1:]:
            found.append(group[found[-1]])
        return found

    def ordered(self) -> tuple[IntArray, Hierarchy]:
        """Aggregates contiguous and near their neighbors; within them by degree, as rows of one length mislead no branch."""
        last = self.levels[-1]
        order = reverse_cuthill_mckee(last.weights, symmetric_mode=True)
        order = order[np.lexsort((last.component[order], last.degree[order] == 0))]
        levels, groups = [last.permuted(order)], list[Groups]()
        for level, group in zip(self.levels[-2::-1], self.groups[::-1], strict=True):
            parent = inverted(order)[group]
            order = np.lexsort((level.degree, parent))
            levels.insert(0, level.permuted(order))
            groups.insert(0, parent[order])
        return order, Hierarchy(levels, groups)

    def coarse(self) -> Coarse:
        """All levels but the first; the nodes of a group must be contiguous."""
        from askgraph.linalg.cg_kernels import Coarse

        fine, *levels = self.levels
        joint = Level(csr_array(block_diag([v.weights for v in levels])), np.concatenate([v.excess for v in levels]))
        rows = joint.rows()
        sizes = [np.bincount(g, minlength=v.excess.size) for g, v in zip(self.groups, levels, strict=True)]
        begin = np.append(0, np.cumsum([s.size for s in sizes]))
        end = np.concatenate([np.cumsum(s) + at for s, at in zip(sizes, (0, *begin), strict=False)])
        component = np.append(np.flatnonzero(np.diff(levels[0].component, prepend=-1)), sizes[0].size)
        tied = np.add.reduceat(_sums(self.groups[0], fine.degree > 0, sizes[0].size), component[:-1]) > 0
        total = np.where(tied, np.add.reduceat(levels[0].excess, component[:-1]), 1.0)
        rows = rows._replace(inverse=rows.inverse * (joint.degree > 0))
        U, child = np.uint64, end - np.concatenate(sizes)
        links = child.astype(U), end.astype(U), begin.astype(U), component.astype(U)
        return Coarse(*rows, *links, tied / _positive(total), levels[-1].dense())
