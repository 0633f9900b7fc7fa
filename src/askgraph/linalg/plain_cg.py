"""Conjugate gradients in NumPy and SciPy for small graphs, where compiling would take longer than solving."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from math import sqrt

import numpy as np
from scipy.sparse import csr_array

from askgraph.linalg.blocked_cg import STEPS, Less, Sides, divide_or_keep
from askgraph.linalg.multigrid import Groups, Level, column_norms
from askgraph.linalg.with_diagonal import with_diagonal
from askgraph.support.threads import in_threads
from askgraph.types import AnyArray, Array, IntArray

COLUMNS = 16  # solved together, at least: of a few thousand nodes that many stay in cache
NUMBERS = 2**14  # of columns that are solved together, at least: with fewer, calls take longer than arithmetic
SAFE_EXCESS = 1e-6  # of the diagonal: with less, Q @ x would round the excess away, and differences are used
Times = Callable[[Array], Array]  # x to Qx


class PlainSystem:
    """The `System` of a small Q. The preconditioner is a dense inverse, which leaves little but refinement, or the diagonal of Q.

    Either is made exact on the constant of every component.
    """

    nested: list[Groups]
    near = None  # inverses on neighborhoods take compiled code

    def __init__(self, fine: Level, dense: bool) -> None:
        self._fine, self._excess, self._dense, self.nested = fine, fine.excess[:, None], dense, []
        self._precondition = fine.inverse().__matmul__ if dense else (1 / fine.diagonal)[:, None].__mul__
        self._total = np.bincount(fine.component, fine.excess)[:, None]
        safe = (fine.excess >= SAFE_EXCESS * fine.diagonal).all()
        self._matrix = with_diagonal(fine.diagonal, fine.weights) if safe else None

    @cached_property
    def _part(self) -> csr_array:
        """One row per component, 1 at its nodes."""
        nodes = np.arange(self._excess.size)
        return csr_array((np.ones(nodes.size), (self._fine.component, nodes)))

    @cached_property
    def _differences(self) -> tuple[csr_array, Array]:
        return _differences(self._fine)

    def count_steps(self, b: Array, rtol: float, limit: int) -> int:
        """Return the steps that b takes to a relative residual of rtol; limit + 1 if they are more."""
        taken, left = self.run(b, np.zeros_like(b), rtol, limit)
        return taken if (left <= rtol).all() else limit + 1

    def run(self, B: AnyArray, X: AnyArray, rtol: float, limit: int, alone: bool = False) -> tuple[int, Array]:
        """Improve X in place, like `System.run`; ``alone`` computes products by differences, which round least."""
        times = self._by_differences if alone or self._matrix is None else self._matrix.__matmul__
        width = max(COLUMNS, NUMBERS // max(len(B), 1))
        blocks = [slice(at, at + width) for at in range(0, B.shape[1], width)]
        solve = self._solve_column if B.shape[1] == 1 and not self._dense else self._solve
        done = in_threads(lambda cols: solve(times, B, X, cols, rtol, limit), blocks)
        return max([0, *(steps for steps, _ in done)]), np.concatenate([np.zeros(0), *(left for _, left in done)])

    def _solve(self, times: Times, B: AnyArray, X: AnyArray, cols: slice, rtol: float, limit: int) -> tuple[int, Array]:
        """Improve some columns of X.

        With Jacobi a residual that is carried along says when to compute it anew, which decides and begins anew from there;
        with a dense inverse few steps are needed, and each computes it.
        """
        b, x = B[:, cols].astype(np.float64), X[:, cols].astype(np.float64)
        norm, p, before = column_norms(b), np.zeros_like(b), np.ones(b.shape[1])
        steps, kept = 0, 0.0  # kept: whether a direction goes on from the last one
        with np.errstate(over="ignore", invalid="ignore"):  # a column that overflows is reported as not solved
            r, left = self._residual(b, x, times(x), rtol * norm, norm)
            while steps < limit and (left > rtol).any():
                z = self._precondition(r) + self._constants(r)
                now = np.where(left > rtol, np.einsum("ij,ij->j", r, z), 0.0)
                p = z + kept * now / before * p
                q = times(p)
                step = divide_or_keep(now, np.einsum("ij,ij->j", p, q))
                x += step * p
                before, steps, kept = np.where(now > 0, now, 1.0), steps + 1, 1.0
                if self._dense:
                    r, left = self._residual(b, x, times(x), rtol * norm, norm)
                    continue
                r -= step * q
                left = divide_or_keep(column_norms(r), norm)
                if steps == limit or not (left > rtol).any():
                    r, left = self._residual(b, x, times(x), rtol * norm, norm)
                    kept = 0.0
        X[:, cols] = x
        return steps, left

    def _solve_column(
        self, times: Times, B: AnyArray, X: AnyArray, cols: slice, rtol: float, limit: int
    ) -> tuple[int, Array]:
        """Improve the only column of X with Jacobi: the steps of `_solve` on vectors, which take less time."""
        b, x = B[:, 0].astype(np.float64), X[:, 0].astype(np.float64)
        norm, p, before = sqrt(b @ b), np.zeros_like(b), 1.0
        inverse, steps, kept = 1 / self._fine.diagonal, 0, 0.0
        with np.errstate(over="ignore", invalid="ignore"):
            r, left = self._residual_of_column(b, x, times(x), rtol * norm, norm)
            while steps < limit and left > rtol:
                z = inverse * r
                z += self._constant(r)
                now = float(r @ z)
                p *= kept * now / before
                p += z
                q = times(p)
                curvature = float(p @ q)
                step = now / curvature if curvature else now
                x += np.multiply(p, step, out=z)
                r -= np.multiply(q, step, out=q)
                before, steps, kept, left = now if now > 0 else 1.0, steps + 1, 1.0, sqrt(r @ r) / (norm or 1.0)
                if steps == limit or not left > rtol:
                    r, left = self._residual_of_column(b, x, times(x), rtol * norm, norm)
                    kept = 0.0
        X[:, 0] = x
        return steps, np.array([left])

    def _constant(self, r: Array) -> Array:
        """Return `_constants` of one column."""
        return np.asarray(r.sum() / self._total[0] if self._total.size == 1 else self._constants(r[:, None])[:, 0])

    def _residual_of_column(self, b: Array, x: Array, product: Array, aim: float, norm: float) -> tuple[Array, float]:
        """Return `_residual` of one column."""
        b, x, product = b[:, None], x[:, None], product[:, None]
        r, left = self._residual(b, x, product, np.array([aim]), np.array([norm]))
        return r[:, 0], float(left[0])

    def _constants(self, r: Array) -> Array:
        """Return 1_c (1_cᵀr) / (1_cᵀ Q 1_c), summed over the components c."""
        if self._total.size == 1:
            return np.asarray(r.sum(axis=0) / self._total)
        return np.asarray(((self._part @ r) / self._total)[self._fine.component])

    def _residual(self, b: Array, x: Array, product: Array, aim: Array, norm: Array) -> tuple[Array, Array]:
        """Return the residual and its relative norms; with Jacobi, move x along the constants first, so that they vanish from it.

        Not with a dense inverse: each of its directions goes on from the last, which holds only while nothing else moves x.
        """
        r = b - product
        if not self._dense:
            shift = self._constants(r)
            x += shift
            r -= self._excess * shift
        return r, divide_or_keep(self._fine.unexplained(r, x, aim), norm)

    def rough(self, sides: Sides, k: int, rtol: float, less: Less, X: AnyArray, tick: Callable[[], None]) -> Array:
        """Write X less nothing or D⁻¹QX, like `System.rough`."""
        x = np.zeros(X.shape)
        left = self.run(sides(slice(0, k)), x, rtol, STEPS)[1]
        X[:] = self.less(x, less)
        return left

    def diagonal(self, nodes: IntArray, rtol: float) -> Array:
        """Return (Q⁻¹)_ii at some nodes, like `System.diagonal`."""
        B = np.zeros((self._excess.size, nodes.size))
        B[nodes, np.arange(nodes.size)] = 1.0
        X = np.zeros_like(B)
        left = self.run(B, X, rtol, STEPS)[1]
        return np.where(left <= rtol, X[nodes, np.arange(nodes.size)], np.nan)

    def less(self, X: AnyArray, less: Less) -> AnyArray:
        """Return X less nothing or D⁻¹QX."""
        return self._fine.smoothed(X) if less else X

    def _by_differences(self, x: Array) -> Array:
        """Return Qx, like `cg_kernels.multiply`: right where the excess is small beside the diagonal, too."""
        difference, weight = self._differences
        return np.asarray(self._excess * x + difference.T @ (weight * (difference @ x)))


def _differences(fine: Level) -> tuple[csr_array, Array]:
    """Return the matrix that takes x_i - x_j over every edge, and the weights of the edges."""
    W = fine.weights.tocoo()
    i, j, w = (a[W.row < W.col] for a in (W.row, W.col, W.data))
    edges = np.arange(w.size)
    ends = np.repeat([1.0, -1.0], w.size), (np.r_[edges, edges], np.r_[i, j])
    return csr_array(ends, shape=(w.size, fine.excess.size)), w[:, None]
