"""Q as kernels take it: blocks of columns in threads, or one column by pieces of its rows."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import Any

import numpy as np

from askgraph.linalg.multigrid import Groups, Hierarchy, inverted, norms
from askgraph.support.memory import zeros
from askgraph.types import AnyArray, Array, IntArray

Sides = Callable[[slice], AnyArray]  # right-hand sides by column

WIDTH, FEW = 8, 3  # columns of a block; so few are faster one by one
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
        blocks = _blocks(full, WIDTH) + [slice(at, at + 1) for at in range(full, k)]
        split = not alone and len(self._place) >= SPLIT_FROM
        done = _in_threads(lambda block: self._block(B, X, block, rtol, limit, split), blocks)
        return max([0, *(steps for steps, _ in done)]), np.concatenate([np.zeros(0), *(left for _, left in done)])

    def rough(self, sides: Sides, k: int, rtol: float, smooth: bool, X: AnyArray, tick: Callable[[], None]) -> Array:
        """The same into X, all in float32, or D⁻¹W X; ‖b - Qx‖ / ‖b‖ as float32 sees it."""

        def solve(cols: slice) -> Array:
            left = self._rough_block(sides, cols, rtol, smooth, X, _width(k))
            tick()
            return left

        return np.concatenate([np.zeros(0), *_in_threads(solve, _blocks(k, _width(k)))])

    def diagonal(self, nodes: IntArray, rtol: float) -> Array:
        """(Q⁻¹)_ii at these nodes, to about rtol², in float32; nan where that was not enough."""
        width = _width(nodes.size)
        blocks = _blocks(nodes.size, width)
        parts = _in_threads(lambda cols: self._diagonal_block(self._place[nodes[cols]], rtol, width), blocks)
        return np.concatenate([np.zeros(0), *parts])

    def _diagonal_block(self, places: IntArray | Groups, rtol: float, width: int) -> Array:
        b, at = zeros((len(self._place), width), np.float32), np.arange(places.size)
        b[places, at] = 1.0
        work = self._roughly(b, rtol)
        reached = work.sums[0, at] <= (0.9 * rtol) ** 2
        return np.where(reached, work.x[places, at].astype(np.float64), np.nan)

    def smoothed(self, X: AnyArray) -> Array:
        """D⁻¹W X."""
        return self._fine.smoothed(X.take(self._order, axis=0)).take(self._place, axis=0)

    def _rough_block(self, sides: Sides, cols: slice, rtol: float, smooth: bool, X: AnyArray, width: int) -> Array:
        from askgraph.linalg.cg_kernels import smoothed

        b = _block(sides(cols), self._order, width, np.float32)
        norm = norms(b)
        b /= np.where(norm > 0, norm, 1.0).astype(np.float32)
        work = self._roughly(b.copy(), rtol)
        smoothed((0,) * width, self._narrow[0], b, work.x, work.r, work.p, work.sums)
        count, result = cols.stop - cols.start, work.p if smooth else work.x
        result *= norm.astype(np.float32)
        X[:, cols] = result[:, :count].take(self._place, axis=0)
        return np.asarray(np.sqrt(work.sums[0, :count]))

    def _roughly(self, r: AnyArray, rtol: float) -> Any:
        """Q x = r for columns of norm 1, in float32; r is used up."""
        from askgraph.linalg import cg_kernels as kernels

        (rows, coarse), width = self._narrow, r.shape[1]
        one, work, mass = (0,) * width, self._work(r, coarse), np.zeros((len(coarse.total), width))
        kernels.masses(one, coarse, r, mass)
        kernels.balance(one, rows, coarse, mass, work.x, r)
        kernels.iterate(one, rows, coarse, work, np.full(width, (0.9 * rtol) ** 2), STEPS // 4)
        kernels.balance(one, rows, coarse, mass, work.x, r)
        return work

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
        return steps, shares(left, norm)[:count]

    def _iterated(self, r: Array, scale: Array, goal: Array, limit: int, split: bool) -> tuple[AnyArray, int]:
        """Q d ≈ r / scale, and the steps that took: in float64 for one column, else in float32, good for a few digits."""
        from askgraph.linalg import cg_kernels as kernels

        precise = r.shape[1] == 1 and not split
        (rows, coarse), digits = (self._wide, WIDE) if precise else (self._narrow, NARROW)
        part = np.empty(r.shape, rows.weight.dtype)
        np.divide(r, scale, out=part, casting="same_kind")
        work, goal, one = self._work(part, coarse), np.maximum(goal, digits) ** 2, (0,) * r.shape[1]
        iterate = self._in_pieces if split else kernels.iterate
        return work.x, iterate(one, rows, coarse, work, goal, limit)

    def _in_pieces(self, one: Any, rows: Any, coarse: Any, work: Any, goal: Array, limit: int) -> int:
        """`iterate`, its rows shared among threads; the pieces do not depend on the number of cores."""
        from askgraph.linalg import cg_kernels as kernels

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
                    each(kernels.piece_scattered, numbers, self._scattered[1], work.p, work.q)
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
    def _scattered(self) -> tuple[Any, Any]:
        """Entries for single columns where neighbors lie anywhere, in both precisions: 17 to 32 sections of columns."""
        from askgraph.linalg.cg_kernels import Scattered

        (rows, _), begin = self._wide, np.array(self._pieces[1])
        size, n = int(rows.first[-1]), len(self._place)
        node, row = rows.node[:size], np.repeat(np.arange(n, dtype=np.uint32), np.diff(rows.first.astype(np.int64)))
        piece = np.repeat(np.arange(PIECES, dtype=np.uint16), np.diff(rows.first[begin].astype(np.int64)))
        order = np.argsort(64 * piece + (node >> (n.bit_length() - 5)).astype(np.uint16), kind="stable")
        wide = Scattered(rows.first[begin], begin, row[order], node[order], rows.weight[order])
        return wide, wide._replace(weight=wide.weight.astype(np.float32))

    def _work(self, r: AnyArray, coarse: Any) -> Any:
        """r, and the rest of what conjugate gradients need, at 0."""
        from askgraph.linalg.cg_kernels import Work

        k, kind = r.shape[1], r.dtype
        x, p, q = (zeros(r.shape, kind) for _ in range(3))
        low, high = np.zeros((2, coarse.end.size + 4, k), kind)
        return Work(r, x, p, q, low, high, np.zeros((2, k), kind), np.zeros((4, k)))

    def _settled(self, b: Array, x: Array, aim: Array, split: bool) -> tuple[Array, Array]:
        """The residual and its norms, once x is moved along the constants to where they vanish from it."""
        from askgraph.linalg import cg_kernels as kernels

        (rows, coarse), one, r = self._wide, (0,) * b.shape[1], b.copy()
        mass, flat = np.zeros((len(coarse.total), b.shape[1])), not x.any()
        kernels.masses(one, coarse, b, mass)
        kernels.balance(one, rows, coarse, mass, x, r)
        if flat:
            return r, norms(r)
        if split and self._scatters:
            columns, pieces = (b.ravel(), x.ravel(), r.ravel()), [np.uint64(i) for i in range(PIECES)]
            _in_threads(lambda i: kernels.residual_scattered(rows, self._scattered[0], columns, i), pieces)
        else:
            ends, none = self._pieces[1] if split else self._pieces[1][::PIECES], np.zeros((4, b.shape[1]))
            blocks = range(len(ends) - 1)
            _in_threads(lambda i: kernels.residual(one, rows, b, x, r, none.copy(), *ends[i : i + 2]), blocks)
        return r, self._fine.left(r, x, aim)


def _width(count: int) -> int:
    """Of blocks, so that a few columns make two of them."""
    return WIDTH if count > WIDTH else WIDTH // 2


def _blocks(count: int, width: int) -> list[slice]:
    return [slice(at, min(at + width, count)) for at in range(0, count, width)]


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


def shares(a: Array, b: Array) -> Array:
    """a / b, or a where b is 0."""
    return np.divide(a, b, out=a.copy(), where=b != 0)
