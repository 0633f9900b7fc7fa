r"""Q X = B on a GPU: conjugate gradients over blocks of columns, all steps of a solve in one launch.

As many thread blocks run as fit the device at once; they meet at a barrier between the parts of a step, and sums over rows are
made in the same order every time. Q x is taken by differences, :math:`\sum_j w_{ij}(x_i - x_j) + r_i x_i`, so that a small ridge
is not rounded away; nodes whose label was folded in are left out by their inverse diagonal of 0. The preconditioner is the
diagonal; the constant of every component is made exact before each round.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import reverse_cuthill_mckee

from askgraph.errors import ConvergenceError
from askgraph.linalg.cuda.runtime import compiled, cupy
from askgraph.types import AnyArray, Array, IntArray

THREADS, BLOCKS = 512, 2  # threads of a thread block, and thread blocks that a multiprocessor should hold
LONG = 256  # neighbors; a row with as many is worked on by a whole thread block
STEPS, ROUNDS = 5_000, 12  # most steps and rounds of a solve; one that needs more raises ConvergenceError
WINDOW = 1_024  # rows among which those of about as many neighbors are put side by side
PART = 4_096  # rows that a thread block sums
NARROW = 2e-5  # the least residual that a round in float32 aims at, relative to its start
WIDTHS = (1, 8, 32)  # columns of a block; 64 would be 7 % faster, and take twice the memory
EPS = float(np.finfo(np.float64).eps)


class Pattern:
    """W on the device, its nodes by component and near their neighbors: it does not depend on labels."""

    def __init__(self, W: csr_array, component: IntArray) -> None:
        cp, n = cupy(), W.shape[0]
        order = reverse_cuthill_mckee(W, symmetric_mode=True)
        order = order[np.argsort(component[order], kind="stable")]
        place = np.empty(n, np.int32)
        place[order] = np.arange(n, dtype=np.int32)
        W = W[order]
        self.n = n
        self.first = cp.asarray(W.indptr.astype(np.int64))
        self.node = cp.asarray(place[W.indices])
        self.wide = cp.asarray(W.data)
        self.longest = cp.asarray(np.flatnonzero(np.diff(W.indptr) >= LONG).astype(np.int32))
        self.order, self.place = cp.asarray(order.astype(np.int64)), cp.asarray(place.astype(np.int64))
        sizes = np.bincount(component)
        parts = -(-sizes // PART)
        self.parts = cp.asarray(_cut(sizes, parts))
        self.begin = cp.asarray(np.append(0, np.cumsum(parts)))
        self.component = cp.asarray(np.repeat(np.arange(sizes.size), sizes).astype(np.int32))
        self.degree = cp.asarray(np.asarray(W.sum(axis=1)).ravel())

    @cached_property
    def narrow(self) -> Any:
        """The weights in float32."""
        return self.wide.astype(np.float32)

    @cached_property
    def slices(self) -> tuple[Any, Any, Any, Any]:
        """Entries for one column in float32: 32 rows of about as many neighbors side by side, one thread per row."""
        cp, n, size = cupy(), self.n, -(-self.n // 32) * 32
        length = cp.diff(self.first)
        slot = cp.full(size, -1, np.int32)
        slot[:n] = cp.lexsort(cp.stack([-length, cp.arange(n) // WINDOW])).astype(np.int32)
        slot[:n] = cp.where(length[slot[:n]] < LONG, slot[:n], -1)  # longer rows are handled apart
        slice_ = cp.zeros(size // 32 + 1, np.int64)
        widest = cp.where(slot >= 0, length[slot], 0).reshape(-1, 32).max(axis=1)
        slice_[1:] = cp.cumsum(32 * widest)
        node, weight = (cp.empty(max(int(slice_[-1]), 1), kind) for kind in (np.int32, np.float32))
        arrays = np.int64(size), slot, slice_, self.first, self.node, self.narrow, node, weight
        compiled("linalg/cuda/rows.cu", "fill")((-(-size // THREADS),), (THREADS,), arrays)
        return slot, slice_, node, weight


class Solver:
    """Solves with Q = L + diag(ridge), the rows and columns of pinned nodes left out; X is 0 there."""

    width = WIDTHS[-1]  # columns that are solved together
    steps = 0  # taken for the last block of columns

    def __init__(self, pattern: Pattern, ridge: Array, pinned: AnyArray) -> None:
        cp, self._at = cupy(), pattern
        self._ridge = cp.asarray(ridge)[pattern.order]
        self._free = ~cp.asarray(pinned)[pattern.order]
        self._diagonal = pattern.degree + self._ridge
        self._inverse = cp.where(self._free, 1 / self._diagonal, 0.0)
        flat = self._free.astype(np.float64)[:, None]
        total = self._by_component(self._times(flat) * flat)
        self._balance = cp.where(total > 0, 1 / cp.where(total > 0, total, 1.0), 0.0)

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
        return b[self._at.order].astype(np.float64) * self._free[:, None]

    def _refined(self, b: Any, rtol: float) -> Any:
        """Return x by rounds of conjugate gradients on the residual, in float32, until the residual is small."""
        cp = cupy()
        x, norm, steps = cp.zeros_like(b), self._norms(b), 0
        aim = rtol * norm
        for _ in range(ROUNDS):
            r = self._balanced(b, x)
            left = self._left(r, x, aim)
            if not (left > aim).any() or steps >= STEPS:
                break
            scale = cp.where(left > 0, left, 1.0)
            goal = cp.where(left > aim, cp.maximum(0.9 * aim / scale, NARROW), np.inf)
            d, taken = self._iterated((r / scale).astype(np.float32), goal)
            x += d * scale
            steps += taken
        if (left > aim).any():
            worst = float((left / cp.where(norm > 0, norm, 1.0)).max())
            raise ConvergenceError(
                f"conjugate gradients on the GPU stopped at a relative residual of {worst:.1e} after {steps} steps, {rtol:g} was "
                'asked for: raise delta, narrow the range of the weights, or use engine="direct"'
            )
        self.steps = steps
        return x

    def _balanced(self, b: Any, x: Any) -> Any:
        """Return the residual, after x is moved so that the residual has no constant part."""
        cp = cupy()
        r = b - self._times(x) if x.any() else b
        shift = (self._by_component(r) * self._balance)[self._at.component] * self._free[:, None]
        x += shift
        return cp.where(self._free[:, None], b - self._times(x), 0.0)

    def _left(self, r: Any, x: Any, aim: Any) -> Any:
        """Return ‖r‖; where it is above aim, less what rounding of x explains row by row, 16 ε |Q| |x|."""
        cp = cupy()
        left = self._norms(r)
        if not ((left > aim) & (left <= aim + 64 * EPS * self._norms(self._diagonal[:, None] * x))).any():
            return left
        y = abs(x)
        explained = 16 * EPS * (2 * self._diagonal[:, None] * y - self._times(y))
        return cp.where(left > aim, self._norms(cp.maximum(abs(r) - explained, 0.0)), left)

    def _by_component(self, x: Any) -> Any:
        return _sums(_sums(x, self._at.parts), self._at.begin)

    def _norms(self, x: Any) -> Any:
        return cupy().sqrt(_sums(x * x, self._at.parts).sum(axis=0))

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

    def _iterated(self, r: Any, goal: Any) -> tuple[Any, int]:
        """Return d with Q d ≈ r, and the number of steps."""
        cp, k, kind = cupy(), r.shape[1], r.dtype
        width = _width(k)
        block, goals = cp.zeros((self._at.n + 3, width), kind), cp.full(width, np.inf)  # four rows are read at once
        block[:-3, :k], goals[:k] = r, goal**2
        x, p, q = (cp.zeros_like(block) for _ in range(3))
        kernel, blocks = _kernel("iterate", "float", width)
        partial, gate, taken = cp.empty(3 * blocks * width), cp.zeros(1, np.uint32), cp.zeros(1, np.int32)
        arrays = goals, np.int32(STEPS), x, block, p, q, partial, gate, taken
        kernel((blocks,), (THREADS,), (*self._matrix(kind, width), *arrays))
        return x[:-3, :k], int(taken[0])

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
    cp = cupy()
    vector, sliced = 1 if width == 1 else 16 // (4 if real == "float" else 8), width == 1 and real == "float"
    sizes = {
        "K": width,
        "VEC": vector,
        "SLICED": int(sliced),
        "THREADS": THREADS,
        "LONG": LONG,
        "BLOCKS": BLOCKS,
        "ITERATE": int(name == "iterate"),
    }
    options = f"-DREAL={real}", *(f"-D{key}={size}" for key, size in sizes.items())
    kernel = compiled("linalg/cuda/cg.cu", name, options, "conjugate gradients on the GPU")
    each = cp.cuda.driver.occupancyMaxActiveBlocksPerMultiprocessor(kernel.kernel.ptr, THREADS, 0)
    return kernel, each * cp.cuda.Device().attributes["MultiProcessorCount"]


def _width(count: int) -> int:
    return next(width for width in WIDTHS if width >= count)


def _blocks(count: int) -> list[slice]:
    return [slice(at, min(at + WIDTHS[-1], count)) for at in range(0, count, WIDTHS[-1])]


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
