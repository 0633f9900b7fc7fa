"""The engine for graphs that cannot be factorised: preconditioned conjugate gradients, probed summaries, an exact shortlist."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from typing import Self

import numpy as np
from scipy.sparse import csr_array, diags_array

from askgraph.priors.base import Precision, Prior
from askgraph.priors.cg import SMALL, Solver
from askgraph.probes import Probed, Sample, Samples, signs
from askgraph.progress import compiling, working
from askgraph.types import Array, IntArray

BLOCK = 32  # right-hand sides made at a time
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
        D = self.precision.full.diagonal()
        P = csr_array(diags_array(1 / D) @ self.precision.graph.weights)
        component = self.precision.graph.components()
        sizes = np.bincount(component)[component]
        n = self.n_nodes
        k, flat = int(self._settings["probes"]), int(self._settings["flat_probes"])
        return Probed(
            local=1 / D,
            share=self.precision.delta / sizes,
            delta=self.precision.delta,
            operator=P,
            field_samples=Samples.of(self._sampled(self._field_noise(k)), P),
            flat_samples=Samples.of(self._sampled(self._flat_noise(flat))) if squares else None,
            influence_l1=self.influence(),
            known=self.precision.pinned.copy(),
            known_variance=np.zeros(n),
            known_squares=np.zeros(n),
        )

    def _sampled(self, noise: Iterator[Sample]) -> Sample:
        rough = self._settings["probing"]
        free = self.free[:, None].astype(np.float32)
        with working(f"probing the covariance of {self.n_nodes:,} nodes"):
            return np.hstack([self._solver.rough(block * free, rough) * free for block in noise])

    def _field_noise(self, k: int) -> Iterator[Sample]:
        """ξ of covariance Q − δ11ᵀ/n_c: a sign an edge through √w, a sign a node through √δ, its mean a component removed."""
        W = self.precision.graph.weights.tocoo()
        upper = W.row < W.col
        i, j, root = W.row[upper].astype(np.int64), W.col[upper].astype(np.int64), np.sqrt(W.data[upper])
        edges = np.arange(i.size)
        shape = (self.n_nodes, i.size)
        B = csr_array((np.r_[root, -root].astype(np.float32), (np.r_[i, j], np.r_[edges, edges])), shape)
        nodes = np.arange(self.n_nodes)
        extra = np.sqrt(self.precision.extra)[:, None].astype(np.float32)
        for start in range(0, k, BLOCK):
            width = min(BLOCK, k - start)
            block = B @ signs(i, j, width, seed=start)
            block += np.sqrt(self.precision.delta).astype(np.float32) * self._centered(
                signs(nodes, nodes, width, start)
            )
            yield block + extra * signs(nodes, nodes, width, start + 1)

    def _flat_noise(self, k: int) -> Iterator[Sample]:
        nodes = np.arange(self.n_nodes)
        for start in range(0, k, BLOCK):
            yield self._centered(signs(nodes, nodes, min(BLOCK, k - start), start + 2))

    def _centered(self, z: Sample) -> Sample:
        """z without its mean over each component."""
        component = self.precision.graph.components()
        member = csr_array((np.ones(z.shape[0], np.float32), (component, np.arange(z.shape[0]))))
        means = (member @ z) / np.bincount(component)[:, None]
        return np.asarray(z - means.astype(np.float32)[component])

    def _masked(self, x: Array) -> Array:
        if not self.precision.pinned.any():
            return x
        return x * (self.free if x.ndim == 1 else self.free[:, None])
