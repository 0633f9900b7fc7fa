"""The engine for graphs whose factor stays sparse: one factorisation, exact summaries by selected inversion."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

import numpy as np

from askgraph.priors.base import Precision, Prior
from askgraph.priors.factor import DENSE_UP_TO, Factor
from askgraph.progress import compiling
from askgraph.room import free_bytes
from askgraph.spread import Exact
from askgraph.types import Array

SHARE = 0.25  # of free memory that a factor may take: summaries and solves need as much again
MOST_WORK = 2e11  # multiplications: about two minutes


class Direct(Prior):
    """Solves with a sparse factor of Q."""

    name = "direct"

    def __init__(self, precision: Precision) -> None:
        super().__init__(precision)
        with self._loading("factorising"):
            self._factor = Factor(precision.matrix, precision.excess, SHARE * free_bytes(), MOST_WORK)

    def solve(self, b: Array) -> Array:
        """G₀ b."""
        free = self.free if b.ndim == 1 else self.free[:, None]
        return np.asarray(self._factor.solve(b * free) * free)

    def spread(self, squares: bool) -> Exact:
        """diag G₀ and diag G₀² from the factor alone."""
        with self._loading("selected inversion"):
            variance, norms = self._factor.diagonals(squares)
        free = self.free
        return Exact(variance * free, self.influence(), None if norms is None else norms * np.square(free))

    def _loading(self, what: str) -> AbstractContextManager[None]:
        return compiling(what) if self.n_nodes > DENSE_UP_TO else nullcontext()
