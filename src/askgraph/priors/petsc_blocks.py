"""Conjugate gradients for eight columns at a time over the rows of many processes, with the kernels of `iterative`.

The preconditioner is diag(Q)⁻¹ + P V Pᵀ + constants, as in `askgraph.linalg.cg`. Aggregates do not cross ranks; the graph of
aggregates is gathered, and every rank runs the same W-cycle on it. Where it would be too large for that, aggregates are
aggregated again, and each level between adds P_l diag(Q_l)⁻¹ P_lᵀ. A step fetches the halo once, gathers once and sums twice.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from askgraph.distributed.coarsening import Rows, coarsened
from askgraph.distributed.ranks import Ranks
from askgraph.distributed.sharded_graph import Halo, ShardedGraph
from askgraph.linalg.multigrid import Groups, Hierarchy, Level, inverse_permutation
from askgraph.priors.precision import Precision
from askgraph.support.memory import zeros
from askgraph.types import AnyArray, Array, IntArray

WIDTH = 8  # columns of a block
LANES = (0,) * WIDTH
STEPS = 250  # most steps of a block; 20 are usual
ROUNDS = 10  # most rounds of refinement; 2 are usual
FLOAT32_FROM = 1e-4  # relative residuals from here on are reached in float32 alone
DIGITS = 3e-5  # relative residual that conjugate gradients reach in float32
AIM = 0.9  # times the residual that is asked for, since the one that is carried along drifts from the true one
FAR = 2.0  # residual that no column of norm 1 has: a column with this goal is left as it is


class Solved(NamedTuple):
    """Columns that were solved for, one row per node of this process."""

    x: AnyArray  # or D⁻¹W x, where that is asked for
    energy: Array  # xᵀQx of each column
    left: Array  # ‖b - Qx‖ / ‖b‖ of each column


class Blocks:
    """Solves with Q for blocks of up to eight columns that are 0 at pinned nodes; all processes call a method together."""

    def __init__(self, precision: Precision, graph: ShardedGraph, entries: csr_array, nested: Nested) -> None:
        from askgraph.linalg.cg_kernels import PREFETCH_ENTRIES, Matrix

        self._graph, self._ranks, self._nested, self._place = graph, graph.ranks, nested, nested.place
        self._free = (~precision.pinned).astype(float)[:, None]
        self._diagonal = (graph.degrees + (precision.delta + precision.extra))[:, None]
        n, order, excess = graph.n_rows, nested.order, nested.fine.excess[nested.order].astype(np.float32)
        W, diagonal = entries[order], nested.fine.diagonal[order].astype(np.float32)
        columns = np.r_[self._place, n + np.arange(graph.beyond.size)].astype(np.uint32)[W.indices]
        columns = np.pad(columns, (0, PREFETCH_ENTRIES))
        first, weight = W.indptr.astype(np.uint64), W.data.astype(np.float32)
        self._Q = Matrix(first, columns, weight, excess, diagonal, 1 / diagonal)
        self._halo = Halo(self._ranks, graph.halo.owner, graph.halo.fetched(self._place.astype(np.int64)), n)

    @classmethod
    def of(cls, precision: Precision, graph: ShardedGraph, plain: bool) -> Blocks | None:
        """Return the solver, or None where no rank could hold the graph of aggregates; ``plain`` is for graphs that mix fast."""
        entries, excess = _entries(precision, graph)
        columns = graph.columns[entries.indices]
        shape = (graph.n_rows, graph.n_nodes)
        fine = Rows(graph.ranks, csr_array((entries.data, columns, entries.indptr), shape=shape), excess)
        made = coarsened(fine, plain)
        return None if made is None else cls(precision, graph, entries, Nested(*made))

    def solve(self, B: AnyArray, rtol: float, smooth: bool = False) -> Solved:
        """Return X, or D⁻¹W X if ``smooth``, as far as it gets towards ‖Qx - b‖ ≤ rtol ‖b‖; ``left`` says how far that is."""
        parts = [self._block(B[:, at : at + WIDTH], rtol, smooth) for at in range(0, B.shape[1], WIDTH)]
        return Solved(*(np.concatenate(part, axis=-1) for part in zip(*parts, strict=True)))

    def _block(self, B: AnyArray, rtol: float, smooth: bool) -> Solved:
        if rtol >= FLOAT32_FROM and ((found := self._rough(B, rtol, smooth)).left <= rtol).all():
            return found
        return self._refined(B, rtol, smooth)

    def _rough(self, B: AnyArray, rtol: float, smooth: bool) -> Solved:
        """Return a block of X, solved for in float32; its residual is computed in float32 too."""
        from askgraph.linalg.cg_kernels import residual_and_smooth

        count, b = B.shape[1], self._filled(B)
        norm = self._norms(b)
        b /= np.where(norm > 0, norm, 1.0).astype(np.float32)
        x, (r, y), sums = self._iterated(b, np.full(WIDTH, AIM * rtol)), np.empty((2, *b.shape), np.float32), _sums()
        self._fetch(x, len(b))
        residual_and_smooth(LANES, self._Q, b, x, r, y, sums)
        left, _, energy, _ = self._ranks.sum(sums)[:, :count]
        some = (y if smooth else x).take(self._place, axis=0)[:, :count]
        X = some * norm[:count]  # in float64, or x were rounded again
        return Solved(X, energy * norm[:count] ** 2, np.sqrt(left))

    def _refined(self, B: AnyArray, rtol: float, smooth: bool) -> Solved:
        """Return a block of X, corrected in float32 by residuals in float64, until rtol is reached or a round gains too little."""
        R = B = B.astype(np.float64, copy=False)
        X, norm, count = np.zeros_like(B), self._norms(B), B.shape[1]
        left, aim, goal = norm, rtol * norm, np.full(WIDTH, FAR)
        for _ in range(ROUNDS):
            if not (left > aim).any():
                break
            scale, far = np.where(left > 0, left, 1.0), left > aim
            goal[:count] = np.where(far, np.maximum(AIM * aim / scale, DIGITS), FAR)
            d = self._iterated(self._filled(R / scale), goal).take(self._place, axis=0)
            X = X + d[:, :count] * np.where(far, scale, 0.0)  # no column depends on the others of its block
            R = B - self._free * (self._diagonal * X - self._graph.neighbors(X))
            before, left = left, self._norms(R)
            if not (left <= np.maximum(0.5 * before, aim)).all():
                break
        energy, left = self._dots(X, B - R), np.divide(left, norm, out=left.copy(), where=norm > 0)
        return Solved(X - (B - R) / self._diagonal if smooth else X, energy, left)

    def _iterated(self, b: AnyArray, goal: Array) -> AnyArray:
        """Return x with ‖Qx - b‖ ≤ goal, one row per row of b and room for the halo."""
        from askgraph.linalg import cg_kernels as kernels

        Q, links, coarse, none = self._Q, self._nested.links, self._nested.coarse, np.uint64(0)
        work, gathered = self._work(b)
        groups, steps, sound, goal = np.uint64(len(work.low)), 0, True, goal**2
        while True:
            kernels.piece_restrict(LANES, Q, links, work, work.sums, none, groups)
            lows = self._nested.restricted(work, gathered)
            work.sums[:2] = self._ranks.sum(work.sums[:2])
            go_on = sound and steps < STEPS
            if not (go_on and kernels.choose_direction_outside(LANES, coarse, gathered, goal, steps)):
                break
            self._nested.prolong(work, gathered, lows)
            kernels.piece_update(LANES, Q, links, work, work.sums, none, groups)
            self._fetch(work.p, len(b))
            kernels.piece_multiply(LANES, Q, work.p, work.q, work.sums, none, np.uint64(len(b)))
            work.sums[2] = self._ranks.sum(work.sums[2])
            sound = kernels.choose_step_outside(LANES, work, goal)
            steps += 1
        kernels.piece_update(LANES, Q, links, work, work.sums, none, groups)
        self._nested.add_constants(b, Q.excess, work.x)
        return work.x

    def _fetch(self, x: AnyArray, rows: int) -> None:
        """Fetch the halo of x, behind the rows of this rank."""
        if self._ranks.size > 1:
            self._halo.fetch(x[:rows], x[rows:])

    def _work(self, b: AnyArray) -> tuple[Any, Any]:
        """Return the work arrays of conjugate gradients, those of the gathered level apart; both share their sums."""
        from askgraph.linalg.cg_kernels import Work

        n, h, f32 = len(b), self._graph.beyond.size, np.float32
        x, p = (zeros((n + h, WIDTH), f32) for _ in range(2))
        low, high = np.zeros((2, self._nested.links.child.size, WIDTH), f32)
        work = Work(b.copy(), x, p, zeros(b.shape, f32), low, high, np.zeros((2, WIDTH), f32), _sums(), _sums())
        low, high = np.zeros((2, self._nested.coarse.end.size + 4, WIDTH), f32)
        return work, work._replace(low=low, high=high)

    def _filled(self, B: AnyArray) -> AnyArray:
        """Return columns with their rows in the order of the kernels, padded with zeros to a block."""
        block = zeros((len(B), WIDTH), np.float32)
        block[:, : B.shape[1]] = B.take(self._nested.order, axis=0)
        return block

    def _dots(self, A: AnyArray, B: AnyArray) -> Array:
        return self._ranks.sum(np.einsum("ij,ij->j", A, B, dtype=np.float64))

    def _norms(self, A: AnyArray) -> Array:
        return np.asarray(np.sqrt(self._dots(A, A)))


class Between(NamedTuple):
    """The rows of a level whose aggregates are contiguous; rows without neighbors, which have no aggregate, come last."""

    begin: IntArray  # where the rows of each aggregate begin
    size: IntArray  # how many there are
    inverse: AnyArray  # 1 / diag(Q) as one column

    def sums(self, x: AnyArray, kind: Any) -> AnyArray:
        """Return the sums of x over each aggregate."""
        if not self.begin.size:
            return np.zeros((0, x.shape[1]), kind)
        return np.asarray(np.add.reduceat(x[: self.begin[-1] + self.size[-1]], self.begin, axis=0, dtype=kind))

    def spread(self, x: AnyArray, out: AnyArray) -> None:
        """Add the number of each aggregate to all of its rows."""
        out[: self.size.sum()] += np.repeat(x, self.size, axis=0)


class Nested:
    """Aggregates on this rank, level after level, and the last level gathered, in the form that kernels take."""

    def __init__(self, levels: list[Rows], groups: list[Groups]) -> None:
        last, self.fine = levels[-1], levels[0]
        self._ranks: Ranks = last.ranks
        order, hierarchy = _hierarchy(last.gathered(), int(self._ranks.max(np.array(self.fine.weights.nnz))))
        mine = inverse_permutation(order)[last.start : last.start + last.excess.size]
        above, self._mine = inverse_permutation(np.argsort(mine)), np.sort(mine)
        self._order = inverse_permutation(self._ranks.allgather(self._mine))  # of the rows that ranks pass
        self._counts = [WIDTH * count for count in self._ranks.comm.allgather(mine.size)]
        between = list[Between]()
        for rows, group in zip(levels[-2::-1], groups[::-1], strict=True):
            parent = np.append(above, above.size)[group]
            self.order = np.lexsort((rows.degree, parent))
            count = np.bincount(parent, minlength=above.size + 1)[:-1]
            inverse = 1 / rows.diagonal[self.order, None]
            between.insert(0, Between(np.cumsum(count) - count, count, inverse.astype(np.float32)))
            above = inverse_permutation(self.order)
        self.place, (self._first, *self._between) = above, between
        self.coarse = _narrow(hierarchy)
        begin = np.append(self._first.begin, self._first.size.sum()).astype(np.uint64)
        end = np.append(begin[1:], np.uint64(above.size))
        self.links = self.coarse._replace(child=begin, end=end)

    def restricted(self, work: Any, gathered: Any) -> list[AnyArray]:
        """Gather the residual of the last level; return those of the levels before, whose rᵀD⁻¹r is added to sums[1]."""
        lows = [work.low[:-1]]
        for level in self._between:
            work.sums[1] += np.einsum("ij,ij,ik->j", lows[-1], lows[-1], level.inverse, dtype=np.float64)
            lows.append(level.sums(lows[-1], np.float32))
        gathered.low[: self._order.size] = self._allgather(lows[-1])
        return lows

    def prolong(self, work: Any, gathered: Any, lows: list[AnyArray]) -> None:
        """Set the correction of the aggregates of rows from those of all levels above."""
        high = gathered.high.take(self._mine, axis=0)
        for level, low in zip(self._between[::-1], lows[-2::-1], strict=True):
            below = level.inverse * low
            level.spread(high, below)
            high = below
        work.high[:-1] = high

    def add_constants(self, b: AnyArray, excess: AnyArray, x: AnyArray) -> None:
        """Move x along the constant of every component, so that the residual has none: a solve in float32 drifts there."""
        lows = [self._first.sums(b - excess[:, None] * x[: len(b)], np.float64)]
        for level in self._between:
            lows.append(level.sums(lows[-1], np.float64))
        component = self.coarse.component.astype(np.int64)
        shift = np.add.reduceat(self._allgather(lows[-1]), component[:-1], axis=0) * self.coarse.total[:, None]
        high = np.repeat(shift, np.diff(component), axis=0)[self._mine]
        for level, low in zip(self._between[::-1], lows[-2::-1], strict=True):
            below = level.inverse * low
            below[: level.size.sum()] = 0.0
            level.spread(high, below)
            high = below
        self._first.spread(high.astype(np.float32), x)

    def _allgather(self, x: AnyArray) -> AnyArray:
        """Return the rows of the last level, of which each rank passes its own, in the order of the kernels."""
        every = np.empty((self._order.size, WIDTH), x.dtype)
        self._ranks.comm.Allgatherv(np.ascontiguousarray(x), [every, self._counts])
        return every.take(self._order, axis=0)


def _sums() -> Array:
    return np.zeros((4, WIDTH))


def _entries(precision: Precision, graph: ShardedGraph) -> tuple[csr_array, Array]:
    """Return the weights of this rank between free nodes, columns like those of the graph, and the excess of each row."""
    W, pinned = graph.local, precision.pinned.astype(float)
    every = np.concatenate([pinned, graph.halo.fetched(pinned)])
    kept = (np.repeat(pinned, np.diff(W.indptr)) == 0) & (every[W.indices] == 0)
    first = np.append(0, np.cumsum(kept))[W.indptr]
    entries = csr_array((W.data[kept], W.indices[kept], first), shape=W.shape)
    return entries, np.where(pinned > 0, 1.0, precision.delta + precision.extra + W @ every)


def _hierarchy(last: Level, entries: int) -> tuple[IntArray, Hierarchy]:
    """Return an order of the gathered level, and its hierarchy: a copy of itself is the finest level, the last one is dense.

    A dense inverse is no more work than a product with the ``entries`` of a rank.
    """
    levels, groups = [last, last], [np.arange(last.excess.size, dtype=np.int32)]
    while np.count_nonzero(levels[-1].degree) > entries**0.5:
        group, coarser = levels[-1].coarser()
        levels.append(coarser)
        groups.append(group)
    return Hierarchy(levels, groups).ordered()


def _narrow(hierarchy: Hierarchy) -> Any:
    """Return the coarse levels in float32. Each gathered component has edges, so all constants are solved for."""
    coarse, gathered = hierarchy.coarse(), hierarchy.levels[1]
    total = np.add.reduceat(gathered.excess, coarse.component[:-1].astype(np.int64))
    coarse = coarse._replace(total=1 / total)
    return type(coarse)(*(a.astype(np.float32) if a.dtype == float else a for a in coarse))
