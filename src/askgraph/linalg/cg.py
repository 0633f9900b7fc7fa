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
from askgraph.linalg.blocked_cg import STEPS, WIDTH, Sides, System, shares
from askgraph.linalg.multigrid import Groups, Hierarchy, Level, norms
from askgraph.types import AnyArray, Array, IntArray

SMALL = 1_500  # nodes: below, a dense inverse costs less than compiling
SHRINKS = 10  # a graph whose aggregates make one so many times smaller has a use for them
MIXES = 16  # steps of Jacobi to three digits; with so few, aggregates would not pay


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
        with np.errstate(over="ignore", invalid="ignore"):  # what overflows is not below rtol in the end
            for steps in range(limit + 1):
                r = b - self._times(x)
                left = shares(self._fine.left(r, x, rtol * norm), norm)
                if steps == limit or not (left > rtol).any():
                    break
                z = self._inverse @ r + self._part.T @ ((self._part @ r) / (self._part @ self._excess))
                now = np.where(left > rtol, (r * z).sum(axis=0), 0.0)
                p = z + (steps > 0) * now / before * p
                x += shares(now, (p * self._times(p)).sum(axis=0)) * p
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

    width = WIDTH  # columns that are solved together
    preconditioner: str
    _system: System | Small

    def __init__(self, Q: csr_array, excess: Array | None = None) -> None:
        fine = Level.of(Q, excess)
        self._n = fine.excess.size
        self.preconditioner, self._system = ("multilevel", Small(fine)) if self._n <= SMALL else _chosen(fine)

    def groups(self, most: int) -> Groups | None:
        """The finest aggregates that are no more than this, one of them of all nodes without neighbors; None without any."""
        nested = self._system.nested if self.preconditioner == "multilevel" else []
        return next((group for group in nested if group.max() < most), None)

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
