"""Q X = B for Q = L + δI by conjugate gradients, blocks of columns at a time.

The preconditioner is diag(Q)⁻¹ + P V Pᵀ + Σ_c 1_c (1_cᵀ Q 1_c)⁻¹ 1_cᵀ: V is a W-cycle on the graph of aggregates, the last term
exact on the constant of every component c. Only the first touches all nodes, so a step costs little more than a product with
Q, and 50 steps give 8 digits whatever the size and the weights. Where the graph mixes fast (power laws, many dimensions), V
gains nothing and is left out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from askgraph.errors import ConvergenceError
from askgraph.linalg.blocked_cg import STEPS, Less, Sides, System, widest_block
from askgraph.linalg.multigrid import Groups, Hierarchy, Level
from askgraph.linalg.plain_cg import SAFE_EXCESS, PlainSystem
from askgraph.support.progress import compiling
from askgraph.types import AnyArray, Array, IntArray

if TYPE_CHECKING:
    from askgraph.linalg.near import Near

SMALL = 1_500  # nodes: up to this size a dense inverse is used, which costs less than loading numba
PLAIN_UP_TO = 8_000  # nodes: up to here Jacobi runs in numpy if few steps suffice: numba would cost more
PLAIN_RANGE = 1e4  # of the diagonal, at most, for Jacobi in numpy
MIN_SHRINKAGE = 10  # if the graph of aggregates is 10 times smaller, aggregates are used without a trial of Jacobi
FEW_JACOBI_STEPS = 16  # if Jacobi needs at most 16 steps for three digits, aggregates are not tried


def _system(fine: Level) -> tuple[str, System | PlainSystem]:
    """Return the preconditioner and its system: in numpy where that is less work than compiling."""
    if fine.excess.size <= SMALL:
        return "multilevel", PlainSystem(fine, dense=True)
    b = np.random.default_rng(0).choice([-1.0, 1.0], (fine.excess.size, 1))
    if small := _plain_jacobi(fine, b):
        return "jacobi", small
    with compiling("conjugate gradients"):
        return _compiled(fine, b)


def _compiled(fine: Level, b: Array) -> tuple[str, System]:
    """Return the preconditioner that takes less work, by count, to solve for random signs b to three digits, and its system."""

    def steps(system: System, limit: int) -> int:
        return system.count_steps(b, 1e-3, limit)

    group, level = fine.coarser()
    plain = System(Hierarchy.constants(fine, group, level), True) if level.size * MIN_SHRINKAGE > fine.size else None
    if plain and steps(plain, FEW_JACOBI_STEPS) <= FEW_JACOBI_STEPS:
        return "jacobi", plain
    hierarchy = Hierarchy.multilevel(fine, group, level)
    system = System(hierarchy, False)
    if plain and steps(plain, most := int(hierarchy.work * steps(system, 10 * FEW_JACOBI_STEPS))) <= most:
        return "jacobi", plain
    return "multilevel", system


def _plain_jacobi(fine: Level, b: Array) -> PlainSystem | None:
    """Return Jacobi in numpy where the graph is small, its weights are of like size, and few steps give eight digits."""
    d = fine.diagonal
    if d.size > PLAIN_UP_TO or d.max() > PLAIN_RANGE * d.min() or not (fine.excess >= SAFE_EXCESS * d).all():
        return None
    system, most = PlainSystem(fine, dense=False), 3 * FEW_JACOBI_STEPS
    return system if system.count_steps(b, 1e-8, most) <= most else None


class Solver:
    """A solver for Q X = B, Q = L + δI; rows of pinned nodes may be those of the identity, and the graph disconnected.

    ``excess`` are the row sums of Q, if they are known more exactly than Q holds them. ``preconditioner`` is "multilevel" or
    "jacobi", whichever takes less work by count: no clock decides, so the same input gives the same result.

    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> Solver(csr_array([[2.0, -1.0], [-1.0, 2.0]])).solve(np.array([3.0, 0.0])).round(6).tolist()
    [2.0, 1.0]
    """

    width: int  # columns solved together where there are many
    preconditioner: str
    _system: System | PlainSystem

    def __init__(self, Q: csr_array, excess: Array | None = None) -> None:
        fine = Level.of(Q, excess)
        self._n = fine.excess.size
        self.preconditioner, self._system = _system(fine)
        self.width = widest_block(self._n)

    def groups(self, most: int) -> Groups | None:
        """Return the aggregate of each node on the finest level with at most ``most`` aggregates; None if there is none.

        All nodes without neighbors share one aggregate.
        """
        nested = self._system.nested if self.preconditioner == "multilevel" else []
        return next((group for group in nested if group.max() < most), None)

    @property
    def near(self) -> Near | None:
        """The inverse from neighborhoods; None on a small graph."""
        return self._system.near

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
        less: Less = "",
        tick: Callable[[], None] = lambda: None,
        out: NDArray[np.float32] | None = None,
    ) -> NDArray[np.float32]:
        """Return X solved in float32, for shortlists and probes.

        ``sides`` is an array, or a function that returns some of ``count`` columns. ``less`` says what is taken off X. ``tick`` is
        called after each block of columns; the result is written into ``out`` if given. A column for which float32 is not
        enough is solved in float64.
        """
        if not callable(sides):
            b = np.asarray(sides, dtype=np.float32)
            count, sides = b.shape[1], lambda cols: b[:, cols]
        X = np.zeros((self._n, count), np.float32) if out is None else out
        left = self._system.rough(sides, count, rtol, less, X, tick)
        for c in np.flatnonzero(~(left <= rtol)):
            B = sides(slice(c, c + 1)).astype(np.float64)
            x = self._refined(B, np.zeros_like(B), rtol)
            X[:, [c]] = self._system.less(x, less)
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
