"""The engine for graphs that cannot be factorised: preconditioned conjugate gradients, probed summaries, an exact shortlist."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import nullcontext
from functools import cached_property, partial
from typing import Self

import numpy as np

from askgraph.graph import Graph
from askgraph.linalg.blocked_cg import WIDTH
from askgraph.linalg.cg import SMALL, Solver
from askgraph.priors.base import Precision, Prior, check_single, checked
from askgraph.priors.noise.host import Field, Flat, Sample, SteppedFlat, Steps
from askgraph.priors.probed import Probed, Samples
from askgraph.support.memory import fits
from askgraph.support.progress import bar, compiling, log
from askgraph.types import Array, IntArray

FLOAT32_FROM = 1e-4  # residuals that float32 reaches
FEWEST, MOST = 16, 256  # probes of the field
MOST_GROUPS = 512  # of nodes over which probes of ‖g‖₂ are exact
MOST_FLAT = MOST_GROUPS + 64  # probes of ‖g‖₂
COARSE = 300_000  # nodes for which so many groups are coarse
WANTED = 0.027  # relative error of a variance that probes estimate
ACCURATE = 3e-9  # the residual of what enters the field: 500 labels leave errors of up to 4e-9 in the votes


class Iterative(Prior):
    """Solves by conjugate gradients over blocks; ``sharp`` is the largest residual that a rough column may be left with."""

    name = "iterative"
    exact = False
    tie = 1e-6

    def __init__(
        self,
        precision: Precision,
        probes: int | None = None,
        flat_probes: int = 64,
        sharp: float = 1.0,
        probing: float = 1e-3,
    ) -> None:
        super().__init__(precision)
        check_single(precision, self.name)
        self._make_room(MOST if probes is None else probes)
        self._probes = probes
        self._settings = {"flat_probes": flat_probes, "sharp": sharp, "probing": probing}

    def _make_room(self, probes: int) -> None:
        """Refuse what would not fit."""
        graph = self.precision.graph
        fits(
            needed_bytes(graph, probes),
            f"the iterative engine on {self.n_nodes:,} nodes and {graph.n_edges:,} edges",
            "close other programs, take a larger machine or a sparser graph, or fewer probes with "
            "engine=Iterative(Precision.of(graph, delta), probes=64) from askgraph.priors",
        )

    @cached_property
    def _solver(self) -> Solver:
        with compiling("conjugate gradients") if self.n_nodes > SMALL else nullcontext():
            return Solver(self.precision.matrix, self.precision.excess)

    def prepare(self) -> None:
        """Order the nodes and build the preconditioner."""
        _ = self._solver

    def conditioned(self, precision: Precision) -> Self:
        """The same engine and settings on another precision."""
        prior = type(self)(precision, self._probes, **self._settings)  # type: ignore[arg-type]  # a subclass may take other settings
        prior.reason = self.reason
        return prior

    def solve(self, b: Array) -> Array:
        """G₀ b, to a relative residual of 3e-9."""
        return self._masked(self._solver.solve(self._masked(b), ACCURATE))

    def columns(self, nodes: IntArray, rough: float = 0.0) -> Array:
        """G₀[:, nodes], in float32 where a rough residual is enough."""
        residual = min(rough, self._settings["sharp"]) or ACCURATE
        b = np.zeros((self.n_nodes, len(nodes)), dtype=np.float64 if residual < FLOAT32_FROM else np.float32)
        b[nodes, np.arange(len(nodes))] = self.free[nodes]
        if residual < FLOAT32_FROM:
            return self._masked(self._solver.solve(b, residual))
        return self._masked(self._solver.rough(b, residual).astype(np.float64))

    def variances(self, nodes: IntArray, rough: float = 0.0) -> Array:
        """G₀[i, i] at these nodes: their error is of the order of the residual squared."""
        residual = min(rough, self._settings["sharp"])
        if residual < FLOAT32_FROM:
            return super().variances(nodes)
        return self._solver.diagonal(nodes, residual) * self.free[nodes]

    def spread(self, squares: bool) -> Probed:
        """Probes of the field and, when asked for, of ‖g‖₂."""
        component, delta = self.precision.graph.components(), self.precision.delta
        local = self.lift(1 / self.precision.full.diagonal())
        share, influence = self.lift(delta / np.bincount(component)[component]), self.influence()
        noise = self._noise()
        certain = local + share * (influence - local) ** 2
        values = self._field_probes(noise, certain)
        field_samples = Samples.of(self, values, _shares(values.shape[1]), noise)
        return Probed(
            local=local,
            share=share,
            delta=delta,
            field_samples=field_samples,
            flat_samples=self._flat_probes(component) if squares else None,
            influence_l1=influence,
            known=self.free == 0,
            known_variance=self.zeros(),
            known_squares=self.zeros(),
        )

    def _field_probes(self, noise: Field, certain: Array) -> Sample:
        """P X, a column a probe: as many as bring the error of a variance down to WANTED, by what a few of them say."""
        if self._probes is not None:
            return self._solved([(noise.block, self._probes)])
        pilot = self._solved([(noise.block, FEWEST)])
        square = np.einsum("ij,ij->i", pilot, pilot) / np.float32(FEWEST)
        free = self.free > 0
        share = float(self.total((square / (square + certain)) ** 2 * free) / max(self.total(free), 1))
        checked(0.0 if np.isfinite(share) else np.inf, "probing the covariance")
        count = int(np.clip(-(-2 * share / WANTED**2 // WIDTH) * WIDTH, FEWEST, MOST))
        return self._solved([(lambda cols: noise.block(_later(cols)), count - FEWEST)], pilot)

    def _flat_probes(self, component: IntArray) -> Samples:
        """P G z. What is constant on groups of nodes is exact, where the graph mixes so slowly that it has groups."""
        free, count = ~self.precision.pinned, int(self._settings["flat_probes"])
        group = self._solver.groups(MOST_GROUPS)
        more = 4.0 * self.n_nodes * (count + (0 if group is None else int(group.max()) + 1))
        fits(more, f"probes of |g|_2 at {self.n_nodes:,} nodes", "take tv, sigma or influence, which do not need them")
        if group is None:
            flat = Flat(component, free)
            return Samples.of(self, self._solved([(flat.block, count)]), _shares(count), flat)
        home = np.empty(component.max() + 1, dtype=group.dtype)
        for some in (~free, free):  # a pinned node has no neighbors in Q: it joins a group of its own component
            home[component[some]] = group[some]
        group = np.where(free, group, home[component])
        if self.n_nodes > COARSE:
            log.info("so many nodes: msd and vm ask within some 5 %% of the best, tv, sigma and influence within 1 %%")
        steps, flat = Steps(group, component, free), Flat(group, free)
        values = self._solved([(steps.block, steps.count), (flat.block, count)])
        return Samples.of(
            self, values, np.concatenate([np.ones(steps.count), _shares(count)]), SteppedFlat(steps, flat)
        )

    def _solved(self, noise: list[tuple[Callable[[slice], Sample], int]], before: Sample | None = None) -> Sample:
        """P G of these kinds of noise, so many columns of each, after the columns that were solved before."""
        done = 0 if before is None else before.shape[1]
        values = self.zeros(done + sum(count for _, count in noise), dtype=np.float32)
        if before is not None:
            values[:, :done] = before
        with bar(values.shape[1] - done, f"probing the covariance of {self.n_nodes:,} nodes") as tick:
            for block, count in noise:
                part = values[:, done : done + count]
                self._solver.rough(
                    block, self._settings["probing"], count, True, partial(tick, self._solver.width), part
                )
                done += count
        return values

    def _noise(self) -> Field:
        return Field(self.precision)

    def _masked(self, x: Array) -> Array:
        if not self.precision.pinned.any():
            return x
        return x * (self.free if x.ndim == 1 else self.free[:, None])


def needed_bytes(graph: Graph, probes: int) -> float:
    """Peak memory: some copies of the matrix, the probes, and what each thread works on. Measured within a fifth."""
    n, entries = graph.n_nodes, 2 * graph.n_edges
    return 60.0 * entries + n * (300.0 + 4.0 * probes + 32.0 * 7 * (os.cpu_count() or 1))


def _later(columns: slice) -> slice:
    """The same columns after those of the pilot."""
    return slice(columns.start + FEWEST, columns.stop + FEWEST)


def _shares(count: int) -> Array:
    return np.full(count, 1 / max(count, 1))
