"""Q X = B for Q = L + δI by conjugate gradients, blocks of columns at a time.

The preconditioner is diag(Q)⁻¹ + P V Pᵀ + Σ_c 1_c (1_cᵀ Q 1_c)⁻¹ 1_cᵀ: V is a V-cycle on the graph of aggregates, the last term
exact on the constant of every component c. Only the first touches all nodes, so a step costs little more than a product with
Q, and 50 steps give 8 digits whatever the size and the weights. Where the graph mixes fast (power laws, many dimensions), V
gains nothing and is left out.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from askgraph.errors import ConvergenceError
from askgraph.linalg.blocked_cg import STEPS, WIDTH, Sides, System, divide_or_keep
from askgraph.linalg.multigrid import Groups, Hierarchy, Level, column_norms
from askgraph.types import AnyArray, Array, IntArray

SMALL = 1_500  # nodes: up to this size a dense inverse is used, which costs less than loading numba
MIN_SHRINKAGE = 10  # if the graph of aggregates is 10 times smaller, aggregates are used without a trial of Jacobi
FEW_JACOBI_STEPS = 16  # if Jacobi needs at most 16 steps for three digits, aggregates are not tried


def _choose_preconditioner(fine: Level) -> tuple[str, System]:
    """Return the preconditioner that takes less work, by count, to solve for random signs to three digits, and its system."""
    group, level = fine.coarser()
    b = np.random.default_rng(0).choice([-1.0, 1.0], (fine.excess.size, 1))

    def steps(system: System, limit: int) -> int:
        return system.count_steps(b, 1e-3, limit)

    plain = System(Hierarchy.constants(fine, group, level), True) if level.size * MIN_SHRINKAGE > fine.size else None
    if plain and steps(plain, FEW_JACOBI_STEPS) <= FEW_JACOBI_STEPS:
        return "jacobi", plain
    hierarchy = Hierarchy.multilevel(fine, group, level)
    system = System(hierarchy, False)
    if plain and steps(plain, most := int(hierarchy.work * steps(system, 10 * FEW_JACOBI_STEPS))) <= most:
        return "jacobi", plain
    return "multilevel", system


class DenseSystem:
    """The `System` of a small Q, in numpy: a dense inverse of Q is the preconditioner, so that little but refinement is left."""

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
        """Improve X in place, like `System.run`."""
        b, x = B.astype(np.float64), X.astype(np.float64)
        norm, p, before = column_norms(b), np.zeros_like(b), np.ones(b.shape[1])
        with np.errstate(over="ignore", invalid="ignore"):  # a column that overflows is reported as not solved
            for steps in range(limit + 1):
                r = b - self._times(x)
                left = divide_or_keep(self._fine.unexplained(r, x, rtol * norm), norm)
                if steps == limit or not (left > rtol).any():
                    break
                z = self._inverse @ r + self._part.T @ ((self._part @ r) / (self._part @ self._excess))
                now = np.where(left > rtol, (r * z).sum(axis=0), 0.0)
                p = z + (steps > 0) * now / before * p
                x += divide_or_keep(now, (p * self._times(p)).sum(axis=0)) * p
                before = np.where(now > 0, now, 1.0)
            X[:] = x
        return steps, left

    def rough(self, sides: Sides, k: int, rtol: float, smooth: bool, X: AnyArray, tick: Callable[[], None]) -> Array:
        """Write X or D⁻¹W X, like `System.rough`."""
        x = np.zeros(X.shape)
        left = self.run(sides(slice(0, k)), x, rtol, STEPS)[1]
        X[:] = self._fine.smoothed(x) if smooth else x
        return left

    def diagonal(self, nodes: IntArray, rtol: float) -> Array:
        """Return (Q⁻¹)_ii at some nodes, like `System.diagonal`."""
        B = np.zeros((self._excess.size, nodes.size))
        B[nodes, np.arange(nodes.size)] = 1.0
        X = np.zeros_like(B)
        left = self.run(B, X, rtol, STEPS)[1]
        return np.where(left <= rtol, X[nodes, np.arange(nodes.size)], np.nan)

    def smoothed(self, X: AnyArray) -> Array:
        """Return D⁻¹W X."""
        return self._fine.smoothed(X)

    def _times(self, x: Array) -> Array:
        """Return Qx, computed by differences like `cg_kernels.multiply`."""
        return np.asarray(self._excess * x + self._difference.T @ (self._weight * (self._difference @ x)))


class Solver:
    """A solver for Q X = B, Q = L + δI; rows of pinned nodes may be those of the identity, and the graph disconnected.

    ``excess`` are the row sums of Q, if they are known more exactly than Q holds them. ``preconditioner`` is "multilevel" or
    "jacobi", whichever takes less work by count: no clock decides, so the same input gives the same result.

    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> Solver(csr_array([[2.0, -1.0], [-1.0, 2.0]])).solve(np.array([3.0, 0.0])).round(6).tolist()
    [2.0, 1.0]
    """

    width = WIDTH  # columns solved together
    preconditioner: str
    _system: System | DenseSystem

    def __init__(self, Q: csr_array, excess: Array | None = None) -> None:
        fine = Level.of(Q, excess)
        self._n = fine.excess.size
        self.preconditioner, self._system = (
            ("multilevel", DenseSystem(fine)) if self._n <= SMALL else _choose_preconditioner(fine)
        )

    def groups(self, most: int) -> Groups | None:
        """Return the aggregate of each node on the finest level with at most ``most`` aggregates; None if there is none.

        All nodes without neighbors share one aggregate.
        """
        nested = self._system.nested if self.preconditioner == "multilevel" else []
        return next((group for group in nested if group.max() < most), None)

    def solve(self, b: AnyArray, rtol: float = 1e-8, start: Array | None = None) -> Array:
        """Return X with ‖Qx - b‖ ≤ rtol ‖b‖ for every column, checked in float64, or as near as float64 can hold x."""
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
        """Return X solved in float32, for shortlists and probes.

        ``sides`` is an array, or a function that returns some of ``count`` columns. ``smooth`` gives D⁻¹W X instead; ``tick`` is
        called after each block of columns; the result is written into ``out`` if given. A column for which float32 is not
        enough is solved in float64.
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
        """Return (Q⁻¹)_ii at some nodes, with a relative error of the order of rtol²: conjugate gradients minimize that error."""
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
                f"conjugate gradients stopped at a relative residual of {left.max():.1e} after {steps} steps, above {rtol:g}: "
                'raise delta, narrow the range of the weights, or use engine="direct"'
            )
        return X
