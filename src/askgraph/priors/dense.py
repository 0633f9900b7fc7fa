"""The plain engine: the inverse itself, by Cholesky. All others must equal it."""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack

from askgraph.errors import TooLargeError
from askgraph.priors.base import Prior, check_residual
from askgraph.priors.precision import Precision
from askgraph.priors.summaries import Exact
from askgraph.support.later import Later
from askgraph.support.memory import fits
from askgraph.types import Array, IntArray

MAX_NODES = 20_000  # more are refused: the inverse takes 3.2 GB
SAFE_RANGE = 1e6  # of the diagonal of Q over its row sums: up to here Cholesky cannot fail, so it waits


class Dense(Prior):
    """G₀ = Q⁻¹, held as an n × n matrix."""

    name = "dense"

    def __init__(self, precision: Precision) -> None:
        super().__init__(precision)
        if self.n_nodes > MAX_NODES:
            raise TooLargeError(
                f"the dense engine needs {self.n_nodes:,} x {self.n_nodes:,} numbers ({8e-9 * self.n_nodes**2:,.0f} GB) and "
                f"stops at {MAX_NODES:,} nodes; leave engine='auto', or ask for 'direct' or 'iterative'"
            )
        fits(2 * 8 * self.n_nodes**2, "the dense engine", "leave engine='auto', or ask for 'direct' or 'iterative'")
        self._set_up = Later(self._inverted)
        if self.diagonal.max() / SAFE_RANGE > precision.excess.min():
            self.prepare()

    @property
    def _inverse(self) -> Array:
        return self._set_up.value

    def prepare(self) -> None:
        """Invert Q."""
        _ = self._inverse

    def _inverted(self) -> Array:
        inverse, pinned = _inverted(self.precision.matrix.toarray(order="F")), self.precision.pinned
        self._check(inverse)
        inverse[pinned] = 0.0
        inverse[:, pinned] = 0.0
        return inverse

    def solve(self, b: Array) -> Array:
        """Return G₀ b."""
        return np.asarray(self._inverse @ b)

    def columns(self, nodes: IntArray, rough: float = 0.0) -> Array:
        """Return G₀[:, nodes]: rows of a symmetric matrix, which are contiguous."""
        return self._inverse[nodes].T

    def spread(self, squares: bool) -> Exact:
        """Return the diagonal, row sums and row norms of the inverse."""
        G = self._inverse if self.magnitude == 1 or not squares else self._inverse / self.magnitude
        norms = np.einsum("ij,ij->i", G, G) if squares else None
        return Exact(np.diagonal(self._inverse).copy(), self.influence(), norms, self.magnitude)

    def _check(self, inverse: Array) -> None:
        z = np.random.default_rng(0).choice([-1.0, 1.0], size=self.n_nodes)
        gap = self.precision.matrix @ (inverse @ z) - z
        check_residual(float(np.linalg.norm(gap) / np.linalg.norm(z)), "the dense inverse")


def _inverted(Q: Array) -> Array:
    """Return Q⁻¹ in Q's own memory (potrf, potri), symmetric and row-contiguous."""
    chol, failed = lapack.dpotrf(Q, lower=1, overwrite_a=1)
    half, _ = lapack.dpotri(chol, lower=1, overwrite_c=1) if not failed else (Q, 0)
    if failed:
        check_residual(np.inf, "the Cholesky factorization")
    inverse = np.asarray(half).T  # the upper triangle, row-contiguous
    for i in range(len(inverse)):
        inverse[i, :i] = inverse[:i, i]
    return inverse
