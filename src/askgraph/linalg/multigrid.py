"""The levels of a multilevel preconditioner: Q as a graph with excess, and the graphs of its aggregates."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack
from scipy.sparse import block_diag, csr_array
from scipy.sparse.csgraph import reverse_cuthill_mckee

from askgraph.errors import EngineError
from askgraph.linalg.components import symmetric_components
from askgraph.support.threads import one_blas_thread
from askgraph.types import AnyArray, Array, IntArray

if TYPE_CHECKING:
    from askgraph.linalg.cg_kernels import Coarse, Matrix

Groups = NDArray[np.int32]

STRONG = 0.25  # share of the largest weight at either end: a weaker edge does not join two nodes into an aggregate
PART_NODES = 4_096  # without aggregates, components are cut into parts of this many nodes, which threads share
EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class Level:
    """Q = Laplacian(weights) + diag(excess); the terms are kept apart, since deg + δ in one number rounds δ away."""

    weights: csr_array
    excess: Array
    parts: Groups | None = None  # the component of each node, if it does not follow from the weights

    @classmethod
    def of(cls, Q: csr_array, excess: Array | None) -> Level:
        """Return Q as weights and excess; ``excess`` are its row sums, by default summed from Q."""
        Q = csr_array(Q, dtype=np.float64)
        row = np.repeat(np.arange(Q.shape[0]), np.diff(Q.indptr))
        off = (Q.indices != row) & (Q.data != 0)
        weights = _csr(-Q.data[off], Q.indices[off], np.append(0, np.cumsum(off))[Q.indptr])
        if excess is None:
            excess = Q.diagonal() - _sums(row[off], weights.data, Q.shape[0])
        return cls(weights, np.asarray(excess, dtype=np.float64))

    @cached_property
    def degree(self) -> IntArray:
        """The number of neighbors of each node."""
        return np.asarray(np.diff(self.weights.indptr))

    @cached_property
    def diagonal(self) -> Array:
        """diag(Q)."""
        return np.asarray(self.weights.sum(axis=1)).ravel() + self.excess

    @cached_property
    def component(self) -> Groups:
        """The component of each node."""
        return self.parts if self.parts is not None else symmetric_components(self.weights)[1]

    @property
    def size(self) -> int:
        """The number of stored weights and excesses."""
        return int(self.weights.nnz + self.excess.size)

    def coarser(self) -> tuple[Groups, Level]:
        """Return the aggregate of each node and the level of the aggregates; all nodes without neighbors form the last one."""
        group, count = self.aggregates()
        group[group < 0] = count
        return group, self.contracted(group, count + 1)

    def aggregates(self) -> tuple[Groups, int]:
        """Return the aggregate of each node, -1 for a node without neighbors, and the number of aggregates."""
        from askgraph.linalg import aggregation

        W, n = self.weights, self.excess.size
        top, group = np.zeros(n), np.full(n, -1, dtype=np.int32)
        np.maximum.at(top, np.repeat(np.arange(n), self.degree), W.data)
        return group, aggregation.aggregate(W.indptr, W.indices, W.data, top, STRONG, group, np.zeros(n))

    def contracted(self, group: Groups, count: int) -> Level:
        """Return the level whose nodes are groups of this one's: the weight between two is Σ w_ij over i in one, j in the other."""
        W, n = self.weights, self.excess.size
        first = np.append(0, np.cumsum(np.bincount(group, minlength=count))).astype(np.int32)
        members = csr_array((np.ones(n), np.argsort(group, kind="stable").astype(np.int32), first), shape=(count, n))
        between = members @ csr_array((W.data, group[W.indices], W.indptr), shape=(n, count))
        off = between.indices != np.repeat(np.arange(count), np.diff(between.indptr))
        first = np.append(0, np.cumsum(off))[between.indptr]
        return Level(_csr(between.data[off], between.indices[off], first), _sums(group, self.excess, count))

    def permuted(self, order: IntArray) -> Level:
        """Return the level with its nodes in another order."""
        W, parts = self.weights[order], None if self.parts is None else self.parts[order]
        return Level(_csr(W.data, inverse_permutation(order)[W.indices], W.indptr), self.excess[order], parts)

    def matrix(self) -> Matrix:
        """Return the level in the form that kernels take."""
        from askgraph.linalg.cg_kernels import PREFETCH_ENTRIES, Matrix

        W, d = self.weights, self.diagonal
        inverse = np.divide(1.0, d, out=np.zeros_like(d), where=d > 0)
        nodes = np.pad(W.indices.astype(np.uint32), (0, PREFETCH_ENTRIES))
        return Matrix(W.indptr.astype(np.uint64), nodes, W.data, self.excess, d, inverse)

    def smoothed(self, x: AnyArray) -> Array:
        """Return D⁻¹W x."""
        return np.asarray((self.weights @ x) / self.diagonal[:, None])

    def times(self, x: AnyArray) -> Array:
        """Return Q x."""
        return np.asarray(self.diagonal[:, None] * x - self.weights @ x)

    def inverse(self) -> Array:
        """Return A⁻¹ - Σ_c 1_c 1_cᵀ / E_c, E_c = 1_cᵀ A 1_c: the inverse without the constants, which are solved apart.

        With e = A 1_c, (A + s e eᵀ / E_c)⁻¹ = A⁻¹ - s/(1+s) 1_c 1_cᵀ / E_c: no eigenvalue is small there, so nothing cancels.
        """
        e, d, part = self.excess, self.diagonal, self.component
        E = _positive(_sums(part, e, part.max(initial=-1) + 1))
        s, same = _sums(part, d, E.size) / E, part[:, None] == part
        A = np.diag(d) - self.weights.toarray() + same * np.outer(e, e * (s / E)[part])
        with one_blas_thread():
            factor, failed = lapack.dpotrf(A, lower=True) if e.size else (A, True)
            half = np.tril(lapack.dpotri(factor, lower=True)[0]) if not failed else np.diag(1 / d)
        return half if failed else np.asarray(half + np.tril(half, -1).T - same / (E * (1 + s))[part])

    def dense(self) -> Array:
        """Return `inverse` on the nodes with neighbors, which come first; zero rows pad it to a multiple of four."""
        m = int(np.count_nonzero(self.degree))
        inverse = Level(self.weights[:m, :m], self.excess[:m]).inverse()
        return np.pad(inverse, [(0, -m % 4), (0, 0)])

    def unexplained(self, r: Array, x: Array, aim: Array) -> Array:
        """Return ‖r‖ for r = b - Qx; if above ``aim``, less the part that rounding x explains row by row, 16 ε |Q| |x|."""
        left = column_norms(r)
        far = np.flatnonzero(left > aim)
        if far.size and (left[far] <= aim[far] + 32 * EPS * column_norms(self.diagonal[:, None] * x[:, far])).any():
            y = np.abs(x[:, far])
            explained = 16 * EPS * (self.diagonal[:, None] * y + self.weights @ y)
            left[far] = column_norms(np.maximum(np.abs(r[:, far]) - explained, 0.0))
        return left


def _csr(weight: Array, node: AnyArray, first: AnyArray) -> csr_array:
    return csr_array((weight, node.astype(np.int32), first.astype(np.int32)), shape=(first.size - 1, first.size - 1))


def _sums(group: AnyArray, values: AnyArray, count: int) -> Array:
    return np.asarray(np.bincount(group, values, minlength=count), dtype=np.float64)


def column_norms(a: AnyArray) -> Array:
    """Return ‖a‖ of every column."""
    return np.asarray(np.sqrt(np.einsum("ij,ij->j", a, a, dtype=np.float64)))


def inverse_permutation(order: IntArray) -> Groups:
    """Return the position of each node in an order."""
    place = np.empty(order.size, dtype=np.int32)
    place[order] = np.arange(order.size, dtype=np.int32)
    return place


def contiguous_children(groups: list[Groups], sizes: list[int]) -> tuple[IntArray, IntArray, IntArray]:
    """Return where each coarse level begins, and where the children of each coarse node begin and end one level below.

    Coarse nodes are numbered one level after another; ``sizes`` are the numbers of nodes of the levels.
    """
    begin = np.append(0, np.cumsum(sizes))
    counts = [np.bincount(group, minlength=size) for group, size in zip(groups, sizes, strict=True)]
    end = np.concatenate([np.cumsum(count) + at for count, at in zip(counts, (0, *begin), strict=False)])
    return begin, end - np.concatenate(counts), end


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
    def multilevel(cls, fine: Level, group: Groups, level: Level, most: float = np.inf) -> Hierarchy:
        """Return a hierarchy of aggregates of aggregates, until a dense inverse is no more work than a product with Q.

        ``most`` is the largest number of nodes of a dense inverse.
        """
        levels, groups = [fine, level], [group]
        while np.count_nonzero(levels[-1].degree) > min(fine.size**0.5, most):
            group, level = levels[-1].coarser()
            groups.append(group)
            levels.append(level)
        return cls(levels, groups)

    @classmethod
    def constants(cls, fine: Level, group: Groups, level: Level) -> Hierarchy:
        """Return a hierarchy for Jacobi and the constants: its aggregates are parts of components, which threads share."""
        component = level.component[group]
        order = np.lexsort((fine.degree, component))
        begins = np.diff(component[order], prepend=-1) != 0
        start = np.maximum.accumulate(np.where(begins, np.arange(order.size), 0))
        begins |= (np.arange(order.size) - start) % PART_NODES == 0
        group = (np.cumsum(begins) - 1)[inverse_permutation(order)].astype(np.int32)
        m = int(np.count_nonzero(begins))
        parts = Level(
            _csr(np.zeros(0), np.zeros(0), np.zeros(m + 1)), _sums(group, fine.excess, m), component[order[begins]]
        )
        return cls([fine, parts], [group])

    @property
    def work(self) -> float:
        """The work of a step, relative to a step with Jacobi."""
        fine, *coarse, last = self.levels
        more = 3 * sum(level.size for level in coarse) + np.count_nonzero(last.degree) ** 2
        return 1 + more / (fine.size + 6 * fine.excess.size)

    def nested(self) -> list[Groups]:
        """Return for each coarse level the aggregate of each node of the finest level."""
        found = self.groups[:1]
        for group in self.groups[1:]:
            found.append(group[found[-1]])
        return found

    def ordered(self) -> tuple[IntArray, Hierarchy]:
        """Return an order and the hierarchy in it: aggregates are contiguous and near their neighbors.

        Within an aggregate, nodes are sorted by degree: rows of the same length are predicted well by the processor.
        """
        last = self.levels[-1]
        order = reverse_cuthill_mckee(last.weights, symmetric_mode=True)
        order = order[np.lexsort((last.component[order], last.degree[order] == 0))]
        levels, groups = [last.permuted(order)], list[Groups]()
        for level, group in zip(self.levels[-2::-1], self.groups[::-1], strict=True):
            parent = inverse_permutation(order)[group]
            order = np.lexsort((level.degree, parent))
            levels.insert(0, level.permuted(order))
            groups.insert(0, parent[order])
        return order, Hierarchy(levels, groups)

    def coarse(self) -> Coarse:
        """Return all levels but the first in the form that kernels take; the nodes of a group must be contiguous."""
        from askgraph.linalg.cg_kernels import Coarse

        fine, *levels = self.levels
        joint = Level(csr_array(block_diag([v.weights for v in levels])), np.concatenate([v.excess for v in levels]))
        Q = joint.matrix()
        begin, child, end = contiguous_children(self.groups, [v.excess.size for v in levels])
        component = np.append(np.flatnonzero(np.diff(levels[0].component, prepend=-1)), begin[1])
        tied = np.add.reduceat(_sums(self.groups[0], fine.degree > 0, begin[1]), component[:-1]) > 0
        total = np.where(tied, np.add.reduceat(levels[0].excess, component[:-1]), 1.0)
        Q = Q._replace(inverse=Q.inverse * (joint.degree > 0))
        U = np.uint64
        links = child.astype(U), end.astype(U), begin.astype(U), component.astype(U)
        return Coarse(*Q, *links, tied / _positive(total), levels[-1].dense())
