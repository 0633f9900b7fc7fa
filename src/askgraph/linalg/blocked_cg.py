"""Blocked conjugate gradients: eight right-hand sides per thread, or one right-hand side with its rows split over threads."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from askgraph.linalg.multigrid import Groups, Hierarchy, column_norms, inverse_permutation
from askgraph.support.memory import zeros
from askgraph.support.threads import in_threads, n_cores
from askgraph.types import AnyArray, Array, IntArray

if TYPE_CHECKING:
    from askgraph.linalg.near import Near

Sides = Callable[[slice], AnyArray]  # returns some columns of the right-hand sides
Less = Literal["", "own", "near"]  # what a solution is written less: nothing; D⁻¹QX, which leaves D⁻¹W X; CQX

WIDTH, WIDE = (
    8,
    16,
)  # columns of a block; in wide ones each column takes a quarter less time, and a thread twice the memory
WIDE_FROM, WIDE_UP_TO = 100_000, 2_000_000  # nodes of graphs whose rough solves are made in wide blocks
FEW_COLUMNS = 3  # columns left over after full blocks: at most 3 are solved one by one, more as a block
CHUNK_ROWS = 64  # rows summed in the precision of an array before sums go on in float64
PIECES = 8  # pieces of rows that threads share
SPLIT_FROM = 50_000  # nodes: from this size on, threads share the rows of one column, and of up to eight
COUNT_ALONE_FROM = (
    200_000  # nodes: below, the steps of one column are counted in a block, whose kernels are compiled anyway
)
SCATTER_FROM = 300_000  # nodes: below, one column stays in cache, and entries need no order that saves reads
SLICED_UP_TO = 50_000_000  # entries of Q: beyond, a second copy would take too much memory
MAX_PADDING = 1.5  # entries of slices, padding included, over those of Q, at most
MANY_ZEROS = 16  # rows per row that is not 0: from here on, a column is put in order row by row
EXTRAPOLATED = 3.0  # times the residual asked for: there steps for a diagonal end, and the others are extrapolated
ROUNDS = 10  # most rounds of refinement of a solve; 2 are usual
STEPS = 1_000  # most steps of a solve, over all rounds; 50 are usual
DIGITS_32, DIGITS_64 = 3e-5, 1e-12  # relative residuals that conjugate gradients reach in float32 and in float64


class System:
    """Q and its preconditioner in the form that kernels take, with the nodes in an order that suits the cache."""

    nested: Any

    def __init__(self, hierarchy: Hierarchy, mixes: bool) -> None:
        order, ordered = hierarchy.ordered()
        self._scatters = mixes and len(order) >= SCATTER_FROM
        self._order, self._place, self._fine = order, inverse_permutation(order), ordered.levels[0]
        self._wide = self._fine.matrix(), ordered.coarse()
        self.nested = hierarchy.nested()

    @cached_property
    def _narrow(self) -> tuple[Any, Any]:
        Q, coarse = (type(t)(*(a.astype(np.float32) if a.dtype == float else a for a in t)) for t in self._wide)
        return Q, coarse

    def run(self, B: AnyArray, X: AnyArray, rtol: float, limit: int, alone: bool = False) -> tuple[int, Array]:
        """Improve X in place, blocks of columns in threads; return the most steps taken, and ‖b - Qx‖ / ‖b‖ of every column.

        ``alone`` solves each column in float64 by itself. Neither blocks nor results depend on the number of cores.
        """
        k = B.shape[1]
        full = 0 if alone else k - k % WIDTH if k % WIDTH <= FEW_COLUMNS else k
        blocks = _blocks(full, WIDTH) + [slice(at, at + 1) for at in range(full, k)]
        split = not alone and len(self._place) >= SPLIT_FROM
        done = in_threads(lambda block: self._solve_block(B, X, block, rtol, limit, split), blocks)
        return max([0, *(steps for steps, _ in done)]), np.concatenate([np.zeros(0), *(left for _, left in done)])

    def count_steps(self, b: Array, rtol: float, limit: int) -> int:
        """Return the steps that one column takes to a relative residual of rtol; limit + 1 if they are more.

        Unless the graph is large, in a block of columns: its kernels are compiled for the first question, the others later.
        """
        if len(self._place) >= COUNT_ALONE_FROM:
            taken, left = self.run(b, np.zeros_like(b), rtol, limit)
            return taken if left[0] <= rtol else limit + 1
        work, taken = self._solve_float32(_fill_block(b / column_norms(b), self._order, WIDTH, np.float32), rtol, limit)
        return taken if work.sums[0, 0] <= rtol**2 else limit + 1

    def rough(self, sides: Sides, k: int, rtol: float, less: Less, X: AnyArray, tick: Callable[[], None]) -> Array:
        """Solve for k columns in float32 and write X less what `Less` says; return ‖b - Qx‖ / ‖b‖ as computed in float32."""

        def solve(cols: slice) -> Array:
            left = self._rough_block(sides, cols, rtol, less, X, width, split)
            tick()
            return left

        width, split = self._width(k), self._shares_rows(k)
        if less == "near":
            _ = self.near  # made once, before threads would each make their own
        return np.concatenate([np.zeros(0), *in_threads(solve, _blocks(k, width))])

    def diagonal(self, nodes: IntArray, rtol: float) -> Array:
        """Return (Q⁻¹)_ii at some nodes, to about rtol², in float32; nan if float32 did not reach rtol."""
        width, split = self._width(nodes.size), self._shares_rows(nodes.size)
        blocks = _blocks(nodes.size, width)
        parts = in_threads(lambda cols: self._diagonal_block(self._place[nodes[cols]], rtol, width, split), blocks)
        return np.concatenate([np.zeros(0), *parts])

    def _width(self, count: int) -> int:
        """Return the width of blocks of this many columns: wide ones only where two threads get one each."""
        return WIDTH if count <= 2 * WIDTH else widest_block(len(self._place))

    def _shares_rows(self, count: int) -> bool:
        """Return whether threads share the rows of a single block: on a small graph they would mostly wait for each other."""
        return count <= WIDTH and len(self._place) >= SPLIT_FROM

    def _diagonal_block(self, places: IntArray | Groups, rtol: float, width: int, split: bool) -> Array:
        """Return (Q⁻¹)_ii = eᵀQ⁻¹e at some places: steps add up to its part without constants, so x itself is not needed."""
        (Q, coarse), (first, _, total), at = self._narrow, self._components, np.arange(places.size)
        own, left = np.searchsorted(first, places, side="right") - 1, np.zeros((first.size, width))
        left[own, at] = 1.0
        r = -Q.excess[:, None] * self._constants(left, np.float32)
        r[places, at] += 1.0
        work, goal = self._work(r, coarse, solution=False), np.full(width, (EXTRAPOLATED * rtol) ** 2)
        self._iterate(self._narrow, work, goal, STEPS // 4, split)
        found = total[own] + _limit(work.energy[:, at])
        return np.where(work.sums[0, at] <= goal[at], found, np.nan)

    @cached_property
    def near(self) -> Near:
        """Q⁻¹ from neighborhoods."""
        from askgraph.linalg.near import Near

        return Near(self._wide[0], self._order, self._place)

    def less(self, X: AnyArray, less: Less) -> AnyArray:
        """Return X less nothing, D⁻¹QX or CQX."""
        if not less:
            return X
        x = X.take(self._order, axis=0)
        left = self._fine.smoothed(x) if less == "own" else x - self.near.times(self._fine.times(x))
        return left.take(self._place, axis=0)

    def _rough_block(
        self, sides: Sides, cols: slice, rtol: float, less: Less, X: AnyArray, width: int, split: bool
    ) -> Array:
        from askgraph.linalg.cg_kernels import residual_and_smooth

        b = _fill_block(sides(cols), self._order, width, np.float32)
        norm = column_norms(b)
        b /= np.where(norm > 0, norm, 1.0).astype(np.float32)
        work, _ = self._solve_float32(b.copy(), rtol, split=split)
        residual_and_smooth((0,) * width, self._narrow[0], b, work.x, work.r, work.p, work.sums)
        if less == "near":
            b -= work.r
            self.near.subtract(work.x, b, work.p)
        count, result = cols.stop - cols.start, work.p if less else work.x
        result *= norm.astype(np.float32)
        X[:, cols] = result[:, :count].take(self._place, axis=0)
        return np.asarray(np.sqrt(work.sums[0, :count]))

    def _solve_float32(self, r: AnyArray, rtol: float, limit: int = STEPS // 4, split: bool = False) -> tuple[Any, int]:
        """Solve Q x = r for columns of norm 1, in float32; return the work arrays and the steps taken; r is overwritten."""
        (Q, coarse), width = self._narrow, r.shape[1]
        work, goal, one = self._work(r, coarse), np.full(width, (0.9 * rtol) ** 2), np.ones_like(Q.excess)
        sums_b = self._sums(one, r)
        shift = self._constants(sums_b, r.dtype)
        work.x[:] = shift
        r -= Q.excess[:, None] * shift
        steps = self._iterate(self._narrow, work, goal, limit, split)
        work.x[:] += self._constants(sums_b - self._sums(Q.excess, work.x), r.dtype)
        return work, steps

    @cached_property
    def _components(self) -> tuple[IntArray, IntArray, Array]:
        """The first node of each component, the number of its nodes, and 1 / (1_cᵀ Q 1_c)."""
        coarse = self._wide[1]
        first = coarse.child[coarse.component[:-1]].astype(np.int64)
        sizes = np.diff(first, append=len(self._place))
        there = sizes > 0  # the last aggregate is of nodes without neighbors, and there may be none
        return first[there], sizes[there], coarse.total[there]

    def _sums(self, weight: AnyArray, a: AnyArray) -> Array:
        """Return the weighted sums of every column over each component, in float64 but for chunks of rows."""
        first, _, _ = self._components
        if first.size > 1:
            return np.asarray(np.add.reduceat(weight[:, None] * a, first, axis=0, dtype=np.float64))
        even = len(a) - len(a) % CHUNK_ROWS
        chunks = weight[:even].reshape(-1, 1, CHUNK_ROWS), a[:even].reshape(-1, CHUNK_ROWS, a.shape[1])
        return np.asarray(np.matmul(*chunks).sum(axis=0, dtype=np.float64) + weight[even:] @ a[even:])

    def _constants(self, left: Array, kind: Any) -> AnyArray:
        """Return 1_c left_c / (1_cᵀQ 1_c), summed over the components c: what x lacks where 1_cᵀ(b - Qx) are ``left``.

        One row per node, or one for all nodes of a connected graph. A solve in float32 drifts along the constants; 1_cᵀQx =
        excessᵀx measures the drift without a product with Q.
        """
        _, sizes, total = self._components
        every = (total[:, None] * left).astype(kind)
        return every if sizes.size == 1 else np.repeat(every, sizes, axis=0)

    def _solve_block(
        self, B: AnyArray, X: AnyArray, cols: slice, rtol: float, limit: int, split: bool
    ) -> tuple[int, Array]:
        """Solve for the residual until it is small in every column; return the steps and ‖b - Qx‖ / ‖b‖."""
        width = 1 if cols.stop - cols.start == 1 else WIDTH
        split = split and width == 1
        b, x = (self._ordered(A[:, cols], width) for A in (B, X))
        aim = rtol * (norm := column_norms(b))
        r, left = self._residual(b, x, aim, split)
        steps, limit = 0, limit if width == 1 else limit // 4
        for _ in range(ROUNDS):
            if steps >= limit or not (left > aim).any():
                break
            scale = np.where(left > 0, left, 1.0)
            goal = np.where(left > aim, 0.9 * aim / scale, np.inf)
            d, taken = self._correction(r, scale, goal, limit - steps, split)
            x += d * scale
            r, left = self._residual(b, x, aim, split)
            steps += taken
        count = cols.stop - cols.start
        X[:, cols] = x[:, :count].take(self._place, axis=0)
        return steps, divide_or_keep(left, norm)[:count]

    def _ordered(self, part: AnyArray, width: int) -> Array:
        """Return columns in float64 with their nodes in the order of the system; of one that is 0 at most rows, move the others."""
        if width > 1 or np.count_nonzero(part) > len(part) // MANY_ZEROS:
            return _fill_block(part, self._order, width, np.float64)
        block, some = zeros((len(part), 1), np.float64), np.flatnonzero(part)
        block[self._place[some]] = part[some]
        return block

    def _correction(self, r: Array, scale: Array, goal: Array, limit: int, split: bool) -> tuple[AnyArray, int]:
        """Return d with Q d ≈ r / scale, and the steps taken; in float64 for one column that is not split, else in float32."""
        precise = r.shape[1] == 1 and not split
        system, digits = (self._wide, DIGITS_64) if precise else (self._narrow, DIGITS_32)
        part = np.empty(r.shape, system[0].weight.dtype)
        np.divide(r, scale, out=part, casting="same_kind")
        work = self._work(part, system[1])
        return work.x, self._iterate(system, work, np.maximum(goal, digits) ** 2, limit, split)

    def _iterate(self, system: tuple[Any, Any], work: Any, goal: Array, limit: int, split: bool) -> int:
        """Run conjugate gradients until rᵀr <= goal in every column, the rows split over threads or not; return the steps."""
        from askgraph.linalg import cg_kernels as kernels

        iterate = self._iterate_in_pieces if split else kernels.iterate
        return iterate((0,) * work.r.shape[1], *system, work, goal, limit)

    def _iterate_in_pieces(self, lanes: Any, Q: Any, coarse: Any, work: Any, goal: Array, limit: int) -> int:
        """Run `iterate` with its rows split over threads; the pieces do not depend on the number of cores."""
        from askgraph.linalg import cg_kernels as kernels

        parts, steps, sound = np.zeros((PIECES, *work.sums.shape)), 0, True
        (groups, nodes), numbers = self._pieces, [np.uint64(i) for i in range(PIECES + 1)]
        workers, without_x = min(PIECES, n_cores()), work._replace(x=work.x[:0])
        with ThreadPoolExecutor(workers) as pool:

            def each(kernel: Callable[..., None], ends: list[Any], *args: Any) -> None:
                left = iter(range(PIECES))

                def share() -> None:
                    for i in left:
                        kernel(lanes, Q, *args, parts[i], ends[i], ends[i + 1])

                others = [pool.submit(share) for _ in range(1, workers)]
                share()
                for other in others:
                    other.result()
                work.sums[:3] = parts[:, :3].sum(axis=0)

            while True:
                each(kernels.piece_restrict, groups, coarse, work)
                adding = pool.submit(kernels.add_step, lanes, work)  # beside the W-cycle, which takes one core
                go_on = sound and steps < limit and kernels.choose_direction_outside(lanes, coarse, work, goal, steps)
                adding.result()
                if not go_on:
                    break
                each(kernels.piece_update, groups, coarse, without_x)
                if self._scatters and len(lanes) == 1:
                    each(kernels.piece_scattered, numbers, self._scattered[1], work.p, work.q)
                elif len(lanes) == 1 and (sliced := self._sliced):
                    each(kernels.piece_sliced, sliced[0], sliced[1], work.p, work.q)
                else:
                    each(kernels.piece_multiply, nodes, work.p, work.q)
                sound = kernels.choose_step_outside(lanes, work, goal)
                steps += 1
        return steps

    @cached_property
    def _pieces(self) -> tuple[list[Any], list[Any]]:
        """The bounds of the pieces, in aggregates and in nodes; each piece is about as much work."""
        Q, coarse = self._wide
        end = coarse.end[: coarse.level[1]]
        work = (Q.first[end] + 4 * end).astype(np.float64)
        cuts = np.searchsorted(work, work[-1] * np.arange(1, PIECES) / PIECES)
        groups = np.concatenate([[0], cuts, [end.size]]).astype(np.uint64)
        return list(groups), list(np.append(0, end)[groups].astype(np.uint64))

    @cached_property
    def _sliced(self) -> tuple[list[Any], Any] | None:
        """The bounds of the pieces in slices, and the entries of Q by slices; None for a graph too large or with much padding."""
        from askgraph.linalg.cg_kernels import Sliced

        Q, n = self._narrow[0], len(self._place) // 8 * 8
        size, lengths = int(Q.first[n]), np.diff(Q.first[: n + 1].astype(np.int64))
        longest = lengths.reshape(-1, 8).max(axis=1)
        first, rows = np.append(0, np.cumsum(longest)), np.arange(n, dtype=np.int32)
        if size > SLICED_UP_TO or 8 * first[-1] > MAX_PADDING * size:
            return None
        begin = Q.first.astype(np.int32)
        offset = 8 * (first[:-1].astype(np.int32)[rows // 8] - begin[:n]) + rows % 8
        at = np.repeat(offset, lengths) + 8 * np.arange(size, dtype=np.int32)
        node = np.repeat(rows.astype(np.uint32).reshape(-1, 8), longest, axis=0)
        node.reshape(-1)[at] = Q.node[:size]
        weight = np.full((1, 8), Q.weight.max(initial=0.0), np.float32)
        if (Q.weight < weight[0, 0]).any():
            weight = np.zeros((max(1, len(node)), 8), np.float32)
            weight.reshape(-1)[at] = Q.weight[:size]
        cuts = np.searchsorted(first, first[-1] * np.arange(PIECES + 1) / PIECES)
        cuts[-1] = first.size  # beyond the last slice: this piece has the rows after it, too
        return list(cuts.astype(np.uint64)), Sliced(first.astype(np.uint64), node, weight)

    @cached_property
    def _scattered(self) -> tuple[Any, Any]:
        """The entries of Q for one column if neighbors lie anywhere, by 17 to 32 ranges of columns, in float64 and float32."""
        from askgraph.linalg.cg_kernels import Scattered

        (Q, _), begin = self._wide, np.array(self._pieces[1])
        size, n = int(Q.first[-1]), len(self._place)
        node, row = Q.node[:size], np.repeat(np.arange(n, dtype=np.uint32), np.diff(Q.first.astype(np.int64)))
        piece = np.repeat(np.arange(PIECES, dtype=np.uint16), np.diff(Q.first[begin].astype(np.int64)))
        order = np.argsort(64 * piece + (node >> (n.bit_length() - 5)).astype(np.uint16), kind="stable")
        wide = Scattered(Q.first[begin], begin, row[order], node[order], Q.weight[order])
        return wide, wide._replace(weight=wide.weight.astype(np.float32))

    def _work(self, r: AnyArray, coarse: Any, solution: bool = True) -> Any:
        """Return the work arrays of conjugate gradients: r, and zeros for the rest; x has no rows without ``solution``."""
        from askgraph.linalg.cg_kernels import Work

        (n, k), kind = r.shape, r.dtype
        x, p, q = (zeros((rows, k), kind) for rows in (n if solution else 0, n, n))
        low, high = np.zeros((2, coarse.end.size + 4, k), kind)
        return Work(r, x, p, q, low, high, np.zeros((2, k), kind), np.zeros((4, k)), np.zeros((4, k)))

    def _residual(self, b: Array, x: Array, aim: Array, split: bool) -> tuple[Array, Array]:
        """Move x along the constants so that they vanish from the residual; return the residual and its norms."""
        from askgraph.linalg import cg_kernels as kernels

        Q, lanes, flat = self._wide[0], (0,) * b.shape[1], not x.any()
        left = self._sums(np.ones_like(Q.excess), b) - (0.0 if flat else self._sums(Q.excess, x))
        shift = self._constants(left, x.dtype)
        x += shift
        if flat:
            r = b - Q.excess[:, None] * shift
            return r, column_norms(r)
        r = np.empty_like(b)
        if split and self._scatters:
            columns, pieces = (b.ravel(), x.ravel(), r.ravel()), [np.uint64(i) for i in range(PIECES)]
            in_threads(lambda i: kernels.residual_scattered(Q, self._scattered[0], columns, i), pieces)
        else:
            ends, none = self._pieces[1] if split else self._pieces[1][::PIECES], np.zeros((4, b.shape[1]))
            blocks = range(len(ends) - 1)
            in_threads(lambda i: kernels.residual(lanes, Q, b, x, r, none.copy(), *ends[i : i + 2]), blocks)
        return r, self._fine.unexplained(r, x, aim)


def widest_block(n: int) -> int:
    """Return the columns of a block on a graph of n nodes, where there are many columns."""
    return WIDE if WIDE_FROM <= n <= WIDE_UP_TO else WIDTH


def _limit(energy: Array) -> Array:
    """Return the limit of sums of which the last four are given, the last first: what is left is about a geometric series.

    Its ratio is at most 1/2, so that no more is added than the last step added.
    """
    last, before = energy[0] - energy[1], energy[2] - energy[3]
    ratio = np.sqrt(np.divide(last, before, out=np.zeros_like(last), where=before > 0)).clip(max=0.5)
    return np.asarray(energy[0] + last * ratio / (1 - ratio))


def _blocks(count: int, width: int) -> list[slice]:
    return [slice(at, min(at + width, count)) for at in range(0, count, width)]


def _fill_block(part: AnyArray, order: IntArray | Groups, width: int, kind: Any) -> AnyArray:
    """Return columns with their nodes in another order, padded with zeros to a width."""
    if part.shape[1] == width and part.dtype == kind:
        return part.take(order, axis=0)
    block = zeros((len(part), width), kind)
    block[:, : part.shape[1]] = part.take(order, axis=0)
    return block


def divide_or_keep(a: Array, b: Array) -> Array:
    """Return a / b, or a where b is 0."""
    return np.divide(a, b, out=a.copy(), where=b != 0)
