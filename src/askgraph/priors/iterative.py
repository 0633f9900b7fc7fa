"""The engine for graphs that cannot be factorized: preconditioned conjugate gradients, probed summaries, an exact shortlist."""

from __future__ import annotations

from functools import partial

import numpy as np

from askgraph.errors import FileError
from askgraph.graph import Graph
from askgraph.linalg.blocked_cg import Less, widest_block
from askgraph.linalg.cg import Solver
from askgraph.priors.nearby import NOBODY, Local, Nearby, Noise
from askgraph.priors.noise.host import FieldNoise, GroupedSignNoise, GroupNoise, SignNoise
from askgraph.priors.precision import Precision
from askgraph.priors.probed import Probed, Sample, Samples
from askgraph.priors.probing import ACCURATE, MAX_GROUPS, MAX_PROBES, Block, ProbedPrior, columns_from, equal_weights
from askgraph.priors.summaries import Arrays, checked_array
from askgraph.support.later import Later
from askgraph.support.memory import fits
from askgraph.support.progress import bar
from askgraph.support.threads import n_cores
from askgraph.types import AnyArray, Array, BoolArray, IntArray

FLOAT32_FROM = 1e-4  # relative residuals from here on are reached in float32
FLAT_PROBES, MORE_FLAT_PROBES = 64, 256  # probes of ‖g‖₂, and those where groups are coarse
COARSE_FROM = (
    300_000  # nodes; beyond, groups are coarse: with FLAT_PROBES, questions of msd and vm would be 5 % below the best
)


class Iterative(ProbedPrior):
    """Solves by conjugate gradients over blocks of columns."""

    name = "iterative"

    def __init__(
        self,
        precision: Precision,
        probes: int | None = None,
        flat_probes: int | None = None,
        sharp: float = 1.0,
        probing: float = 1e-3,
    ) -> None:
        super().__init__(precision, None, probes, flat_probes, sharp, probing)
        graph, self._set_up = precision.graph, Later(lambda: Solver(precision.matrix, precision.excess))
        fits(
            needed_bytes(graph, MAX_PROBES if probes is None else probes),
            f"the iterative engine on {self.n_nodes:,} nodes and {graph.n_edges:,} edges",
            "close other programs, take a larger machine or a sparser graph, or fewer probes with "
            "engine=Iterative(Precision.of(graph, delta), probes=64) from askgraph.priors",
        )

    @property
    def _solver(self) -> Solver:
        return self._set_up.value

    def prepare(self) -> None:
        """Order the nodes and build the preconditioner."""
        _ = self._solver

    def solve(self, b: Array) -> Array:
        """Return G₀ b, to a relative residual of 3e-9."""
        return self._masked(self._solver.solve(self._masked(b), ACCURATE))

    def columns(self, nodes: IntArray, rough: float = 0.0) -> Array:
        """Return G₀[:, nodes], in float32 where a rough residual is enough."""
        residual = min(rough, self.sharp) or ACCURATE
        b = np.zeros((self.n_nodes, len(nodes)), dtype=np.float64 if residual < FLOAT32_FROM else np.float32)
        b[nodes, np.arange(len(nodes))] = self.free[nodes]
        if residual < FLOAT32_FROM:
            return self._masked(self._solver.solve(b, residual))
        return self._masked(self._solver.rough(b, residual).astype(np.float64))

    def variances(self, nodes: IntArray, rough: float = 0.0) -> Array:
        """Return G₀[i, i] at these nodes: their error is of the order of the residual squared."""
        residual = min(rough, self.sharp)
        if residual < FLOAT32_FROM:
            return super().variances(nodes)
        return self._solver.diagonal(nodes, residual) * self.free[nodes]

    def check_summaries(self, squares: bool) -> None:
        """Raise `TooLargeError` if norms are wanted and their probes would not fit in memory."""
        if squares:
            group = self._solver.groups(MAX_GROUPS)
            more = 4.0 * self.n_nodes * (self._flat_count + (0 if group is None else int(group.max()) + 1))
            advice = "take tv, sigma or influence, which do not need them"
            fits(more, f"probes of |g|_2 at {self.n_nodes:,} nodes", advice)

    def spread_from(self, stored: Arrays, labels: int, squares: bool) -> Probed:
        """Return the summaries that were saved as arrays, after this number of labels in V."""
        noise = self._field_noise()
        noise.restore(stored["field_means"])
        return self._probed_from(stored, labels, noise, self._restored_signs(stored) if squares else None)

    def _restored_signs(self, stored: Arrays) -> Noise:
        component, free, group = self.precision.graph.components(), ~self.precision.pinned, stored.get("flat_group")
        if group is not None and not 0 <= checked_array(group, component.shape).min() <= group.max() < component.size:
            raise FileError("groups that are not those of its nodes")
        signs = SignNoise(component if group is None else group, free)
        signs.restore(stored["flat_means"])
        return signs if group is None else GroupedSignNoise(GroupNoise(group, component, free), signs)

    def _field_noise(self) -> FieldNoise:
        return FieldNoise(self.precision)

    @property
    def _flat_count(self) -> int:
        """The number of probes of ‖g‖₂: more where groups are coarse, unless it was given."""
        if self.flat_probes is not None:
            return self.flat_probes
        coarse = self.n_nodes > COARSE_FROM and self._solver.groups(MAX_GROUPS) is not None
        return MORE_FLAT_PROBES if coarse else FLAT_PROBES

    def _norm_samples(self) -> Samples:
        """Return samples P G z; what is constant on groups of nodes is exact, where the graph mixes so slowly that groups exist."""
        component, free, count = self.precision.graph.components(), ~self.precision.pinned, self._flat_count
        group = self._solver.groups(MAX_GROUPS)
        if group is None:
            signs = SignNoise(component, free)
            return Samples.of(self.space, self._probes(signs.block, count), equal_weights(count), signs, self._alone)
        whole = _with_pinned(group, component, free)
        return self._grouped_samples(GroupNoise(whole, component, free), SignNoise(whole, free))

    def _grouped_samples(self, groups: GroupNoise, signs: SignNoise) -> Samples:
        count = self._flat_count
        values = self.space.zeros(groups.count + count, dtype=np.float32)
        self._probe(groups.block, 0, values[:, : groups.count], "own")
        self._probe(signs.block, 0, values[:, groups.count :], "own")
        weights = np.concatenate([np.ones(groups.count), equal_weights(count)])
        return Samples.of(self.space, values, weights, GroupedSignNoise(groups, signs), self._alone)

    def _local(self, noise: FieldNoise, count: int, nodes: IntArray = NOBODY) -> Local:
        near = self._solver.near
        return self._alone if near is None else Nearby.of(near, nodes, noise, count)

    def _probe(self, block: Block, first: int, out: Sample, less: Less) -> None:
        count = out.shape[1]
        with bar(count, f"probing the covariance of {self.n_nodes:,} nodes") as tick:
            sides = columns_from(block, first)
            self._solver.rough(sides, self.probing, count, less, partial(tick, self._solver.width), out)

    def _masked(self, x: Array) -> Array:
        if not self.precision.pinned.any():
            return x
        return x * (self.free if x.ndim == 1 else self.free[:, None])


def _with_pinned(group: AnyArray, component: IntArray, free: BoolArray) -> AnyArray:
    """Return the groups with pinned nodes, which have no neighbors in Q, moved to a group of their own component."""
    home = np.empty(component.max() + 1, dtype=group.dtype)
    for some in (~free, free):
        home[component[some]] = group[some]
    return np.where(free, group, home[component])


def needed_bytes(graph: Graph, probes: int) -> float:
    """Return the peak memory: some copies of the matrix, the probes, and what each thread works on; measured within a fifth."""
    n, entries = graph.n_nodes, 2 * graph.n_edges
    return 60.0 * entries + n * (300.0 + 4.0 * probes + 4.0 * widest_block(n) * 7 * n_cores())
