"""Q X = B for Q = L + δI by conjugate gradients, blocks of columns at a time.

The preconditioner is diag(Q)⁻¹ + P V Pᵀ + Σ_c 1_c (1_cᵀ Q 1_c)⁻¹ 1_cᵀ: V is a V-cycle on the graph of aggregates, the last term
exact on the constant of every component c. Only the first touches all nodes, so a step costs little more than a product with
Q, and 50 steps give 8 digits whatever the size and the weights. Where the graph mixes fast (power laws, many dimensions), V
gains nothing and is left out.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack
from scipy.sparse import block_diag, csr_array
from scipy.sparse.csgraph import connected_components, reverse_cuthill_mckee
from threadpoolctl import threadpool_limits

from askgraph.errors import ConvergenceError, EngineError
from askgraph.types import AnyArray, Array, IntArray

if TYPE_CHECKING:
    from askgraph.priors.cg_kernels import Coarse, Rows

Groups = NDArray[np.int32]

SMALL = 1_500  # nodes: below, a dense inverse costs less than compiling
WIDTH, FEW = 8, 3  # columns of a block; so few are faster one by one
STRONG = 0.25  # an edge weaker than this share of the strongest at either end does not bind an aggregate
SHRINKS = 10  # a graph whose aggregates make one so many times smaller has a use for them
MIXES = 16  # steps of Jacobi to three digits; with so few, aggregates would not pay
ROUNDS, STEPS = 10, 1_000  # the most that a solve may take; 2 and 50 are usual
EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class Level:
    """Q = Laplacian(weights) + diag(excess): kept apart, since deg + δ in one number rounds δ away."""

    weights: csr_array
    excess: Array

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
        return np.asarray(connected_components(self.weights, directed=False)[1])

    @property
    def size(self) -> int:
        """How many numbers it holds."""
        return int(self.weights.nnz + self.excess.size)

    def coarser(self) -> tuple[Groups, Level]:
        """Aggregates and the level they form; nodes without neighbors share one more, the last, so no node is without."""
        from askgraph.priors import cg_kernels as kernels

        W, n = self.weights, self.excess.size
        top, group = np.zeros(n), np.full(n, -1, dtype=np.int32)
        np.maximum.at(top, np.repeat(np.arange(n), self.degree), W.data)
        count = 1 + kernels.aggregate(W.indptr, W.indices, W.data, top, STRONG, group, np.zeros(n))
        group[group < 0] = count - 1
        end = np.append(0, np.cumsum(np.bincount(group, minlength=count)))
        node, weight = np.empty_like(W.indices), np.empty_like(W.data)
        first, slot, member = np.zeros(count + 1, dtype=np.int32), np.full(count, -1), np.argsort(group, kind="stable")
        m = kernels.contract(W.indptr, W.indices, W.data, group, member, end, slot, first, node, weight)
        return group, Level(_csr(weight[:m].copy(), node[:m].copy(), first), _sums(group, self.excess, count))

    def permuted(self, order: IntArray) -> Level:
        """With its nodes in another order."""
        W = self.weights[order]
        return Level(_csr(W.data, _inverted(order)[W.indices], W.indptr), self.excess[order])

    def rows(self) -> Rows:
        """As kernels take it."""
        from askgraph.priors.cg_kernels import Rows

        W, d = self.weights, self.diagonal
        inverse = np.divide(1.0, d, out=np.zeros_like(d), where=d > 0)
        return Rows(W.indptr.astype(np.uint64), W.indices.astype(np.uint32), W.data, self.excess, d, inverse)

    def inverse(self) -> Array:
        """A⁻¹ - Σ_c 1_c 1_cᵀ / E_c, E_c = 1_cᵀ A 1_c: what is left for a V-cycle when the constants are done with.

        With e = A 1_c, (A + s e eᵀ / E_c)⁻¹ = A⁻¹ - s/(1+s) 1_c 1_cᵀ / E_c: no eigenvalue is small there, so nothing cancels.
        """
        e, d, part = self.excess, self.diagonal, self.component
        E = _positive(_sums(part, e, part.max(initial=-1) + 1))
        s, same = _sums(part, d, E.size) / E, part[:, None] == part
        A = np.diag(d) - self.weights.toarray() + same * np.outer(e, e * (s / E)[part])
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
        left = _norms(r)
        far = np.flatnonzero(left > aim)
        if far.size and (left[far] <= aim[far] + 32 * EPS * _norms(self.diagonal[:, None] * x[:, far])).any():
            y = np.abs(x[:, far])
            explained = 16 * EPS * (self.diagonal[:, None] * y + self.weights @ y)
            left[far] = _norms(np.maximum(np.abs(r[:, far]) - explained, 0.0))
        return left


def _csr(weight: Array, node: AnyArray, first: AnyArray) -> csr_array:
    return csr_array((weight, node.astype(np.int32), first.astype(np.int32)), shape=(first.size - 1, first.size - 1))


def _sums(group: AnyArray, values: AnyArray, count: int) -> Array:
    return np.asarray(np.bincount(group, values, minlength=count), dtype=np.float64)


def _inverted(order: IntArray) -> Groups:
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
        """Components for aggregates: Jacobi, and the constants."""
        part, C = level.component, int(level.component.max()) + 1
        none = _csr(np.zeros(0), np.zeros(0), np.zeros(C + 1))
        return cls([fine, Level(none, _sums(part, level.excess, C))], [part[group]])

    @property
    def work(self) -> float:
        """Of a step, relative to one with Jacobi."""
        fine, *coarse, last = self.levels
        more = 3 * sum(level.size for level in coarse) + np.count_nonzero(last.degree) ** 2
        return 1 + more / (fine.size + 6 * fine.excess.size)

    def ordered(self) -> tuple[IntArray, Hierarchy]:
        """Aggregates contiguous and near their neighbors; within them by degree, as rows of one length mislead no branch."""
        last = self.levels[-1]
        order = reverse_cuthill_mckee(last.weights, symmetric_mode=True)
        order = order[np.argsort(last.degree[order] == 0, kind="stable")]
        levels, groups = [last.permuted(order)], list[Groups]()
        for level, group in zip(self.levels[-2::-1], self.groups[::-1], strict=True):
            parent = _inverted(order)[group]
            order = np.lexsort((level.degree, parent))
            levels.insert(0, level.permuted(order))
            groups.insert(0, parent[order])
        return order, Hierarchy(levels, groups)

    def system(self) -> System:
        """As kernels take it."""
        order, ordered = self.ordered()
        return System(order, ordered.levels[0], ordered.coarse())

    def coarse(self) -> Coarse:
        """All levels but the first; the nodes of a group must be contiguous."""
        from askgraph.priors.cg_kernels import Coarse

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


class System:
    """Q as kernels take it, in the order of nodes that suits them."""

    def __init__(self, order: IntArray, fine: Level, coarse: Coarse) -> None:
        self._order, self._place, self._fine, self._wide = order, _inverted(order), fine, (fine.rows(), coarse)

    @cached_property
    def _narrow(self) -> tuple[Any, ...]:
        return tuple(type(t)(*(a.astype(np.float32) if a.dtype == float else a for a in t)) for t in self._wide)

    def run(self, B: AnyArray, X: AnyArray, rtol: float, limit: int, alone: bool = False) -> tuple[int, Array]:
        """Improve X in place, blocks of columns in threads; most steps, and ‖b - Qx‖ / ‖b‖ of every column.

        Blocks do not depend on the number of cores, so results do not.
        """
        k = B.shape[1]
        full = 0 if alone else k - k % WIDTH if k % WIDTH <= FEW else k
        blocks = [slice(at, min(at + WIDTH, k)) for at in range(0, full, WIDTH)]
        blocks += [slice(at, at + 1) for at in range(full, k)]
        if len(blocks) == 1:
            return self._block(B, X, blocks[0], rtol, limit)
        with ThreadPoolExecutor(min(len(blocks), os.cpu_count() or 1) or 1) as pool:
            done = list(pool.map(lambda block: self._block(B, X, block, rtol, limit), blocks))
        return max([0, *(steps for steps, _ in done)]), np.concatenate([np.zeros(0), *(left for _, left in done)])

    def _block(self, B: AnyArray, X: AnyArray, cols: slice, rtol: float, limit: int) -> tuple[int, Array]:
        """Solve for the residual until it is small in every column, in float64 for one column, else in float32."""
        b, x = self._taken(B, cols), self._taken(X, cols)
        aim = rtol * (norm := _norms(b))
        r, left = self._settled(b, x, aim, flat=not x.any())
        steps, limit = 0, limit if len(norm) == 1 else limit // 4
        for _ in range(ROUNDS):
            if steps >= limit or not (left > aim).any():
                break
            scale = np.where(left > 0, left, 1.0)
            d, taken = self._iterated(r, scale, np.where(left > aim, 0.9 * aim / scale, np.inf), limit - steps)
            x += d * scale
            r, left = self._settled(b, x, aim)
            steps += taken
        count = cols.stop - cols.start
        X[:, cols] = x[:, :count].take(self._place, axis=0)
        return steps, _shares(left, norm)[:count]

    def _taken(self, A: AnyArray, cols: slice) -> Array:
        part = A[:, cols].take(self._order, axis=0)
        block = np.zeros((len(part), 1 if part.shape[1] == 1 else WIDTH))
        block[:, : part.shape[1]] = part
        return block

    def _iterated(self, r: Array, scale: Array, goal: Array, limit: int) -> tuple[AnyArray, int]:
        """Q d ≈ r / scale, and the steps that took; float32 is good for a few digits."""
        from askgraph.priors.cg_kernels import iterate

        (rows, coarse), digits = (self._wide, 1e-12) if r.shape[1] == 1 else (self._narrow, 3e-5)
        kind, one = rows.weight.dtype, (0,) * r.shape[1]
        part, (d, p, q) = np.empty(r.shape, kind), np.zeros((3, *r.shape), kind)
        low, high = np.zeros((2, coarse.end.size + 4, r.shape[1]), kind)
        factor, sums, goal = np.zeros((2, r.shape[1]), kind), np.zeros((4, r.shape[1])), np.maximum(goal, digits) ** 2
        np.divide(r, scale, out=part, casting="same_kind")
        return d, iterate(one, rows, coarse, part, d, p, q, low, high, factor, sums, goal, limit)

    def _settled(self, b: Array, x: Array, aim: Array, flat: bool = False) -> tuple[Array, Array]:
        """The residual and its norms, once x is moved along the constants to where they vanish from it."""
        from askgraph.priors.cg_kernels import settle

        r = np.empty_like(b)
        settle((0,) * b.shape[1], *self._wide, b, x, r, np.zeros((3, b.shape[1])), flat)
        return r, _norms(r) if flat else self._fine.left(r, x, aim)


def _norms(a: Array) -> Array:
    return np.asarray(np.sqrt(np.einsum("ij,ij->j", a, a)))


def _shares(a: Array, b: Array) -> Array:
    """a / b, or a where b is 0."""
    return np.divide(a, b, out=a.copy(), where=b != 0)


def _chosen(fine: Level) -> tuple[str, System]:
    """The preconditioner that takes less work, by count, to bring random signs to three digits."""
    group, level = fine.coarser()
    b = np.random.default_rng(0).choice([-1.0, 1.0], (fine.excess.size, 1))

    def steps(system: System, limit: int) -> int:
        taken, left = system.run(b, np.zeros_like(b), 1e-3, limit)
        return taken if left[0] <= 1e-3 else limit + 1

    plain = Hierarchy.constants(fine, group, level).system() if level.size * SHRINKS > fine.size else None
    if plain and steps(plain, MIXES) <= MIXES:
        return "jacobi", plain
    hierarchy = Hierarchy.multilevel(fine, group, level)
    system = hierarchy.system()
    if plain and steps(plain, most := int(hierarchy.work * steps(system, 10 * MIXES))) <= most:
        return "jacobi", plain
    return "multilevel", system


class Small:
    """The same in numpy, with a dense inverse of all of Q: little but refinement is left to do."""

    def __init__(self, fine: Level) -> None:
        W, nodes = fine.weights.tocoo(), np.arange(fine.excess.size)
        i, j, w = (a[W.row < W.col] for a in (W.row, W.col, W.data))
        edges = np.arange(w.size)
        ends = np.repeat([1.0, -1.0], w.size), (np.r_[edges, edges], np.r_[i, j])
        self._fine, self._inverse, self._excess = fine, fine.inverse(), fine.excess[:, None]
        self._difference, self._weight = csr_array(ends, shape=(w.size, nodes.size)), w[:, None]
        self._part = csr_array((np.ones(nodes.size), (fine.component, nodes)))

    def run(self, B: AnyArray, X: AnyArray, rtol: float, limit: int, alone: bool = False) -> tuple[int, Array]:
        """Like `System.run`."""
        b, x = B.astype(np.float64), X.astype(np.float64)
        norm, p, before = _norms(b), np.zeros_like(b), np.ones(b.shape[1])
        for steps in range(limit + 1):
            r = b - self._times(x)
            left = _shares(self._fine.left(r, x, rtol * norm), norm)
            if steps == limit or not (left > rtol).any():
                break
            z = self._inverse @ r + self._part.T @ ((self._part @ r) / (self._part @ self._excess))
            now = np.where(left > rtol, (r * z).sum(axis=0), 0.0)
            p = z + (steps > 0) * now / before * p
            x += _shares(now, (p * self._times(p)).sum(axis=0)) * p
            before = np.where(now > 0, now, 1.0)
        X[:] = x
        return steps, left

    def _times(self, x: Array) -> Array:
        """Qx by differences, like `multiply`."""
        return np.asarray(self._excess * x + self._difference.T @ (self._weight * (self._difference @ x)))


class Solver:
    """Solves with Q = L + δI, in which the rows of pinned nodes may be the identity's; disconnected graphs are legal.

    ``excess`` are the row sums of Q, where they are known better than Q can hold them. ``preconditioner`` is "multilevel" or
    "jacobi", whichever takes less work by count: no clock decides, so the same input gives the same result.

    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> Solver(csr_array([[2.0, -1.0], [-1.0, 2.0]])).solve(np.array([3.0, 0.0])).round(6).tolist()
    [2.0, 1.0]
    """

    preconditioner: str
    _system: System | Small

    def __init__(self, Q: csr_array, excess: Array | None = None) -> None:
        fine = Level.of(Q, excess)
        self.preconditioner, self._system = ("multilevel", Small(fine)) if fine.excess.size <= SMALL else _chosen(fine)

    def solve(self, b: AnyArray, rtol: float = 1e-8, start: Array | None = None) -> Array:
        """X with ‖Qx - b‖ ≤ rtol ‖b‖ for every column, checked in float64, or as near as float64 can hold x."""
        return self._solve(np.asarray(b, dtype=np.float64), rtol, start)

    def rough(self, b: AnyArray, rtol: float) -> NDArray[np.float32]:
        """The same for b and X in float32: probes and shortlists."""
        return self._solve(np.asarray(b, dtype=np.float32), rtol, None)

    def _solve(self, b: AnyArray, rtol: float, start: Array | None) -> AnyArray:
        B = np.ascontiguousarray(b).reshape(len(b), -1)
        X = np.zeros_like(B) if start is None else np.array(start, dtype=B.dtype, order="C").reshape(B.shape)
        steps, left = self._system.run(B, X, rtol, STEPS)
        bad = np.flatnonzero(~(left <= rtol))
        if bad.size:
            again = np.zeros((len(B), bad.size))
            steps, left = self._system.run(B[:, bad], again, rtol, STEPS, alone=True)
            X[:, bad] = again
        if not (left <= rtol).all():
            raise ConvergenceError(
                f"conjugate gradients stopped at a relative residual of {left.max():.1e} after {steps} steps, {rtol:g} was asked "
                'for: raise delta, narrow the range of the weights, or use engine="direct"'
            )
        return X.reshape(b.shape)
