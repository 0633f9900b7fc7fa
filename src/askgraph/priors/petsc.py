"""The engine for graphs past one machine: rows in many processes, solves by blocks or PETSc, probed summaries, a shortlist."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Self

import numpy as np
from scipy.sparse import coo_array, csr_array

from askgraph.distributed.distribute import sharded
from askgraph.distributed.sharded_graph import Parts, ShardedGraph
from askgraph.errors import ConvergenceError, FileError
from askgraph.linalg.blocked_cg import Less
from askgraph.priors.base import highest_in_runs
from askgraph.priors.noise.groups import Groups, MpiGroupNoise
from askgraph.priors.noise.mpi import MpiFieldNoise, MpiSignNoise
from askgraph.priors.petsc_blocks import Blocks
from askgraph.priors.petsc_solver import ADVICE, Ksp, petsc
from askgraph.priors.precision import Precision
from askgraph.priors.probed import Probed, Sample, Samples
from askgraph.priors.probing import ACCURATE, MAX_GROUPS, MAX_PROBES, Block, ProbedPrior, equal_weights
from askgraph.priors.summaries import Arrays
from askgraph.spaces.mpi import MpiSpace
from askgraph.support.memory import fits
from askgraph.support.progress import bar, compiling
from askgraph.types import AnyArray, Array, IntArray

MAX_RIDGE_LOSS = 1e-6  # share of δ that rounding of d + δ may change; where it is more, the engine refuses the graph
NODES_PER_GROUP = 32  # on average, at least; a graph with fewer nodes has no groups
BATCH = 8  # columns of noise, or of units, that are in memory at a time
BLOCKS_FROM = 20_000  # nodes; with fewer, columns are solved for one by one: compiling would take longer


class Petsc(ProbedPrior):
    """Solves in all processes of an MPI job, each with its own rows of everything: several columns by blocks, one by PETSc."""

    graph: ShardedGraph
    name = "petsc"
    space: MpiSpace
    flat_probes: int

    def __init__(
        self,
        precision: Precision,
        probes: int | None = None,
        flat_probes: int = 64,
        sharp: float = 1.0,
        probing: float = 1e-4,
        folded: IntArray | None = None,
    ) -> None:
        petsc()
        precision, self.graph = _over_ranks(precision)
        super().__init__(precision, MpiSpace(self.graph), probes, flat_probes, sharp, probing)
        if folded is None:
            self._check_ridge()
            self._check_memory(MAX_PROBES if probes is None else probes)
        self._folded = np.empty(0, np.int64) if folded is None else folded

    def _check_ridge(self) -> None:
        """Refuse a ridge that rounding of d + δ, which the matrix holds as one number, would change."""
        lost = float(np.finfo(float).eps * self.space.highest(self.graph.degrees) / self.delta)
        if lost > MAX_RIDGE_LOSS:
            raise ConvergenceError(
                f"delta = {self.delta:g} is lost in the rounding of degrees ({lost:.0e} of it): {ADVICE}"
            )

    def _check_memory(self, probes: int) -> None:
        """Refuse a graph that would not fit: measured, 95 bytes per entry, 770 per node, and 4 per node and probe."""
        self._fits(95.0 * self.graph.local.nnz + self.space.n_rows * (770.0 + 4.0 * probes), "the petsc engine")

    def _fits(self, size: float, what: str) -> None:
        ranks = self.graph.ranks
        needed = ranks.on_this_machine(size)
        whole = f"{what} on {self.n_nodes:,} nodes and {self.graph.n_edges:,} edges, on one machine of the job,"
        advice = "take more machines, a sparser graph, or fewer probes: engine=Petsc(Precision.of(graph), probes=64)"
        ranks.all_or_error(lambda: fits(needed, whole, f"{advice} from askgraph.priors"))

    @cached_property
    def _ksp(self) -> Ksp:
        return Ksp(self.graph, self.diagonal, self.precision.pinned)

    @cached_property
    def neighbor_counts(self) -> IntArray:
        """The number of neighbors of each row of this process."""
        return np.diff(self.graph.local.indptr)

    @cached_property
    def components(self) -> IntArray:
        """The smallest node of the component that each node is in."""
        return self.graph.parts.label[self.graph.parts.of]

    @cached_property
    def component_sizes(self) -> IntArray:
        """The number of nodes of the component that each node is in."""
        return self.graph.parts.size[self.graph.parts.of]

    @cached_property
    def _blocks(self) -> Blocks | None:
        """The solver for several columns at once; None where columns are solved for one by one."""
        if self.n_nodes < BLOCKS_FROM:
            return None
        with compiling("conjugate gradients"):
            return Blocks.of(self.precision, self.graph, self._ksp.mixes_fast)

    def prepare(self) -> None:
        """Lay out the matrix and set up the preconditioners."""
        _ = self._ksp.preconditioner, self._blocks

    @property
    def folded(self) -> IntArray:
        """The nodes whose labels were folded in, in every process."""
        return self._folded

    def fold(self, nodes: IntArray, noise: Array) -> Self:
        """Return the same engine with labels at these nodes, of label noise γ, folded into its precision."""
        rows = self.space.rows_of(nodes)
        here = rows >= 0
        return self.conditioned(self.precision.folded(rows[here], noise[here]))

    def conditioned(self, precision: Precision) -> Self:
        """Return the same engine and settings on another precision of the same rows."""
        told = self.space.nodes_of(np.flatnonzero(precision.pinned | (precision.extra > 0)))
        prior = type(self)(precision, **self.settings, folded=np.sort(self.space.allgather(told)))
        prior.reason = self.reason
        return prior

    def neighbors(self, x: Array) -> Array:
        """Return W x."""
        return self.graph.neighbors(x)

    def highest_neighbor(self, x: Array) -> Array:
        """Return the highest x among each node's neighbors, -inf for a node without any."""
        every = np.concatenate([x, self.graph.halo.fetched(x)])
        return highest_in_runs(self.graph.local.indptr, every[self.graph.local.indices])

    def solve(self, b: Array) -> Array:
        """Return G₀ b, to a relative residual of 3e-9."""
        return self._solved(b[:, None] if b.ndim == 1 else b, ACCURATE)[0].reshape(b.shape)

    def columns(self, nodes: IntArray, rough: float = 0.0) -> Array:
        """Return G₀[:, nodes]."""
        return self._solved(self._units(nodes), min(rough, self.sharp) or ACCURATE)[0].astype(float, copy=False)

    def variances(self, nodes: IntArray, rough: float = 0.0) -> Array:
        """Return G₀[i, i] at these nodes, 2 x_i - xᵀQx: their error is of the order of the residual squared."""
        found = np.empty(nodes.size)
        for at in range(0, nodes.size, BATCH):
            some = nodes[at : at + BATCH]
            X, energy = self._solved(self._units(some), min(rough, self.sharp) or ACCURATE)
            found[at : at + BATCH] = 2.0 * self.space.pick(X, some).diagonal() - energy
        return found

    def _units(self, nodes: IntArray) -> Array:
        return self.space.put(self.space.zeros(len(nodes)), nodes, np.eye(len(nodes)))

    def _solved(self, B: AnyArray, rtol: float, smooth: bool = False) -> tuple[AnyArray, Array]:
        """Return X, or D⁻¹W X if ``smooth``, and xᵀQx of each column; what blocks do not reach is solved for by PETSc."""
        B = B * self.free.astype(B.dtype)[:, None]
        if self._blocks is None or B.shape[1] == 1:
            return self._solved_by_petsc(B, rtol, smooth)
        X, energy, left = self._blocks.solve(B, rtol, smooth)
        if (bad := np.flatnonzero(~(left <= rtol))).size:
            X[:, bad], energy[bad] = self._solved_by_petsc(B[:, bad], rtol, smooth)
        return X, energy

    def _solved_by_petsc(self, B: AnyArray, rtol: float, smooth: bool) -> tuple[Array, Array]:
        X, energy = self._ksp.solve(B, rtol)
        X *= self.free[:, None]
        return self.neighbors(X) * (self.free / self.diagonal)[:, None] if smooth else X, energy

    def couplings(self, nodes: IntArray) -> tuple[csr_array, Array]:
        """Return how labels at these nodes are coupled to the field, one row per label, and their own d + δ or 1/γ²."""
        rows = self.space.rows_of(nodes)
        at = np.flatnonzero(rows >= 0)
        pinned, W = self.precision.pinned[rows[at]], self.graph.local[rows[at]]
        label = np.repeat(at, np.diff(W.indptr))
        ends = np.concatenate([self.graph.nodes, self.graph.beyond])[W.indices]
        exact = np.repeat(pinned, np.diff(W.indptr))
        extra, noisy = self.precision.extra[rows[at]], ~pinned
        i, j, w = (
            self.space.allgather(np.concatenate(x))
            for x in ((label[exact], at[noisy]), (ends[exact], nodes[at[noisy]]), (W.data[exact], extra[noisy]))
        )
        links = coo_array((w, (i, j)), shape=(nodes.size, self.n_nodes)).tocsr()
        own = np.where(self.precision.pinned, self.diagonal - self.precision.extra, self.precision.extra)
        return links, self.space.pick(own, nodes)

    def spread_from(self, stored: Arrays, labels: int, squares: bool) -> Probed:
        """Return the summaries that were saved as arrays, the rows of this process, after this number of labels in V."""
        noise = self._field_noise()
        noise.restore(stored["field_means"])
        return self._probed_from(stored, labels, noise, self._restored_signs(stored) if squares else None)

    def _restored_signs(self, stored: Arrays) -> MpiSignNoise | MpiGroupNoise:
        count = int(stored.get("flat_groups", np.zeros(())))
        if not 0 <= count <= min(MAX_GROUPS, self.n_nodes):
            raise FileError(f"{count} groups, where there are at most {MAX_GROUPS}")
        signs, grouped = self._sign_noise(count)
        signs.restore(stored["flat_means"])
        return grouped or signs

    def _sign_noise(self, groups: int) -> tuple[MpiSignNoise, MpiGroupNoise | None]:
        """Return random signs without what is constant on components or on groups, and the noise that is constant there."""
        free = ~self.precision.pinned
        if not groups:
            return MpiSignNoise(self.graph, free), None
        grown = Groups(self.space, groups)
        signs = MpiSignNoise(self.graph, free, parts=Parts.group_by(self.graph.ranks, grown.of))
        return signs, MpiGroupNoise(self.space, grown, free, signs)

    def _field_noise(self) -> MpiFieldNoise:
        return MpiFieldNoise(self.graph, self.delta, self.precision.extra, ~self.precision.pinned)

    def _norm_samples(self) -> Samples:
        """Return samples P G z. What is constant on groups of nodes is exact, where the graph mixes slowly."""
        count, mixes_fast = self.flat_probes, self._ksp.preconditioner == "jacobi"
        signs, grouped = self._sign_noise(0 if mixes_fast else min(MAX_GROUPS, self.n_nodes // NODES_PER_GROUP))
        if grouped is None:
            return Samples.of(self.space, self._probes(signs.block, count), equal_weights(count), signs, self._alone)
        self._fits(4.0 * self.space.n_rows * (grouped.count + count), "probes of |g|_2, which msd and vm need,")
        values = np.hstack([self._probes(grouped.block, grouped.count), self._probes(signs.block, count)])
        weights = np.concatenate([np.ones(grouped.count), equal_weights(count)])
        return Samples.of(self.space, values, weights, grouped, self._alone)

    def _probe(self, block: Block, first: int, out: Sample, less: Less) -> None:
        last, ranks = first + out.shape[1], self.graph.ranks
        with bar(last - first if ranks.first else 0, f"probing the covariance of {self.n_nodes:,} nodes") as tick:
            for at in range(first, last, BATCH):
                some = slice(at, min(at + BATCH, last))
                out[:, some.start - first : some.stop - first] = self._solved(block(some), self.probing, smooth=True)[0]
                tick(some.stop - some.start)


def _over_ranks(precision: Precision) -> tuple[Precision, ShardedGraph]:
    """Return the precision over the rows of this process, and its graph; a graph that every process has is distributed."""
    if isinstance(precision.graph, ShardedGraph):
        return precision, precision.graph
    graph = sharded(precision.graph)
    pinned, extra = precision.pinned[graph.nodes], precision.extra[graph.nodes]
    return replace(precision, graph=graph, pinned=pinned, extra=extra), graph  # type: ignore[arg-type]  # it has what is read
