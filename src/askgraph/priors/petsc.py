"""The engine for graphs past one machine: rows in many processes, solves by PETSc, probed summaries, an exact shortlist."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import Self

import numpy as np
from scipy.sparse import coo_array, csr_array

from askgraph.distributed.distribute import sharded
from askgraph.distributed.sharded_graph import Parts, ShardedGraph
from askgraph.errors import ConvergenceError
from askgraph.graph import Graph
from askgraph.priors.base import Precision, Prior, check_single, highest
from askgraph.priors.iterative import ACCURATE, FEWEST, MOST, MOST_GROUPS, WANTED
from askgraph.priors.noise.groups import Groups, ShardSteps
from askgraph.priors.noise.host import Sample
from askgraph.priors.noise.mpi import ShardField, ShardFlat
from askgraph.priors.petsc_solver import ADVICE, Ksp, petsc
from askgraph.priors.probed import Probed, Samples
from askgraph.spaces.mpi import RankRows
from askgraph.support.memory import fits
from askgraph.support.progress import bar
from askgraph.types import Array, IntArray

LOST = 1e-6  # the share of δ that rounding may change
FEWEST_IN = 32  # nodes a group, on average
WIDTH = 8  # probes that are solved for before their neighbours are heard


class Petsc(RankRows, Prior):
    """Solves by PETSc in all processes of an MPI job, each with its own rows of everything."""

    name = "petsc"
    exact = False
    tie = 1e-6

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
        super().__init__(_sharded(precision))
        if folded is None:
            check_single(self.precision, self.name)
            self._check_ridge()
            self._check_room(MOST if probes is None else probes)
        self._probes, self._folded = probes, np.empty(0, np.int64) if folded is None else folded
        self._settings = {"flat_probes": flat_probes, "sharp": sharp, "probing": probing}

    def _check_ridge(self) -> None:
        """Refuse a ridge that rounding of d + δ, which the matrix holds as one number, would change."""
        lost = float(np.finfo(float).eps * self.highest(self.graph.degrees) / self.delta)
        if lost > LOST:
            raise ConvergenceError(
                f"delta = {self.delta:g} is lost in the rounding of degrees ({lost:.0e} of it): {ADVICE}"
            )

    def _check_room(self, probes: int) -> None:
        """Refuse what would not fit, before it is tried: measured, 70 bytes an entry and 440 a node, and 4 a node and probe."""
        self._fits(70.0 * self.graph.local.nnz + self.n_rows * (440.0 + 4.0 * probes), "the petsc engine")

    def _fits(self, size: float, what: str) -> None:
        needed = self.ranks.on_this_machine(size)
        whole = f"{what} on {self.n_nodes:,} nodes and {self.graph.n_edges:,} edges, on one machine of the job,"
        advice = "take more machines, a sparser graph, or fewer probes: engine=Petsc(Precision.of(graph), probes=64)"
        self.ranks.agreed(lambda: fits(needed, whole, f"{advice} from askgraph.priors"))

    @property
    def graph(self) -> ShardedGraph:  # type: ignore[override]  # it is only read
        """The graph, some rows of it here."""
        return self.precision.graph  # type: ignore[return-value]  # as __init__ made it

    @cached_property
    def _ksp(self) -> Ksp:
        return Ksp(self.graph, self._diagonal, self.precision.pinned)

    @property
    def _diagonal(self) -> Array:
        return self.graph.degrees + self.precision.delta + self.precision.extra

    @property
    def components(self) -> IntArray:
        """The smallest node of the component that each node is in."""
        return self.graph.parts.label[self.graph.parts.of]

    def prepare(self) -> None:
        """Lay out the matrix and set up the preconditioner."""
        _ = self._ksp.preconditioner

    @property
    def folded(self) -> IntArray:
        """The nodes whose labels were folded in."""
        return self._folded

    def fold(self, nodes: IntArray, noise: Array) -> Self:
        """The same engine with labels at these nodes, γ = noise, folded into its precision."""
        rows = self.rows_of(nodes)
        here = rows >= 0
        precision, every = self.precision.folded(rows[here], noise[here]), np.union1d(self._folded, nodes)
        prior = type(self)(precision, self._probes, **self._settings, folded=every)  # type: ignore[arg-type]  # numbers as given
        prior.reason = self.reason
        return prior

    def neighbors(self, x: Array) -> Array:
        """W x."""
        return self.graph.neighbors(x)

    def highest_neighbor(self, x: Array) -> Array:
        """The highest x among each node's neighbours, -inf without any."""
        every = np.concatenate([x, self.graph.halo.fetched(x)])
        return highest(self.graph.local.indptr, every[self.graph.local.indices])

    def times(self, x: Array) -> Array:
        """(L + δI) x and what noisy labels add; rows of exact ones included."""
        diagonal = self._diagonal
        return np.asarray((diagonal if x.ndim == 1 else diagonal[:, None]) * x - self.neighbors(x))

    def solve(self, b: Array) -> Array:
        """G₀ b, to a relative residual of 3e-9."""
        return self._solved(b[:, None] if b.ndim == 1 else b, ACCURATE)[0].reshape(b.shape)

    def columns(self, nodes: IntArray, rough: float = 0.0) -> Array:
        """G₀[:, nodes]."""
        return self._solved(self._units(nodes), min(rough, self._settings["sharp"]) or ACCURATE)[0]

    def variances(self, nodes: IntArray, rough: float = 0.0) -> Array:
        """G₀[i, i] at these nodes, x_i + x · r: their error is of the order of the residual squared."""
        found = np.empty(nodes.size)
        for at in range(0, nodes.size, WIDTH):
            some = nodes[at : at + WIDTH]
            X, gap = self._solved(self._units(some), min(rough, self._settings["sharp"]) or ACCURATE)
            found[at : at + WIDTH] = self.pick(X, some).diagonal() + gap
        return found

    def _units(self, nodes: IntArray) -> Array:
        return self.put(self.zeros(len(nodes)), nodes, np.eye(len(nodes)))

    def _solved(self, B: Array, rtol: float) -> tuple[Array, Array]:
        X, gap = self._ksp.solve(B * self.free[:, None], rtol)
        return X * self.free[:, None], gap

    def influence(self) -> Array:
        """G₀1: 1/δ when no label is folded in, one solve otherwise."""
        return self.solve(self.free) if self.folded.size else self.zeros() + 1 / self.delta

    def ties(self, nodes: IntArray) -> tuple[csr_array, Array]:
        """How labels at these nodes hang on the field, a row each over all nodes, and their own d + δ or 1/γ²."""
        rows = self.rows_of(nodes)
        at = np.flatnonzero(rows >= 0)
        pinned, W = self.precision.pinned[rows[at]], self.graph.local[rows[at]]
        label = np.repeat(at, np.diff(W.indptr))
        ends = np.concatenate([self.graph.nodes, self.graph.beyond])[W.indices]
        exact = np.repeat(pinned, np.diff(W.indptr))
        extra, noisy = self.precision.extra[rows[at]], ~pinned
        i, j, w = (
            self.everyone(np.concatenate(x))
            for x in ((label[exact], at[noisy]), (ends[exact], nodes[at[noisy]]), (W.data[exact], extra[noisy]))
        )
        links = coo_array((w, (i, j)), shape=(nodes.size, self.n_nodes)).tocsr()
        own = np.where(self.precision.pinned, self._diagonal - self.precision.extra, self.precision.extra)
        return links, self.pick(own, nodes)

    def spread(self, squares: bool) -> Probed:
        """Probes of the field and, when asked for, of ‖g‖₂."""
        local, parts = 1 / self._diagonal, self.graph.parts
        share, influence = self.delta / parts.size[parts.of], self.influence()
        noise = ShardField(self.graph, self.delta, self.precision.extra, ~self.precision.pinned)
        values = self._field_probes(noise, local + share * (influence - local) ** 2)
        return Probed(
            local=local,
            share=share,
            delta=self.delta,
            field_samples=Samples.of(self, values, _shares(values.shape[1]), noise),
            flat_samples=self._flat_probes() if squares else None,
            influence_l1=influence,
            known=self.precision.pinned.copy(),
            known_variance=self.zeros(),
            known_squares=self.zeros(),
        )

    def _field_probes(self, noise: ShardField, certain: Array) -> Sample:
        """P X, a column a probe: as many as bring the error of a variance down to WANTED, by what a few of them say."""
        if self._probes is not None:
            return self._probed(noise.block, 0, self._probes)
        pilot = self._probed(noise.block, 0, FEWEST)
        square = np.einsum("ij,ij->i", pilot, pilot) / np.float32(FEWEST)
        shares = (square / (square + certain))[~self.precision.pinned] ** 2
        share = float(self.total(shares.astype(float))) / max(self.count(shares), 1)
        count = int(np.clip(-(-2 * share / WANTED**2 // WIDTH) * WIDTH, FEWEST, MOST))
        return np.hstack([pilot, self._probed(noise.block, FEWEST, count)])

    def _flat_probes(self) -> Samples:
        """P G z. What is constant on groups of nodes is exact, where the graph mixes slowly."""
        free, count = ~self.precision.pinned, int(self._settings["flat_probes"])
        if self._ksp.preconditioner == "jacobi" or self.n_nodes < FEWEST_IN:
            flat = ShardFlat(self.graph, free)
            return Samples.of(self, self._probed(flat.block, 0, count), _shares(count), flat)
        groups = Groups(self, min(MOST_GROUPS, self.n_nodes // FEWEST_IN))
        self._fits(4.0 * self.n_rows * (groups.seeds.size + count), "probes of |g|_2, which msd and vm need,")
        flat = ShardFlat(self.graph, free, parts=Parts.by(self.ranks, groups.of))
        steps = ShardSteps(self, groups, free, flat)
        values = np.hstack([self._probed(steps.block, 0, steps.count), self._probed(flat.block, 0, count)])
        return Samples.of(self, values, np.concatenate([np.ones(steps.count), _shares(count)]), steps)

    def _probed(self, block: Callable[[slice], Sample], first: int, last: int) -> Sample:
        """P G of some columns of this noise."""
        values = np.empty((self.n_rows, last - first), np.float32)
        with bar(last - first if self.ranks.first else 0, f"probing the covariance of {self.n_nodes:,} nodes") as tick:
            for at in range(first, last, WIDTH):
                some = slice(at, min(at + WIDTH, last))
                X = self._solved(block(some).astype(float), self._settings["probing"])[0]
                values[:, some.start - first : some.stop - first] = self.neighbors(X) / self._diagonal[:, None]
                tick(some.stop - some.start)
        return values


def _sharded(precision: Precision) -> Precision:
    """The same over the rows that live here, of a graph that every process has."""
    if not isinstance(precision.graph, Graph):
        return precision
    graph = sharded(precision.graph)
    return replace(precision, graph=graph, pinned=precision.pinned[graph.nodes], extra=precision.extra[graph.nodes])  # type: ignore[arg-type]  # what of a graph is read there, this has


def _shares(count: int) -> Array:
    return np.full(count, 1 / max(count, 1))
