r"""Q X = B on a GPU: conjugate gradients over blocks of columns, all steps of a solve in one launch.

As many thread blocks run as fit the device at once; they meet at a barrier between the parts of a step, and sums over rows are
made in the same order every time. Q x is taken by differences, :math:`\sum_j w_{ij}(x_i - x_j) + r_i x_i`, so that a small ridge
is not rounded away; nodes whose label was folded in are left out by their inverse diagonal of 0. The preconditioner is the
diagonal and, where that saves half of the steps, a V-cycle on aggregates of nodes; the constant of every component is made exact
before each round.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from askgraph.errors import ConvergenceError
from askgraph.linalg.cuda.levels import DAMPING, OVERSHOOT, Aggregates
from askgraph.linalg.cuda.runtime import compiled, cupy
from askgraph.linalg.multigrid import Level, inverse_permutation
from askgraph.types import AnyArray, Array, IntArray

THREADS, BLOCKS = 512, 2  # threads of a thread block, and thread blocks that a multiprocessor should hold
LONG = 256  # neighbors; a row with as many is worked on by a whole thread block
STEPS, ROUNDS = 5_000, 12  # most steps and rounds of a solve; one that needs more raises ConvergenceError
WINDOW = 1_024  # rows among which those of about as many neighbors are put side by side
PART = 4_096  # rows that a thread block sums
NARROW = 2e-5  # the least residual that a round in float32 aims at, relative to its start
WORK = 2  # the most that a step with a V-cycle costs, relative to one without
WIDTHS = (1, 8, 32)  # columns of a block; 64 would be 7 % faster, and take twice the memory
KERNELS = [*product(["iterate"], ["float"], WIDTHS), *product(["multiplied"], ["double"], WIDTHS)]
NO_LEVELS: tuple[Any, ...] = np.int32(0), *(None,) * 10, np.int32(0), *(None,) * 3  # the arguments of no coarse levels
EPS = float(np.finfo(np.float64).eps)


class Pattern:
    """W on the device, its nodes by component and near their neighbors, and its aggregates: none depends on labels."""

    multilevel: bool | None = None  # whether a V-cycle pays, when that is known

    first: Any
    node: Any
    wide: Any
    longest: Any
    order: Any
    place: Any
    parts: Any
    begin: Any
    component: Any
    degree: Array
    weights: csr_array
    aggregates: Aggregates

    def __init__(self, W: csr_array, component: IntArray) -> None:
        cp, n = cupy(), W.shape[0]
        with ThreadPoolExecutor(len(KERNELS)) as pool:
            compiling = [pool.submit(_compiled, *kernel) for kernel in KERNELS]
            self.weights, self.aggregates = W, Aggregates(W)
        for each in compiling:
            each.result()
        order = self.aggregates.order
        place = inverse_permutation(order)
        W = W[order]
        self.n = n
        self.first = cp.asarray(W.indptr.astype(np.int64))
        self.node = cp.asarray(place[W.indices])
        self.wide = cp.asarray(W.data)
        self.longest = cp.asarray(np.flatnonzero(np.diff(W.indptr) >= LONG).astype(np.int32))
        self.order, self.place = cp.asarray(order.astype(np.int64)), cp.asarray(place.astype(np.int64))
        ends = np.flatnonzero(np.diff(component[order], append=-1))
        sizes = np.diff(ends, prepend=-1)
        parts = -(-sizes // PART)
        self.parts = cp.asarray(_cut(sizes, parts))
        self.begin = cp.asarray(np.append(0, np.cumsum(parts)))
        self.component = cp.asarray(np.repeat(np.arange(sizes.size), sizes).astype(np.int32))
        self.degree = np.asarray(W.sum(axis=1)).ravel()

    @cached_property
    def narrow(self) -> Any:
        """The weights in float32."""
        return self.wide.astype(np.float32)

    @cached_property
    def slices(self) -> tuple[Any, Any, Any, Any]:
        """Entries for one column in float32: 32 rows of about as many neighbors side by side, one thread per row."""
        cp, n, size = cupy(), self.n, -(-self.n // 32) * 32
        length = np.diff(cp.asnumpy(self.first))
        slot = np.full(size, -1, np.int32)
        slot[:n] = np.lexsort((-length, np.arange(n) // WINDOW))
        slot[:n][length[slot[:n]] >= LONG] = -1  # longer rows are handled apart
        widest = np.where(slot >= 0, length[slot], 0).reshape(-1, 32).max(axis=1)
        slot, slice_ = cp.asarray(slot), cp.asarray(np.append(0, np.cumsum(32 * widest)))
        node, weight = (cp.empty(max(int(slice_[-1]), 1), kind) for kind in (np.int32, np.float32))
        arrays = np.int64(size), slot, slice_, self.first, self.node, self.narrow, node, weight
        compiled("linalg/cuda/rows.cu", "fill")((-(-size // THREADS),), (THREADS,), arrays)
        return slot, slice_, node, weight


class Solver:
    """Solves with Q = L + diag(ridge), the rows and columns of pinned nodes left out; X is 0 there."""

    steps: int
    width = WIDTHS[-1]  # columns that are solved together
    steps = 0  # taken for the last block of columns

    def __init__(self, pattern: Pattern, ridge: Array, pinned: AnyArray) -> None:
        self._at, order = pattern, pattern.aggregates.order
        free, diagonal = ~pinned[order], pattern.degree + ridge[order]
        inverse = np.divide(1.0, diagonal, out=np.zeros(free.size), where=free)
        self._ridge, self._free, self._diagonal, self._inverse = map(
            cupy().asarray, (ridge[order], free, diagonal, inverse)
        )
        self._one = cupy().asarray(free.astype(np.float64)[:, None])
        self._row_sums = self._times(self._one)  # of Q, over free nodes
        total = cupy().asnumpy(self._by_component(self._row_sums))
        self._balance = cupy().asarray(np.divide(1.0, total, out=np.zeros_like(total), where=total > 0))
        self._coarse = NO_LEVELS
        if pattern.aggregates.even and pattern.multilevel is not False:
            self._add_levels(pattern.aggregates.levels(pattern.weights, ridge, pinned))

    def _add_levels(self, levels: list[Level]) -> None:
        """Add a V-cycle to the preconditioner, unless a trial on this graph shows that it does not pay."""
        at = self._at
        steps = self._trial() if at.multilevel is None else STEPS
        self._coarse = at.aggregates.arguments(levels, np.float32)
        if at.multilevel is None:
            at.multilevel = steps > WORK * self._trial()
        if not at.multilevel:
            self._coarse = NO_LEVELS

    def _trial(self) -> int:
        """Return the number of steps for random signs, to three digits."""
        signs = cupy().asarray(np.random.default_rng(0).choice([-1.0, 1.0], (self._at.n, 1))) * self._one
        self._move_constants(cupy().zeros_like(signs), signs)
        norm = self._norms(signs)
        return self._iterated(signs, norm, np.full(1, 1e-3))[1]

    def solve(self, b: Any, rtol: float) -> Any:
        """Return X with ‖Qx - b‖ ≤ rtol ‖b‖ for every column, checked in float64, or as near as float64 can hold x."""
        B = b.reshape(len(b), -1)
        X = cupy().empty(B.shape)
        for some in _blocks(B.shape[1]):
            X[:, some] = self._refined(self._entered(B[:, some]), rtol)[self._at.place]
        return X.reshape(b.shape)

    def rough(
        self,
        sides: Callable[[slice], Any],
        rtol: float,
        count: int,
        smooth: bool,
        tick: Callable[[], None],
        out: Any,
    ) -> None:
        """Solve for probes into ``out``, which is float32; ``smooth`` gives D⁻¹W X instead."""
        for some in _blocks(count):
            x = self._refined(self._entered(sides(some)), rtol)
            x = (x - self._times(x) * self._inverse[:, None]) * self._free[:, None] if smooth else x
            out[:, some] = x[self._at.place]
            tick()

    def _entered(self, b: Any) -> Any:
        """Return columns in the order of the pattern, 0 at pinned nodes."""
        return cupy().ascontiguousarray(b[self._at.order].astype(np.float64) * self._one)

    def _refined(self, b: Any, rtol: float) -> Any:
        """Return x by rounds of conjugate gradients on the residual, in float32, until the residual is small."""
        x, r, norm, steps = cupy().zeros_like(b), b.copy(), self._norms(b), 0
        aim = rtol * norm
        for round_ in range(ROUNDS):
            r = r if round_ == 0 else cupy().ascontiguousarray(b - self._times(x))
            self._move_constants(x, r)
            left = self._left(r, x, aim)
            if not (left > aim).any() or steps >= STEPS:
                break
            scale = np.where(left > 0, left, 1.0)
            goal = np.where(left > aim, np.maximum(0.9 * aim / scale, NARROW), np.inf)
            d, taken = self._iterated(r, scale, goal)
            _over(x, "add_scaled", np.int32(d.shape[1]), d, cupy().asarray(scale), x)
            steps += taken
        if (left > aim).any():
            worst = float((left / np.where(norm > 0, norm, 1.0)).max())
            raise ConvergenceError(
                f"conjugate gradients on the GPU stopped at a relative residual of {worst:.1e} after {steps} steps, {rtol:g} was "
                'asked for: raise delta, narrow the range of the weights, or use engine="direct"'
            )
        self.steps = steps
        return x

    def _move_constants(self, x: Any, r: Any) -> None:
        """Move x along the constant of every component so that the residual r has no such part."""
        move = self._by_component(r) * self._balance
        _over(x, "move_constants", self._at.component, move, self._one, self._row_sums, x, r)

    def _left(self, r: Any, x: Any, aim: Array) -> Array:
        """Return ‖r‖; where it is above aim, less what rounding of x explains row by row, 16 ε |Q| |x|."""
        cp, left = cupy(), self._norms(r)
        far = left > aim
        if not far.any() or not (left[far] <= (aim + 64 * EPS * self._norms(self._diagonal[:, None] * x))[far]).any():
            return left
        y = abs(x)
        explained = 16 * EPS * (2 * self._diagonal[:, None] * y - self._times(y))
        return np.where(far, self._norms(cp.maximum(abs(r) - explained, 0.0)), left)

    def _by_component(self, x: Any) -> Any:
        return _sums(_sums(x, self._at.parts), self._at.begin)

    def _norms(self, x: Any) -> Array:
        return np.asarray(np.sqrt(cupy().asnumpy(_sums(x * x, self._at.parts)).sum(axis=0)))

    def _times(self, x: Any) -> Any:
        """Return Q x in float64."""
        cp, k = cupy(), x.shape[1]
        width = _width(k)
        wide = x if width == k and x.flags.c_contiguous else cp.zeros((self._at.n, width))
        if wide is not x:
            wide[:, :k] = x
        out = cp.empty_like(wide)
        kernel, blocks = _kernel("multiplied", "double", width)
        kernel((blocks,), (THREADS,), (*self._matrix(np.float64, width), wide, out))
        return out[:, :k]

    def _iterated(self, r: Any, scale: Array, goal: Array) -> tuple[Any, int]:
        """Return d with Q d ≈ r / scale in float32, padded with columns of 0, and the number of steps."""
        cp, k = cupy(), r.shape[1]
        width = _width(k)
        left, x, p, q = cp.zeros((4, self._at.n // 4 * 4 + 4, width), np.float32)  # four rows are read at once
        _over(r, "narrow", np.int32(width), r, cp.asarray(scale), left)
        goals = cp.asarray(np.pad(goal**2, (0, width - k), constant_values=np.inf))
        kernel, blocks = _kernel("iterate", "float", width)
        partial, gate, taken = cp.empty(3 * blocks * width), cp.zeros(1, np.uint32), cp.zeros(1, np.int32)
        coarse = cp.empty((3, self._at.aggregates.nodes, width), np.float32)
        arrays = *coarse, goals, np.int32(STEPS), x, left, p, q, partial, gate, taken
        kernel((blocks,), (THREADS,), (*self._matrix(np.float32, width), *self._coarse, *arrays))
        return x, int(taken[0])

    def _matrix(self, kind: Any, width: int) -> tuple[Any, ...]:
        at, wide = self._at, kind == np.float64
        ridge, inverse = (self._ridge, self._inverse) if wide else self._narrowed
        slices = at.slices if width == 1 and not wide else (at.longest, at.first, at.node, at.wide)  # not looked at
        weight = at.wide if wide else at.narrow
        rows = np.int64(at.n), np.int32(at.longest.size), at.longest, at.first, at.node, weight, ridge, inverse
        return *rows, *slices

    @cached_property
    def _narrowed(self) -> tuple[Any, Any]:
        return self._ridge.astype(np.float32), cupy().pad(self._inverse.astype(np.float32), (0, 3))


def _kernel(name: str, real: str, width: int) -> tuple[Any, int]:
    """Return a kernel and how many of its thread blocks the device runs at once."""
    cp, kernel = cupy(), _compiled(name, real, width)
    each = cp.cuda.driver.occupancyMaxActiveBlocksPerMultiprocessor(kernel.kernel.ptr, THREADS, 0)
    return kernel, each * cp.cuda.Device().attributes["MultiProcessorCount"]


def _compiled(name: str, real: str, width: int) -> Any:
    vector, sliced = 1 if width == 1 else 16 // (4 if real == "float" else 8), width == 1 and real == "float"
    sizes = {
        "K": width,
        "VEC": vector,
        "SLICED": int(sliced),
        "THREADS": THREADS,
        "LONG": LONG,
        "BLOCKS": BLOCKS,
        "ITERATE": int(name == "iterate"),
        "DAMPING": DAMPING,
        "OVERSHOOT": OVERSHOOT,
    }
    options = f"-DREAL={real}", *(f"-D{key}={size}" for key, size in sizes.items())
    return compiled("linalg/cuda/cg.cu", name, options, "conjugate gradients on the GPU")


def _width(count: int) -> int:
    return next(width for width in WIDTHS if width >= count)


def _blocks(count: int) -> list[slice]:
    return [slice(at, min(at + WIDTHS[-1], count)) for at in range(0, count, WIDTHS[-1])]


def _over(x: Any, name: str, *arrays: Any) -> None:
    """Run a kernel of rows.cu with one thread per number of x; it is told their count and that of the columns first."""
    sizes = np.int64(x.size), np.int32(x.shape[1])
    compiled("linalg/cuda/rows.cu", name)((-(-x.size // THREADS),), (THREADS,), (*sizes, *arrays))


def _sums(x: Any, begin: Any) -> Any:
    """Return sums over rows from one beginning to the next."""
    cp, k = cupy(), x.shape[1]
    out = cp.empty((begin.size - 1, k))
    compiled("linalg/cuda/rows.cu", "sums")(
        (begin.size - 1,), (256,), (np.int32(k), begin, cp.ascontiguousarray(x), out)
    )
    return out


def _cut(sizes: IntArray, parts: IntArray) -> IntArray:
    """Return where parts of PART rows begin, none of them across components."""
    start = np.repeat(np.append(0, np.cumsum(sizes))[:-1], parts)
    number = np.arange(parts.sum()) - np.repeat(np.cumsum(parts) - parts, parts)
    return np.append(start + PART * number, sizes.sum())
