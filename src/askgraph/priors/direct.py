"""The engine for graphs whose factor stays sparse: one factorisation, exact summaries by selected inversion."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array, diags_array

from askgraph.linalg.factor import DENSE_UP_TO, Factor
from askgraph.priors.base import Prior, checked
from askgraph.priors.summaries import Exact
from askgraph.support.memory import free_bytes
from askgraph.support.progress import compiling
from askgraph.types import Array

SHARE = 0.25  # of free memory that a factor may take: summaries and solves need as much again
MOST_WORK = 2e11  # multiplications: about two minutes


class Direct(Prior):
    """Solves with a sparse factor of Q."""

    name = "direct"

    @cached_property
    def factor(self) -> Factor:
        """Of the scaled Q, computed when first needed; refused where it would not fit."""
        with self._loading("factorising"):
            excess = self.precision.excess * self._scales
            return Factor(self.scaled_matrix, excess, SHARE * free_bytes(), MOST_WORK)

    @property
    def scaled_matrix(self) -> csr_array:
        """Q times the magnitude of G₀: what is factorised, so that nothing overflows; pinned rows stay the identity's."""
        return self.precision.matrix if self.magnitude == 1 else diags_array(self._scales) @ self.precision.matrix

    @property
    def _scales(self) -> Array:
        return np.where(self.precision.pinned, 1.0, self.magnitude)

    def prepare(self) -> None:
        """Factorise."""
        _ = self.factor

    def restore(self, factor: Factor) -> None:
        """With a factor that was computed before."""
        self.__dict__["factor"] = factor

    def solve(self, b: Array) -> Array:
        """G₀ b."""
        free = self.free if b.ndim == 1 else self.free[:, None]
        return np.asarray(self.factor.solve(b * free) * (free * self.magnitude))

    def spread(self, squares: bool) -> Exact:
        """diag G₀ and diag G₀² from the factor alone."""
        with self._loading("selected inversion"), np.errstate(over="ignore", invalid="ignore"):
            variance, norms = self.factor.diagonals(squares)
        checked(0.0 if np.isfinite(variance).all() else np.inf, "selected inversion")
        free = self.free
        norms = None if norms is None else norms * np.square(free)
        return Exact(variance * (free * self.magnitude), self.influence(), norms, self.magnitude)

    def _loading(self, what: str) -> AbstractContextManager[None]:
        return compiling(what) if self.n_nodes > DENSE_UP_TO else nullcontext()
