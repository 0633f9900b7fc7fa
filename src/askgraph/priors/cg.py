"""Q X = B for Q = L + δI by conjugate gradients, many columns at a time, in float64 or float32.

Preconditioner: diag(Q)⁻¹, plus a V-cycle on a graph of aggregates about 20 times smaller, plus the exact inverse on the
constants of every component. Only the first touches all nodes, so a step costs little more than a product with Q. On graphs
that mix fast (power laws, many dimensions) the V-cycle gains nothing and is left out.
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

from askgraph.errors import ConvergenceError, EngineError
from askgraph.types import AnyArray, Array, IntArray

if TYPE_CHECKING:
    from askgraph.priors.cg_kernels import Coarse, Rows

Floats = NDArray[np.float32]
Groups = NDArray[np.int32]

SMALL = 1_500  # nodes: below, a dense inverse costs less than compiling
WIDTH, FEW = 8, 3  # columns of a block; a few are faster one by one
STRONG = 0.25  # an edge so much weaker than the strongest at either end does not bind an aggregate
SHRINKS = 10  # a graph whose aggregates make one so many times smaller has a use for them
MIXES = 16  # steps of Jacobi for three digits that no V-cycle would repay
EPS = np.finfo(np.float64).eps
ROUNDS, STEPS = 10, 2_000  # most that a solve may take; 2 and 50 are usual


@dataclass(frozen=True, eq=False)
class Level:
    """Q = Laplacian(weights) + diag(excess); kept apart, because deg + δ in one number rounds δ away."""

    weights: csr_array
    excess: Array

    @classmethod
    def of(cls, Q: csr_array, excess: Array | None) -> Level:
        """Q split; row sums from Q unless they are known better."""
        Q = csr_array(Q, dtype=np.float64)
        n = Q.shape[0]
        row = np.repeat(np.arange(n), np.diff(Q.indptr))
        off = (Q.indices != row) & (Q.data != 0)
        weight, row = -Q.data[off], row[off]
        first = np.append(0, np.cumsum(np.bincount(row, minlength=n)))
        if excess is None:
            excess = Q.diagonal() - np.bincount(row, weight, minlength=n)
        return cls(_csr(weight, Q.indices[off], first, n), np.asarray(excess, dtype=np.float64))

    @cached_property
    def degree(self) -> IntArray:
        """How many neighbors a node has."""
        return np.diff(self.weights.indptr)

    @cached_property
    def diagonal(self) -> Array:
        """diag(Q)."""
        return np.asarray(self.weights.sum(axis=1)).ravel() + self.excess

    @cached_property
    def component(self) -> Groups:
        """The component of each node."""
        return np.asarray(connected_components(self.weights, directed=False)[1])

    def merged(self, group: Groups, count: int) -> Level:
        """The level of these groups of nodes; group -1 leaves."""
        from askgraph.priors import cg_kernels as kernels

        W, end = self.weights, np.cumsum(np.bincount(group + 1, minlength=count + 1))
        member, slot, first = np.argsort(group, kind="stable"), np.full(count, -1), np.zeros(count + 1, dtype=np.int64)
        node, weight = np.empty_like(W.indices), np.empty_like(W.data)
        m = kernels.contract(W.indptr, W.indices, W.data, group, member, end, slot, first, node, weight)
        excess = np.bincount(group + 1, self.excess, minlength=count + 1)[1:]
        return Level(_csr(weight[:m].copy(), node[:m].copy(), first, count), excess)

    def coarser(self) -> tuple[Groups, Level]:
        """Aggregates and the level they form; a node without neighbors leaves."""
        from askgraph.priors import cg_kernels as kernels

        W, n = self.weights, self.excess.size
        top = np.zeros(n)
        top[self.degree > 0] = np.maximum.reduceat(W.data, W.indptr[:-1][self.degree > 0]) if W.nnz else 0.0
        group = np.full(n, -1, dtype=np.int32)
        count = kernels.aggregate(W.indptr, W.indices, W.data, top, STRONG, group, np.zeros(n))
        return group, self.merged(group, count)

    def permuted(self, order: IntArray) -> Level:
        """With nodes in another order."""
        W = self.weights[order]
        return Level(_csr(W.data, _inverted(order)[W.indices], W.indptr, order.size), self.excess[order])

    def rows(self) -> tuple[AnyArray, ...]:
        """The fields of kernels.Rows."""
        W, d = self.weights, self.diagonal
        return W.indptr.astype(np.uint64), W.indices.astype(np.uint32), W.data, self.excess, d, 1 / d

    @property
    def size(self) -> int:
        """Numbers stored."""
        return int(self.weights.nnz + self.excess.size)


def _inverted(order: IntArray) -> Groups:
    place = np.empty(order.size, dtype=np.int32)
    place[order] = np.arange(order.size, dtype=np.int32)
    return place


def _csr(weight: Array, node: AnyArray, first: AnyArray, n: int) -> csr_array:
    return csr_array((weight, node.astype(np.int32), first.astype(np.int32)), shape=(n, n))


def _with_rest(group: Groups, level: Level) -> tuple[Groups, Level]:
    """All nodes that left in one more group."""
    W, n = level.weights, level.excess.size
    wider = _csr(W.data, W.indices, np.append(W.indptr, W.nnz), n + 1)
    return np.where(group < 0, n, group).astype(np.int32), Level(wider, np.append(level.excess, 1.0))


def _check(E: Array) -> None:
    if not (E > 0).all():
        raise EngineError(
            "delta is lost in the rounding of the weights, so L + delta I is singular: raise delta, or scale the weights down"
        )


def _inverse(level: Level) -> Array:
    """A⁻¹ - Σ_c 1_c 1_cᵀ / E_c over components, E_c = 1_cᵀ A 1_c: what is left when the constants are taken care of.

    A + s e eᵀ / E_c, e = A 1_c, has the inverse A⁻¹ - s/(1+s) 1_c 1_cᵀ / E_c (Woodbury) and no small eigenvalue, so nothing
    cancels however small δ is.
    """
    e, part, d = level.excess, level.component, level.diagonal
    E = np.bincount(part, e)
    _check(E)
    lift = np.bincount(part, d) / E
    same = part[:, None] == part
    A = np.diag(d) - level.weights.toarray() + same * np.outer(e, e * (lift / E)[part])
    factor, failed = lapack.dpotrf(A, lower=True)
    if failed:
        return np.diag(1 / d)
    inverse = np.tril(lapack.dpotri(factor, lower=True)[0])
    return inverse + np.tril(inverse, -1).T - same * (1 / (E * (1 + lift)))[part]


def _dense(level: Level) -> Array:
    """The inverse on nodes with neighbors, which come first; zero rows fill it up to a multiple of four."""
    m = np.count_nonzero(level.degree)
    if not m:
        return np.zeros((0, 0))
    inverse = _inverse(Level(level.weights[:m, :m], level.excess[:m]))
    return np.vstack([inverse, np.zeros((-m % 4, m))])


def _totals(level: Level, real: IntArray) -> tuple[IntArray, Array]:
    """Where components begin, in order, and 1 / (1_cᵀ Q 1_c); 0 for those that hold none of the `real` nodes."""
    part = level.component
    start = np.append(np.flatnonzero(np.diff(part, prepend=-1)), part.size)
    E = np.add.reduceat(level.excess, start[:-1])
    held = np.logical_or.reduceat(np.isin(np.arange(part.size), real), start[:-1])
    _check(E[held])
    return start, np.where(held, 1 / np.where(held, E, 1.0), 0.0)


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """Levels from fine to coarse; groups[l] maps nodes of level l to nodes of level l + 1, or to none, -1."""

    levels: list[Level]
    groups: list[Groups]

    @classmethod
    def multilevel(cls, fine: Level, group: Groups, level: Level) -> Hierarchy:
        """Aggregates of aggregates, until a dense inverse is no more work than a product with Q."""
        levels, groups, most = [fine, level], [group], fine.size**0.5
        while np.count_nonzero(levels[-1].degree) > most:
            group, level = levels[-1].coarser()
            groups.append(group)
            levels.append(level)
        return cls(levels, groups)

    @classmethod
    def constants(cls, fine: Level, group: Groups, level: Level) -> Hierarchy:
        """The components as aggregates, which leaves Jacobi and the constants."""
        part, C = level.component, int(level.component.max()) + 1
        none = _csr(np.zeros(0), np.zeros(0), np.zeros(C + 1), C)
        return cls([fine, Level(none, np.bincount(part, level.excess))], [part[group]])

    @property
    def work(self) -> float:
        """Of a step, relative to a step with Jacobi."""
        last = np.count_nonzero(self.levels[-1].degree)
        fine = self.levels[0].size + 6 * self.levels[0].excess.size
        return 1 + (3 * sum(level.size for level in self.levels[1:-1]) + last**2) / fine

    def ordered(self) -> tuple[IntArray, Hierarchy]:
        """Every aggregate contiguous, neighbors near; within one, by degree: rows of one length cost no mispredicted branch."""
        last = self.levels[-1]
        order = reverse_cuthill_mckee(last.weights, symmetric_mode=True)
        order = order[np.argsort(last.degree[order] == 0, kind="stable")]
        levels, groups = [last.permuted(order)], list[Groups]()
        for level, group in zip(self.levels[-2::-1], self.groups[::-1], strict=True):
            parent = np.append(_inverted(order), -1)[group]
            order = np.lexsort((level.degree, np.where(parent < 0, order.size, parent)))
            levels.insert(0, level.permuted(order))
            groups.insert(0, parent[order])
        return order, Hierarchy(levels, groups)

    def compiled(self) -> System:
        """As the kernels take it."""
        from askgraph.priors.cg_kernels import Coarse, Rows

        order, ordered = self.ordered()
        (fine, *levels), groups = ordered.levels, ordered.groups
        begin = np.append(0, np.cumsum([level.excess.size for level in levels]))
        joint = Level(csr_array(block_diag([v.weights for v in levels])), np.concatenate([v.excess for v in levels]))
        sizes = [np.bincount(g[g >= 0], minlength=v.excess.size) for g, v in zip(groups, levels, strict=True)]
        end = np.concatenate([np.cumsum(s) + at for s, at in zip(sizes, (0, *begin), strict=False)])
        links = (end - np.concatenate(sizes), end, begin, *_totals(levels[0], np.unique(groups[0][fine.degree > 0])))
        coarse = Coarse(*joint.rows(), *(a.astype(np.uint64) for a in links[:4]), links[4], _dense(levels[-1]))
        return System(order, Rows(*fine.rows()), coarse._replace(inverse=coarse.inverse * (joint.degree > 0)))


class System:
    """Q as the kernels take it, in their order of nodes."""

    def __init__(self, order: IntArray, rows: Rows, coarse: Coarse) -> None:
        self._order, self._place = order, _inverted(order)
        self._wide = rows, coarse

    @cached_property
    def _narrow(self) -> tuple[Any, ...]:
        return tuple(type(t)(*(a.astype(np.float32) if a.dtype == float else a for a in t)) for t in self._wide)

    def run(self, B: AnyArray, X: AnyArray, rtol: float, limit: int, alone: bool = False) -> tuple[int, Array]:
        """Improve X in place, blocks of columns in threads; most steps, and ‖b - Qx‖ / ‖b‖ of every column.

        Blocks do not depend on the number of cores, so neither do results.
        """
        k = B.shape[1]
        full = 0 if alone else k - k % WIDTH if k % WIDTH <= FEW else k
        blocks = [slice(at, min(at + WIDTH, k)) for at in range(0, full, WIDTH)]
        blocks += [slice(at, at + 1) for at in range(full, k)]
        if len(blocks) == 1:
            return self._block(B, X, blocks[0], rtol, limit)
        with ThreadPoolExecutor(min(len(blocks), os.cpu_count() or 1)) as pool:
            done = list(pool.map(lambda block: self._block(B, X, block, rtol, limit), blocks))
        return max(steps for steps, _ in done), np.concatenate([left for _, left in done])

    def _block(self, B: AnyArray, X: AnyArray, cols: slice, rtol: float, limit: int) -> tuple[int, Array]:
        """Solve for the residual until it is small in every column."""
        b, x = self._taken(B, cols), self._taken(X, cols)
        norm = np.sqrt(np.einsum("ij,ij->j", b, b))
        r, left = self._settled(b, x, flat=not x.any())
        steps = 0
        for _ in range(ROUNDS):
            if steps >= limit or not (left > rtol * norm).any():
                break
            scale = np.where(left > 0, left, 1.0)
            goal = np.where(left > rtol * norm, 0.9 * rtol * norm / scale, np.inf)
            d, taken = self._iterated(r, scale, goal, limit - steps)
            x += d * scale
            r, left = self._settled(b, x)
            steps += taken
        count = cols.stop - cols.start
        X[:, cols] = x[:, :count].take(self._place, axis=0)
        return steps, _share(left, norm)[:count]

    def _taken(self, A: AnyArray, cols: slice) -> Array:
        part = A[:, cols].take(self._order, axis=0)
        if part.shape[1] in (1, WIDTH):
            return part.astype(np.float64)
        return np.pad(part.astype(np.float64), [(0, 0), (0, WIDTH - part.shape[1])])

    def _iterated(self, r: Array, scale: Array, goal: Array, limit: int) -> tuple[AnyArray, int]:
        """Q d ≈ r / scale: a column in float64; a block in float32, which is good for a few digits."""
        from askgraph.priors.cg_kernels import iterate

        (rows, coarse), digits = (self._wide, 1e-12) if r.shape[1] == 1 else (self._narrow, 3e-5)
        kind = rows.weight.dtype
        part, (d, p, q) = np.empty(r.shape, kind), np.zeros((3, *r.shape), kind)
        np.divide(r, scale, out=part, casting="same_kind")
        low, high = np.zeros((2, coarse.end.size + 4, r.shape[1]), kind)
        limits = np.maximum(goal, digits) ** 2, limit
        return d, iterate((0,) * r.shape[1], rows, coarse, part, d, p, q, low, high, *limits)

    def _settled(self, b: Array, x: Array, flat: bool = False) -> tuple[Array, Array]:
        """x moved along the constants to where it belongs; b - Qx and its norms."""
        from askgraph.priors.cg_kernels import settle

        r, sums = np.empty_like(b), np.zeros((3, b.shape[1]))
        settle((0,) * b.shape[1], *self._wide, b, x, r, sums, flat)
        return r, _left(sums[0], sums[1])


def _share(left: Array, norm: Array) -> Array:
    return np.divide(left, norm, out=left.copy(), where=norm != 0)


def _left(square: Array, held: Array) -> Array:
    """√square, or 0 where the residual is as small as rounding x alone can make it, ‖r‖ ≤ 16 ε ‖Dx‖."""
    return np.where(square <= (16 * EPS) ** 2 * held, 0.0, np.sqrt(square))


def _chosen(fine: Level) -> tuple[str, System]:
    """The preconditioner that takes less work, by count, to solve for random signs to three digits."""
    group, level = _with_rest(*fine.coarser())
    b = np.random.default_rng(0).choice([-1.0, 1.0], (fine.excess.size, 1))

    def steps(system: System, limit: int) -> int:
        taken, left = system.run(b, np.zeros_like(b), 1e-3, limit)
        return taken if left[0] <= 1e-3 else limit + 1

    plain = Hierarchy.constants(fine, group, level).compiled() if level.size * SHRINKS > fine.size else None
    if plain and steps(plain, MIXES) <= MIXES:
        return "jacobi", plain
    hierarchy = Hierarchy.multilevel(fine, group, level)
    system = hierarchy.compiled()
    if plain and steps(plain, most := int(hierarchy.work * steps(system, 10 * MIXES))) <= most:
        return "jacobi", plain
    return "multilevel", system


class Small:
    """The same in numpy, with a dense inverse of the whole graph: little but refinement is left to do."""

    def __init__(self, fine: Level) -> None:
        n = fine.excess.size
        self._level, self._inverse = fine, _inverse(fine)
        self._part = csr_array((np.ones(n), (fine.component, np.arange(n))))
        self._total = 1 / (self._part @ fine.excess)[:, None]

    def run(self, B: Array, X: Array, rtol: float, limit: int, alone: bool = False) -> tuple[int, Array]:
        """Like `System.run`."""
        norm, p, before = np.linalg.norm(B, axis=0), np.zeros_like(B), np.zeros(B.shape[1])
        for steps in range(limit + 1):
            r = B - self._times(X)
            left = _share(_left((r**2).sum(axis=0), ((self._level.diagonal[:, None] * X) ** 2).sum(axis=0)), norm)
            if steps == limit or not (left > rtol).any():
                break
            z = self._inverse @ r + self._part.T @ (self._total * (self._part @ r))
            now = np.where(left > rtol, (r * z).sum(axis=0), 0.0)
            p = z + _ratio(now, before) * p
            X += _ratio(now, (p * self._times(p)).sum(axis=0)) * p
            before = now
        return steps, left

    def _times(self, x: Array) -> Array:
        """Qx, where L never sees the mean of a component."""
        mean = self._part.T @ ((self._part @ x) / self._part.sum(axis=1)[:, None])
        y, e, d = x - mean, self._level.excess[:, None], self._level.diagonal[:, None]
        return np.asarray(d * y - self._level.weights @ y + e * mean)


def _ratio(a: Array, b: Array) -> Array:
    """a / b, 0 where b is not positive."""
    return np.divide(a, b, out=np.zeros_like(a), where=b > 0)


class Solver:
    """Solves with Q = L + δI, the rows of pinned nodes replaced by the identity's; disconnected graphs are legal.

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
        self.preconditioner, self._system = ("multilevel", Small(fine)) if len(fine.excess) <= SMALL else _chosen(fine)

    def solve(self, b: AnyArray, rtol: float = 1e-8, start: Array | None = None) -> Array:
        """X with ‖Qx - b‖ ≤ rtol ‖b‖ for every column, checked in float64, or as near as float64 can hold x."""
        return self._solve(np.asarray(b, dtype=np.float64), rtol, start)

    def rough(self, b: AnyArray, rtol: float) -> Floats:
        """The same in float32, for probes and shortlists."""
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
                f"conjugate gradients stopped at a relative residual of {left.max():.1e} after {steps} steps; {rtol:g} was "
                'asked for: raise delta, narrow the range of the weights, or use engine="direct"'
            )
        return X.reshape(b.shape)
