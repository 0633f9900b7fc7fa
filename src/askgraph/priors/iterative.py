"""The engine for graphs that cannot be factorised: preconditioned conjugate gradients, probed summaries, an exact shortlist."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from typing import Self

import numpy as np

from askgraph.priors.base import Precision, Prior
from askgraph.priors.cg import SMALL, WIDTH, Solver
from askgraph.priors.noise import Field, Flat, Sample
from askgraph.probes import Probed, Samples
from askgraph.progress import Tick, bar, compiling
from askgraph.types import Array, IntArray

FLOAT32_FROM = 1e-4  # residuals that float32 reaches
ACCURATE = 1e-10  # the residual of what enters the field: errors of hundreds of labels add up to less than 1e-8


class Iterative(Prior):
    """Solves by conjugate gradients over blocks; ``sharp`` is the largest residual that a rough column may be left with."""

    name = "iterative"
    exact = False
    tie = 1e-6

    def __init__(
        self, precision: Precision, probes: int = 192, flat_probes: int = 64, sharp: float = 1.0, probing: float = 1e-3
    ) -> None:
        super().__init__(precision)
        self._settings = {"probes": probes, "flat_probes": flat_probes, "sharp": sharp, "probing": probing}
        with compiling("conjugate gradients") if self.n_nodes > SMALL else nullcontext():
            self._solver = Solver(precision.matrix, precision.excess)

    def conditioned(self, precision: Precision) -> Self:
        """The same engine and settings on another precision."""
        prior = type(self)(precision, **self._settings)  # type: ignore[arg-type]
        prior.reason = self.reason
        return prior

    def solve(self, b: Array) -> Array:
        """G₀ b, to a relative residual of 1e-10."""
        return self._masked(self._solver.solve(self._masked(b), ACCURATE))

    def columns(self, nodes: IntArray, rough: float = 0.0) -> Array:
        """G₀[:, nodes], in float32 where a rough residual is enough."""
        residual = min(rough, self._settings["sharp"]) or ACCURATE
        b = np.zeros((self.n_nodes, len(nodes)), dtype=np.float64 if residual < FLOAT32_FROM else np.float32)
        b[nodes, np.arange(len(nodes))] = self.free[nodes]
        if residual < FLOAT32_FROM:
            return self._masked(self._solver.solve(b, residual))
        return self._masked(self._solver.rough(b, residual).astype(np.float64))

    def spread(self, squares: bool) -> Probed:
        """Probes of the field and, when asked for, of ‖g‖₂."""
        local = 1 / self.precision.full.diagonal()
        component = self.precision.graph.components()
        noise, flat = Field(self.precision), Flat(component, free=~self.precision.pinned)
        n, delta = self.n_nodes, self.precision.delta
        k, more = int(self._settings["probes"]), int(self._settings["flat_probes"]) if squares else 0
        with bar(k + more, f"probing the covariance of {n:,} nodes") as tick:
            field_samples = Samples.of(self._sampled(noise.block, k, True, tick), noise)
            flat_samples = Samples.of(self._sampled(flat.block, more, False, tick)) if squares else None
        return Probed(
            local=local,
            share=delta / np.bincount(component)[component],
            delta=delta,
            field_samples=field_samples,
            flat_samples=flat_samples,
            influence_l1=self.influence(),
            known=self.precision.pinned.copy(),
            known_variance=np.zeros(n),
            known_squares=np.zeros(n),
        )

    def _sampled(self, noise: Callable[[slice], Sample], count: int, smooth: bool, tick: Tick) -> Sample:
        rough = self._settings["probing"]
        return self._solver.rough(noise, rough, count, smooth, partial(tick, WIDTH))

    def _masked(self, x: Array) -> Array:
        if not self.precision.pinned.any():
            return x
        return x * (self.free if x.ndim == 1 else self.free[:, None])
