"""The engine for graphs whose factor stays sparse: one factorization, exact summaries by selected inversion."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array, diags_array

from askgraph.linalg.factor import DENSE_UP_TO, PLAIN_UP_TO, Factor
from askgraph.priors.base import Prior, check_residual
from askgraph.priors.summaries import Arrays, Exact
from askgraph.support.memory import free_bytes
from askgraph.support.progress import compiling
from askgraph.types import Array

MAX_MEMORY_SHARE = 0.25  # of free memory; a larger factor is refused, since summaries and solves need as much again
MAX_WORK = 2e11  # multiplications, about two minutes; a factor that takes more is refused


class Direct(Prior):
    """Solves with a sparse factor of Q."""

    name = "direct"

    @cached_property
    def factor(self) -> Factor:
        """The factor of the scaled Q, computed when first needed; refused where it would not fit."""
        with self._loading("factorizing", PLAIN_UP_TO):
            excess = self.precision.excess * self._scales
            return Factor(self.scaled_matrix, excess, MAX_MEMORY_SHARE * free_bytes(), MAX_WORK)

    @property
    def scaled_matrix(self) -> csr_array:
        """Q times the magnitude of G₀, which is factorized, so that nothing overflows; pinned rows stay the identity's."""
        return self.precision.matrix if self.magnitude == 1 else diags_array(self._scales) @ self.precision.matrix

    @property
    def _scales(self) -> Array:
        return np.where(self.precision.pinned, 1.0, self.magnitude)

    def prepare(self) -> None:
        """Factorize."""
        _ = self.factor

    def arrays(self) -> Arrays:
        """Return the factor as arrays."""
        return self.factor.arrays()

    def restore(self, stored: Arrays) -> None:
        """Take a factor that was computed before."""
        self.__dict__["factor"] = Factor.restored(self.scaled_matrix, stored)

    def solve(self, b: Array) -> Array:
        """Return G₀ b."""
        free = self.free if b.ndim == 1 else self.free[:, None]
        return np.asarray(self.factor.solve(b * free) * (free * self.magnitude))

    def spread(self, squares: bool) -> Exact:
        """Return summaries from the factor alone: diag G₀ and diag G₀² by selected inversion."""
        with (
            self._loading("selected inversion", DENSE_UP_TO if squares else PLAIN_UP_TO),
            np.errstate(over="ignore", invalid="ignore"),
        ):
            variance, norms = self.factor.diagonals(squares)
        check_residual(0.0 if np.isfinite(variance).all() else np.inf, "selected inversion")
        free = self.free
        norms = None if norms is None else norms * np.square(free)
        return Exact(variance * (free * self.magnitude), self.influence(), norms, self.magnitude)

    def _loading(self, what: str, numpy_up_to: int) -> AbstractContextManager[None]:
        return compiling(what) if self.n_nodes > numpy_up_to else nullcontext()
