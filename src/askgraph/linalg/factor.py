"""Q = L D Lᵀ for a sparse M-matrix: solves, diag(Q⁻¹) and diag(Q⁻²) from one factor."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from types import ModuleType
from typing import Any, Protocol

import numpy as np
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dtrtri
from scipy.sparse import csr_array

from askgraph.errors import ConvergenceError, EngineError, TooLargeError
from askgraph.support.progress import log
from askgraph.types import AnyArray, Array

DENSE_UP_TO = 600  # nodes: up to this size numpy factorizes, since loading numba would cost more than it saves
PLAIN_UP_TO = 6_000  # nodes: up to here a sparse factor is computed in numpy: numba would cost more
PANEL_ROWS = 48  # rows of the dense factor that are eliminated one by one before one matrix product updates the rest
PRODUCTS_PER_SECOND = 2e9  # multiplications, on a usual core, for the estimate in the log
ROUNDING = 16 * np.finfo(float).eps  # relative to |Q| |x|: residuals below it are due to rounding x
REFINE_ABOVE = 1e-10  # relative residual: above it, a solve is refined once
FAIL_ABOVE = 1e-8  # relative residual: above it after refinement, a solve raises ConvergenceError


class Factor:
    """P Q Pᵀ = L D Lᵀ of a positive definite M-matrix Q, built without cancellation.

    ``excess`` are the row sums of Q. Given exactly (δ, plus the weights to pinned neighbors), results are right to rounding
    even where δ is lost in the diagonal of Q, as 1e-12 is beside 1e12; by default they are summed from Q.
    ``limit`` is the most bytes the factor may take, ``most_work`` the most multiplications: a factor beyond either raises
    `TooLargeError` before it is computed.

    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> factor = Factor(csr_array([[2.0, -1.0], [-1.0, 2.0]]))
    >>> factor.solve(np.array([3.0, 0.0])).round(12).tolist()
    [2.0, 1.0]
    """

    fill: float
    nbytes: int

    def __init__(self, Q: Any, excess: Array | None = None, limit: float = np.inf, most_work: float = np.inf) -> None:
        Q = csr_array(Q, dtype=np.float64)
        if not (Q.has_canonical_format and Q.data.all()):  # zeros stored for pinned nodes would count as fill
            Q = Q.copy()
            Q.sum_duplicates()
            Q.eliminate_zeros()
        r = np.asarray(Q.sum(axis=1)).ravel() if excess is None else np.asarray(excess, dtype=np.float64)
        self._Q, self._diagonal = Q, Q.diagonal()
        self._method: _Method = _Dense(Q, r) if len(r) <= DENSE_UP_TO else _Sparse(Q, r, limit, most_work)
        self.fill = 2 * self._method.entries / (Q.nnz + Q.shape[0])
        self.nbytes = self._method.nbytes

    def arrays(self) -> dict[str, AnyArray]:
        """Return the arrays that `restored` needs; none for a dense factor, which is computed again."""
        return self._method.arrays()

    @classmethod
    def restored(cls, Q: csr_array, arrays: dict[str, AnyArray]) -> Factor:
        """Return the factor that `arrays` described; every index in the arrays is checked to be in range."""
        if Q.shape[0] <= DENSE_UP_TO:
            return cls(Q)
        made = cls.__new__(cls)
        made._Q, made._diagonal = csr_array(Q, dtype=np.float64), Q.diagonal()
        made._method = _Sparse.restored(Q.shape[0], arrays)
        made.fill, made.nbytes = 2 * made._method.entries / (Q.nnz + Q.shape[0]), made._method.nbytes
        return made

    def solve(self, b: Array) -> Array:
        """Return Q⁻¹ b for b of shape (n,) or (n, k)."""
        b = np.asarray(b, dtype=np.float64)
        x = self._method.solve(b)
        if not self._residual(b, x) <= REFINE_ABOVE:
            x = x + self._method.solve(b - self._Q @ x)
            if not (left := self._residual(b, x)) <= FAIL_ABOVE:
                raise ConvergenceError(
                    f"a direct solve left a relative residual of {left:.1e} after refinement, above {FAIL_ABOVE:.0e}: "
                    "check b for nan or inf; raise delta, or rescale weights that span too many orders of magnitude"
                )
        return x

    def diagonals(self, squares: bool) -> tuple[Array, Array | None]:
        """Return diag(Q⁻¹) and, if ``squares``, diag(Q⁻²)."""
        return self._method.diagonals(squares)

    def _residual(self, b: Array, x: Array) -> float:
        """Return the largest relative residual of a column (1-norm), less the part that rounding x explains."""
        with np.errstate(invalid="ignore", over="ignore"):
            left = np.abs(b - self._Q @ x).sum(axis=0) - ROUNDING * (self._diagonal * np.abs(x.T)).sum(axis=-1)
            return float(np.max(left / np.maximum(np.abs(b).sum(axis=0), np.finfo(float).tiny), initial=0.0))


class _Method(Protocol):
    entries: int
    nbytes: int

    def solve(self, b: Array) -> Array: ...
    def diagonals(self, squares: bool) -> tuple[Array, Array | None]: ...
    def arrays(self) -> dict[str, AnyArray]: ...


class _Dense:
    """The factor of a small matrix, in numpy: Lᵀ = U with a unit diagonal."""

    def __init__(self, Q: csr_array, r: Array) -> None:
        M = -Q.toarray()
        r, d = r.copy(), np.empty(len(r))
        for start in range(0, len(d), PANEL_ROWS):
            stop = start + PANEL_ROWS
            for j in range(start, min(stop, len(d))):
                row = M[j, j + 1 :]
                d[j] = r[j] + row.sum()
                if not 0 < d[j] < np.inf:
                    raise _indefinite(j)
                share = row / d[j]
                M[j + 1 : stop, j + 1 :] += np.multiply.outer(share[: stop - j - 1], row)
                r[j + 1 :] += share * r[j]
                row[:] = share
            N = M[start:stop, stop:]
            M[stop:, stop:] += (N.T * d[start:stop]) @ N
        self._U, self._d = -M, d
        self.entries, self.nbytes = len(d) * (len(d) + 1) // 2, M.nbytes + d.nbytes

    def solve(self, b: Array) -> Array:
        y = self._triangle(b, 1)
        return self._triangle((y.T / self._d).T, 0)

    def diagonals(self, squares: bool) -> tuple[Array, Array | None]:
        V = np.triu(dtrtri(self._U, unitdiag=1)[0], 1) + np.eye(len(self._d))
        scaled = V / self._d
        return np.sum(V * scaled, axis=1), np.square(scaled @ V.T).sum(axis=0) if squares else None

    def arrays(self) -> dict[str, AnyArray]:
        return {}

    def _triangle(self, b: Array, trans: int) -> Array:
        return np.asarray(solve_triangular(self._U, b, trans=trans, unit_diagonal=True, check_finite=False))


def _methods(plain: bool) -> ModuleType:
    """Return the module that computes sparse factors: in numpy, or compiled."""
    if plain:
        from askgraph.linalg import plain_factor

        return plain_factor
    from askgraph.linalg import multifrontal

    return multifrontal


class _Sparse:
    """The factor of a large matrix, on the supernodes of a minimum-degree order."""

    def __init__(self, Q: csr_array, r: Array, limit: float, most_work: float) -> None:
        self._plain = len(r) <= PLAIN_UP_TO
        methods = _methods(self._plain)
        self._order, self._place, counts, self._tree = methods.analyze(Q)
        self.entries, work = int(counts.sum()), float(np.square(counts.astype(float)).sum())
        self.nbytes = 8 * int(self._tree.block[-1]) + 16 * len(r) + sum(a.nbytes for a in self._tree[:6])
        if self.nbytes > limit:
            raise TooLargeError(
                f"the factor of {len(r):,} nodes would take {self.nbytes / 1e9:.2g} GB, more than the limit of "
                f"{limit / 1e9:.2g} GB: use engine='iterative'"
            )
        if work > most_work:
            raise TooLargeError(
                f"the factor of {len(r):,} nodes would take {work:.1e} multiplications, more than the limit of {most_work:.1e}: "
                "use engine='iterative'"
            )
        seconds = work / PRODUCTS_PER_SECOND
        log.info("factorizing: %s numbers, %.1e multiplications, about %.0f s", f"{self.entries:,}", work, seconds)
        self._N, self._d, bad = methods.factorize(Q, self._order, self._place, self._tree, r[self._order])
        if bad >= 0:
            raise _indefinite(self._order[bad])

    def arrays(self) -> dict[str, AnyArray]:
        tree = self._tree
        return {
            "order": self._order,
            "first": tree.first,
            "start": tree.start,
            "rows": tree.rows,
            "N": self._N,
            "d": self._d,
            "entries": np.array(self.entries),
        }

    @classmethod
    def restored(cls, n: int, arrays: dict[str, AnyArray]) -> _Sparse:
        made = cls.__new__(cls)
        order, first, start, rows = (arrays[key] for key in ("order", "first", "start", "rows"))
        sound = (
            np.array_equal(np.sort(order), np.arange(n))
            and (first[0], first[-1], start[0], start[-1], first.size) == (0, n, 0, rows.size, start.size)
            and (np.diff(first) > 0).all()
            and (np.diff(start) >= 0).all()
            and (rows.size == 0 or (rows.min() >= 0 and rows.max() < n))
        )
        if not sound:
            raise _not_a_factor(n)
        made._order = order.astype(np.int32)
        made._place = np.empty(n, np.int32)
        made._place[order] = np.arange(n, dtype=np.int32)
        made._plain = n <= PLAIN_UP_TO
        tree = first.astype(np.int64), start.astype(np.int64), rows.astype(np.int32)
        made._tree = _methods(made._plain).link_supernodes(*tree)
        made._N, made._d, made.entries = arrays["N"], arrays["d"], int(arrays["entries"])
        if (made._N.size, made._d.size) != (int(made._tree.block[-1]), n):
            raise _not_a_factor(n)
        made.nbytes = 8 * made._N.size + 16 * n
        return made

    def __getstate__(self) -> dict[str, Any]:
        return {
            name: value for name, value in vars(self).items() if name != "_solver"
        }  # one of SuperLU cannot be copied

    @cached_property
    def _solver(self) -> Callable[[Array], None]:
        solver: Callable[[Array], None] = _methods(self._plain).solver(self._N, self._d, self._tree)
        return solver

    def solve(self, b: Array) -> Array:
        X = np.atleast_2d(b.T.take(self._order, axis=-1))
        self._solver(X)
        return X.take(self._place, axis=-1).T.reshape(b.shape)

    def diagonals(self, squares: bool) -> tuple[Array, Array | None]:
        g, g2 = _methods(self._plain).diagonals(self._N, self._d, self._tree, squares)
        return g[self._place], None if g2 is None else g2[self._place]


def _not_a_factor(n: int) -> EngineError:
    return EngineError(f"the stored arrays are not a factor of a matrix of {n:,} rows: factorize the matrix again")


def _indefinite(node: int) -> EngineError:
    return EngineError(
        f"Q is not a positive definite M-matrix at node {node}: weights must be finite and >= 0, and delta > 0 large enough "
        "to change the diagonal; else give the row sums as excess"
    )
