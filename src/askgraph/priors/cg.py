"""Q X = B for Q = L + δI by conjugate gradients, blocks of columns at a time.

The preconditioner is diag(Q)⁻¹ + P V Pᵀ + Σ_c 1_c (1_cᵀ Q 1_c)⁻¹ 1_cᵀ: V is a V-cycle on the graph of aggregates, the last term
exact on the constant of every component c. Only the first touches all nodes, so a step costs little more than a product with
Q, and 50 steps give 8 digits whatever the size and the weights. Where the graph mixes fast (power laws, many dimensions), V
gains nothing and is left out.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from askgraph.errors import ConvergenceError
from askgraph.priors.levels import Groups, Hierarchy, Level, inverted, norms
from askgraph.room import zeros
from askgraph.types import AnyArray, Array, IntArray

Sides = Callable[[slice], AnyArray]  # right-hand sides by column

SMALL = 1_500  # nodes: below, a dense inverse costs less than compiling
WIDTH, FEW = 8, 3  # columns of a block; so few are faster one by one
SHRINKS = 10  # a graph whose aggregates make one so many times smaller has a use for them
MIXES = 16  # steps of Jacobi to three digits; with so few, aggregates would not pay
PIECES, SPLIT_FROM = 4, 50_000  # in which the rows of one column are shared among threads; nodes
SCATTER_FROM = 300_000  # nodes: a column of fewer stays in cache
ROUNDS, STEPS = 10, 1_000  # the most that a solve may take; 2 and 50 are usual
NARROW, WIDE = 3e-5, 1e-12  # what conjugate gradients reach in float32 and in float64


class System:
    """Q as kernels take it, in the order of nodes that suits them."""

    def __init__(self, hierarchy: Hierarchy, mixes: bool) -> None:
        order, ordered = hierarchy.ordered()
        self._scatters = mixes and len(order) >= SCATTER_FROM
        self._order, self._place, self._fine = order, inverted(order), ordered.levels[0]
        self._wide = self._fine.rows(), ordered.coarse()
        self.nested = hierarchy.nested()

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
        split = not alone and len(self._place) >= SPLIT_FROM
        done = _in_threads(lambda block: self._block(B, X, block, rtol, limit, split), blocks)
        return max([0, *(steps for steps, _ in done)]), np.concatenate([np.zeros(0), *(left for _, left in done)])

    def rough(self, sides: Sides, k: int, rtol: float, smooth: bool, X: AnyArray, tick: Callable[[], None]) -> Array:
        """The same into X, all in float32, or D⁻¹W X; ‖b - Qx‖ / ‖b‖ as float32 sees it."""
        width = WIDTH if k > WIDTH else WIDTH // 2

        def solve(cols: slice) -> Array:
            left = self._rough_block(sides, cols, rtol, smooth, X, width)
            tick()
            return left

        blocks = [slice(at, min(at + width, k)) for at in range(0, k, width)]
        return np.concatenate([np.zeros(0), *_in_threads(solve, blocks)])

    def diagonal(self, nodes: IntArray, rtol: float) -> Array:
        """(Q⁻¹)_ii at these nodes, to about rtol², in float32; nan where that was not enough."""
        width = WIDTH if nodes.size > WIDTH else WIDTH // 2  # two threads for a few columns
        blocks = [slice(at, min(at + width, nodes.size)) for at in range(0, nodes.size, width)]
        parts = _in_threads(lambda cols: self._diagonal_block(self._place[nodes[cols]], rtol, width), blocks)
        return np.concatenate([np.zeros(0), *parts])

    def _diagonal_block(self, places: IntArray | Groups, rtol: float, width: int) -> Array:
        from askgraph.priors import cg_kernels as kernels

        (rows, coarse), one, at = self._narrow, (0,) * width, np.arange(places.size)
        b, goal = zeros((len(self._place), width), np.float32), np.full(width, (0.9 * rtol) ** 2)
        b[places, at] = 1.0
        mass = np.zeros((len(coarse.total), width))
        kernels.masses(one, coarse, b, mass)
        work = self._work(b, coarse)
        kernels.balance(one, rows, coarse, mass, work.x, work.r)
        kernels.iterate(one, rows, coarse, work, goal, STEPS // 4)
        kernels.balance(one, rows, coarse, mass, work.x, work.r)
        reached = work.sums[0, : places.size] <= goal[: places.size]
        return np.where(reached, work.x[places, at].astype(np.float64), np.nan)

    def smoothed(self, X: AnyArray) -> Array:
        """D⁻¹W X."""
        return self._fine.smoothed(X.take(self._order, axis=0)).take(self._place, axis=0)

    def _rough_block(self, sides: Sides, cols: slice, rtol: float, smooth: bool, X: AnyArray, width: int) -> Array:
        from askgraph.priors import cg_kernels as kernels

        rows, coarse = self._narrow
        b = _block(sides(cols), self._order, width, np.float32)
        norm = norms(b)
        b /= np.where(norm > 0, norm, 1.0).astype(np.float32)
        one, work, mass = (0,) * width, self._work(b.copy(), coarse), np.zeros((len(coarse.total), width))
        kernels.masses(one, coarse, b, mass)
        kernels.balance(one, rows, coarse, mass, work.x, work.r)
        kernels.iterate(one, rows, coarse, work, np.full(width, (0.9 * rtol) ** 2), STEPS // 4)
        kernels.balance(one, rows, coarse, mass, work.x, work.r)
        kernels.smoothed(one, rows, b, work.x, work.r, work.p, work.sums)
        count, result = cols.stop - cols.start, work.p if smooth else work.x
        result *= norm.astype(np.float32)
        X[:, cols] = result[:, :count].take(self._place, axis=0)
        return np.asarray(np.sqrt(work.sums[0, :count]))

    def _block(self, B: AnyArray, X: AnyArray, cols: slice, rtol: float, limit: int, split: bool) -> tuple[int, Array]:
        """Solve for the residual until it is small in every column."""
        width = 1 if cols.stop - cols.start == 1 else WIDTH
        split = split and width == 1
        b, x = (_block(A[:, cols], self._order, width, np.float64) for A in (B, X))
        aim = rtol * (norm := norms(b))
        r, left = self._settled(b, x, aim, split)
        steps, limit = 0, limit if width == 1 else limit // 4
        for _ in range(ROUNDS):
            if steps >= limit or not (left > aim).any():
                break
            scale = np.where(left > 0, left, 1.0)
            goal = np.where(left > aim, 0.9 * aim / scale, np.inf)
            d, taken = self._iterated(r, scale, goal, limit - steps, split)
            x += d * scale
            r, left = self._settled(b, x, aim, split)
            steps += taken
        count = cols.stop - cols.start
        X[:, cols] = x[:, :count].take(self._place, axis=0)
        return steps, _shares(left, norm)[:count]

    def _iterated(self, r: Array, scale: Array, goal: Array, limit: int, split: bool) -> tuple[AnyArray, int]:
        """Q d ≈ r / scale, and the steps that took: in float64 for one column, else in float32, good for a few digits."""
        from askgraph.priors import cg_kernels as kernels

        precise = r.shape[1] == 1 and not split
        (rows, coarse), digits = (self._wide, WIDE) if precise else (self._narrow, NARROW)
        part = np.empty(r.shape, rows.weight.dtype)
        np.divide(r, scale, out=part, casting="same_kind")
        work, goal, one = self._work(part, coarse), np.maximum(goal, digits) ** 2, (0,) * r.shape[1]
        iterate = self._in_pieces if split else kernels.iterate
        return work.x, iterate(one, rows, coarse, work, goal, limit)

    def _in_pieces(self, one: Any, rows: Any, coarse: Any, work: Any, goal: Array, limit: int) -> int:
        """`iterate`, its rows shared among threads; the pieces do not depend on the number of cores."""
        from askgraph.priors import cg_kernels as kernels

        parts, steps, sound = np.zeros((PIECES, *work.sums.shape)), 0, True
        (groups, nodes), numbers = self._pieces, [np.uint64(i) for i in range(PIECES + 1)]
        workers = min(PIECES, os.cpu_count() or 1)
        with ThreadPoolExecutor(workers) as pool:

            def each(kernel: Callable[..., None], ends: list[Any], *args: Any) -> None:
                left = iter(range(PIECES))

                def share() -> None:
                    for i in left:
                        kernel(one, rows, *args, parts[i], ends[i], ends[i + 1])

                others = [pool.submit(share) for _ in range(1, workers)]
                share()
                for other in others:
                    other.result()
                work.sums[:3] = parts[:, :3].sum(axis=0)

            while True:
                each(kernels.piece_down, groups, coarse, work)
                if not (sound and steps < limit and kernels.between_down(one, coarse, work, goal, steps)):
                    break
                each(kernels.piece_on, groups, coarse, work)
                if self._scatters:
                    each(kernels.piece_scattered, numbers, self._scattered, work.p, work.q)
                else:
                    each(kernels.piece_times, nodes, work.p, work.q)
                sound = kernels.between_times(one, work, goal)
                steps += 1
            each(kernels.piece_on, groups, coarse, work)
        return steps

    @cached_property
    def _pieces(self) -> tuple[list[Any], list[Any]]:
        """Where pieces begin and end, in aggregates and in nodes: about as much work in each."""
        rows, coarse = self._wide
        end = coarse.end[: coarse.level[1]]
        work = (rows.first[end] + 4 * end).astype(np.float64)
        cuts = np.searchsorted(work, work[-1] * np.arange(1, PIECES) / PIECES)
        groups = np.concatenate([[0], cuts, [end.size]]).astype(np.uint64)
        return list(groups), list(np.append(0, end)[groups].astype(np.uint64))

    @cached_property
    def _scattered(self) -> Any:
        """Entries for single columns where neighbors lie anywhere: 17 to 32 sections of columns."""
        from askgraph.priors.cg_kernels import Scattered

        (rows, _), begin = self._narrow, np.array(self._pieces[1])
        size, n = int(rows.first[-1]), len(self._place)
        node, row = rows.node[:size], np.repeat(np.arange(n, dtype=np.uint32), np.diff(rows.first.astype(np.int64)))
        piece = np.repeat(np.arange(PIECES, dtype=np.uint16), np.diff(rows.first[begin].astype(np.int64)))
        order = np.argsort(64 * piece + (node >> (n.bit_length() - 5)).astype(np.uint16), kind="stable")
        return Scattered(rows.first[begin], begin, row[order], node[order], rows.weight[order])

    def _work(self, r: AnyArray, coarse: Any) -> Any:
        """r, and the rest of what conjugate gradients need, at 0."""
        from askgraph.priors.cg_kernels import Work

        k, kind = r.shape[1], r.dtype
        x, p, q = (zeros(r.shape, kind) for _ in range(3))
        low, high = np.zeros((2, coarse.end.size + 4, k), kind)
        return Work(r, x, p, q, low, high, np.zeros((2, k), kind), np.zeros((4, k)))

    def _settled(self, b: Array, x: Array, aim: Array, split: bool) -> tuple[Array, Array]:
        """The residual and its norms, once x is moved along the constants to where they vanish from it."""
        from askgraph.priors import cg_kernels as kernels

        (rows, coarse), one, r = self._wide, (0,) * b.shape[1], b.copy()
        mass, flat = np.zeros((len(coarse.total), b.shape[1])), not x.any()
        kernels.masses(one, coarse, b, mass)
        kernels.balance(one, rows, coarse, mass, x, r)
        if flat:
            return r, norms(r)
        ends = self._pieces[1] if split else self._pieces[1][:: len(self._pieces[1]) - 1]
        none = np.zeros((4, b.shape[1]))
        _in_threads(lambda i: kernels.residual(one, rows, b, x, r, none.copy(), *ends[i : i + 2]), range(len(ends) - 1))
        return r, self._fine.left(r, x, aim)


def _in_threads(function: Callable[[Any], Any], parts: Sequence[Any]) -> list[Any]:
    if len(parts) == 1:
        return [function(parts[0])]
    with ThreadPoolExecutor(min(len(parts), os.cpu_count() or 1) or 1) as pool:
        try:
            return list(pool.map(function, parts))
        except BaseException:  # an interrupt, too, waits for what runs and not for what is queued
            pool.shutdown(cancel_futures=True)
            raise


def _block(part: AnyArray, order: IntArray | Groups, width: int, kind: Any) -> AnyArray:
    """Columns in another order of nodes, filled up to a width."""
    block = zeros((len(part), width), kind)
    block[:, : part.shape[1]] = part.take(order, axis=0)
    return block


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

    plain = System(Hierarchy.constants(fine, group, level), True) if level.size * SHRINKS > fine.size else None
    if plain and steps(plain, MIXES) <= MIXES:
        return "jacobi", plain
    hierarchy = Hierarchy.multilevel(fine, group, level)
    system = System(hierarchy, False)
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
        self.nested: list[Groups] = []

    def run(self, B: AnyArray, X: AnyArray, rtol: float, limit: int, alone: bool = False) -> tuple[int, Array]:
        """Like `System.run`."""
        b, x = B.astype(np.float64), X.astype(np.float64)
        norm, p, before = norms(b), np.zeros_like(b), np.ones(b.shape[1])
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

    def rough(self, sides: Sides, k: int, rtol: float, smooth: bool, X: AnyArray, tick: Callable[[], None]) -> Array:
        """Like `System.rough`."""
        x = np.zeros(X.shape)
        left = self.run(sides(slice(0, k)), x, rtol, STEPS)[1]
        X[:] = self._fine.smoothed(x) if smooth else x
        return left

    def diagonal(self, nodes: IntArray, rtol: float) -> Array:
        """Like `System.diagonal`."""
        B = np.zeros((self._excess.size, nodes.size))
        B[nodes, np.arange(nodes.size)] = 1.0
        X = np.zeros_like(B)
        left = self.run(B, X, rtol, STEPS)[1]
        return np.where(left <= rtol, X[nodes, np.arange(nodes.size)], np.nan)

    def smoothed(self, X: AnyArray) -> Array:
        """D⁻¹W X."""
        return self._fine.smoothed(X)

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
        self._n = fine.excess.size
        self.preconditioner, self._system = ("multilevel", Small(fine)) if self._n <= SMALL else _chosen(fine)

    def groups(self, most: int) -> Groups | None:
        """The finest aggregates that are no more than this, nodes without neighbors each alone; None where there are none."""
        return (
            next((g for g in self._system.nested if g.max() < most), None)
            if self.preconditioner == "multilevel"
            else None
        )

    def solve(self, b: AnyArray, rtol: float = 1e-8, start: Array | None = None) -> Array:
        """X with ‖Qx - b‖ ≤ rtol ‖b‖ for every column, checked in float64, or as near as float64 can hold x."""
        B = np.ascontiguousarray(b, dtype=np.float64).reshape(len(b), -1)
        X = np.zeros_like(B) if start is None else np.array(start, dtype=np.float64, order="C").reshape(B.shape)
        return self._refined(B, X, rtol).reshape(np.shape(b))

    def rough(
        self,
        sides: Sides | AnyArray,
        rtol: float,
        count: int = 0,
        smooth: bool = False,
        tick: Callable[[], None] = lambda: None,
        out: NDArray[np.float32] | None = None,
    ) -> NDArray[np.float32]:
        """The same in float32, for shortlists and probes: columns of an array, or ``count`` that a function makes by blocks.

        ``smooth`` gives D⁻¹W X instead; ``tick`` is called after every eight columns; ``out`` is where the result goes. Where
        float32 is not enough, a column is solved in float64.
        """
        if not callable(sides):
            b = np.asarray(sides, dtype=np.float32)
            count, sides = b.shape[1], lambda cols: b[:, cols]
        X = np.zeros((self._n, count), np.float32) if out is None else out
        left = self._system.rough(sides, count, rtol, smooth, X, tick)
        for c in np.flatnonzero(~(left <= rtol)):
            B = sides(slice(c, c + 1)).astype(np.float64)
            x = self._refined(B, np.zeros_like(B), rtol)
            X[:, [c]] = self._system.smoothed(x) if smooth else x
        return X

    def diagonal(self, nodes: IntArray, rtol: float) -> Array:
        """(Q⁻¹)_ii at these nodes, with a relative error of the order of rtol²: x_i is what conjugate gradients minimize."""
        d = self._system.diagonal(nodes, rtol)
        for c in np.flatnonzero(np.isnan(d)):
            b = np.zeros((self._n, 1))
            b[nodes[c]] = 1.0
            d[c] = self._refined(b, np.zeros_like(b), rtol)[nodes[c], 0]
        return d

    def _refined(self, B: Array, X: Array, rtol: float) -> Array:
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
        return X
