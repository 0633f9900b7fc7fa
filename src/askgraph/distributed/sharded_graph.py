"""A graph whose rows live in many processes."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from askgraph.distributed.ranks import Ranks
from askgraph.errors import EngineError, LabelError
from askgraph.graph import Graph
from askgraph.graph.sources import counted
from askgraph.types import AnyArray, Array, IntArray


@dataclass(frozen=True, eq=False)
class Halo:
    """The nodes elsewhere that rows here are joined to: fetched from the ranks that own them."""

    ranks: Ranks
    owner: IntArray  # the rank of each
    row: IntArray  # and its row there
    n_rows: int

    @cached_property
    def _forest(self) -> Any:
        from petsc4py import PETSc

        forest = PETSc.SF().create(comm=self.ranks.comm)
        forest.setGraph(self.n_rows, None, np.column_stack([self.owner, self.row]).astype(PETSc.IntType))
        return forest

    def fetched(self, x: AnyArray) -> AnyArray:
        """The rows of x of these nodes."""
        from mpi4py import MPI

        x = np.ascontiguousarray(x)
        out = np.empty((self.owner.size, *x.shape[1:]), x.dtype)
        unit = MPI.BYTE.Create_contiguous(x.dtype.itemsize * int(np.prod(x.shape[1:], dtype=np.int64))).Commit()
        self._forest.bcastBegin(unit, x, out, MPI.REPLACE)
        self._forest.bcastEnd(unit, x, out, MPI.REPLACE)
        unit.Free()
        return out


@dataclass(frozen=True, eq=False)
class Parts:
    """The components of a graph, or other parts, as far as they have rows here; n_c counts their nodes everywhere."""

    ranks: Ranks
    of: IntArray  # the part of each row
    label: IntArray  # of each part: a node in it, for a component the smallest
    shared: IntArray  # the parts that may have rows elsewhere too

    @classmethod
    def by(cls, ranks: Ranks, label: IntArray) -> Parts:
        """Rows with the same label are a part, wherever they are."""
        found, place = np.unique(label, return_inverse=True)
        return cls(ranks, place, found, np.arange(found.size))

    def total(self, x: AnyArray) -> Array:
        """Sums of x over each part, wherever its rows are."""
        member = csr_array((np.ones(self.of.size), (self.of, np.arange(self.of.size))), (self.label.size, self.of.size))
        sums = np.asarray(member @ x, dtype=float)
        mine = np.column_stack([self.label[self.shared], sums[self.shared]])
        sums[self.shared] = self.ranks.asked(self.label[self.shared] % self.ranks.size, mine, _summed_by_label)[:, 1:]
        return sums

    @cached_property
    def size(self) -> IntArray:
        """n_c of each part."""
        return self.total(np.ones((self.of.size, 1)))[:, 0].astype(np.int64)


def _summed_by_label(rows: AnyArray) -> AnyArray:
    """Rows of a label and numbers: each number replaced by its sum over the rows with that label."""
    labels, place = np.unique(rows[:, 0], return_inverse=True)
    sums = np.zeros((labels.size, rows.shape[1] - 1))
    np.add.at(sums, place, rows[:, 1:])
    return np.column_stack([rows[:, 0], sums[place]])


@dataclass(frozen=True, eq=False, repr=False)
class ShardedGraph:
    """A graph of which each process of an MPI job holds some rows, for ``Learner(graph, engine="petsc")``.

    All processes call its methods together. Nodes are numbered and named as in an ordinary :class:`Graph`; ``nodes`` are
    those that live here, a row each. :func:`read_shards` makes one.
    """

    ranks: Ranks
    n_nodes: int
    n_edges: int
    nodes: IntArray  # of the rows here
    local: csr_array  # weights of the rows here: columns are the rows here, then the halo
    beyond: IntArray  # the nodes of the halo
    halo: Halo
    own_names: tuple[Hashable, ...] | None  # of the rows here
    notes: tuple[str, ...] = ()

    @property
    def n_rows(self) -> int:
        """How many rows are here."""
        return int(self.nodes.size)

    @cached_property
    def start(self) -> int:
        """How many rows the processes before this one have."""
        return self.ranks.before(self.n_rows)

    @cached_property
    def most_rows(self) -> int:
        """The most rows that a process has."""
        return int(self.ranks.highest(np.array([self.n_rows]))[0])

    @cached_property
    def degrees(self) -> Array:
        """d_i = Σ_j w_ij of the rows here."""
        return np.asarray(self.local.sum(axis=1), dtype=float)

    @cached_property
    def mean_degree(self) -> float:
        """Over the nodes that have an edge; 1 without any."""
        joined = self.degrees > 0
        total, count = self.ranks.total(np.array([self.degrees.sum(), np.count_nonzero(joined)]))
        return float(total / count) if count else 1.0

    def neighbors(self, x: AnyArray) -> AnyArray:
        """W x."""
        return np.asarray(self.local @ np.concatenate([x, self.halo.fetched(x)]))

    @cached_property
    def parts(self) -> Parts:
        """Components: those of the rows here, joined across ranks by handing on their smallest nodes until nothing changes."""
        count, part = connected_components(self.local[:, : self.n_rows], directed=False)
        label = np.full(count, self.n_nodes, dtype=np.int64)
        np.minimum.at(label, part, self.nodes)
        row = np.repeat(np.arange(self.n_rows), np.diff(self.local.indptr))
        out = self.local.indices >= self.n_rows
        home, there = part[row[out]], self.local.indices[out] - self.n_rows
        while True:
            lower = label.copy()
            np.minimum.at(lower, home, self.halo.fetched(label[part])[there])
            if not self.ranks.total(np.array([np.count_nonzero(lower < label)]))[0]:
                break
            label = lower
        found, place = np.unique(label, return_inverse=True)  # parts here may be joined elsewhere
        return Parts(self.ranks, place[part], found, np.unique(place[home]))

    @cached_property
    def _sorted(self) -> tuple[IntArray, IntArray]:
        order = np.argsort(self.nodes, kind="stable")
        return self.nodes[order], order

    def rows_of(self, nodes: IntArray) -> IntArray:
        """The rows of some nodes; -1 for one that lives elsewhere."""
        known, order = self._sorted
        at = np.minimum(np.searchsorted(known, nodes), max(known.size - 1, 0))
        return np.where(known[at] == nodes, order[at], -1) if known.size else np.full(np.shape(nodes), -1)

    def index(self, name: Hashable) -> int:
        """The index of a node."""
        if self.own_names is None:
            whole = isinstance(name, int | np.integer) and not isinstance(name, bool)
            if whole and 0 <= name < self.n_nodes:  # type: ignore[operator]  # whole says that it is a number
                return int(name)  # type: ignore[call-overload]  # as above
            raise LabelError(f"no node {name!r} in this graph; it has no names, its nodes are 0 to {self.n_nodes - 1}")
        found = [at for at in self.ranks.comm.allgather(self._places.get(name)) if at is not None]
        if not found:
            some = next(part for part in self.ranks.comm.allgather(self.own_names[:5]) if part)
            raise LabelError(f"no node {name!r} in this graph; some of its nodes are {', '.join(map(repr, some))}")
        return int(found[0])

    @cached_property
    def _places(self) -> dict[Hashable, int]:
        return dict(zip(self.own_names or (), self.nodes.tolist(), strict=False))

    def name(self, index: int) -> Hashable:
        """The name of a node, or its index where the graph has no names."""
        if not 0 <= index < self.n_nodes:
            raise LabelError(f"no node with index {index}: indices run from 0 to {self.n_nodes - 1}")
        if self.own_names is None:
            return int(index)
        row = int(self.rows_of(np.array([index]))[0])
        names = self.ranks.comm.allgather(None if row < 0 else (self.own_names[row],))
        return next(name[0] for name in names if name is not None)

    def gathered(self) -> Graph:
        """The same as an ordinary graph, in every process."""
        ends = np.concatenate([self.nodes, self.beyond])
        every = self.ranks.comm.allgather((self.nodes, np.diff(self.local.indptr), ends[self.local.indices]))
        i = np.concatenate([np.repeat(nodes, counts) for nodes, counts, _ in every])
        j, w = np.concatenate([ends for _, _, ends in every]), self.ranks.joined(self.local.data)
        names = None
        if self.own_names is not None:
            named = dict(pair for part in self.ranks.comm.allgather(self._places) for pair in part.items())
            names = sorted(named, key=named.__getitem__)
        return Graph(csr_array((w, (i, j)), shape=(self.n_nodes, self.n_nodes)), names).noted(*self.notes)

    def arrays(self) -> dict[str, Any]:
        """What `Graph.arrays` gives, all of it in every process."""
        return self.gathered().arrays()

    @property
    def weights(self) -> csr_array:
        """No process has them all."""
        raise EngineError(
            f"this needs all weights of a graph that lives in {counted(self.ranks.size, 'rank')}: "
            "where it fits into one, take graph.gathered() and another engine"
        )

    def components(self) -> IntArray:
        """No process has them all: ``parts`` are those here."""
        return self.weights

    def __repr__(self) -> str:
        """One line, whatever the size."""
        size = f"{counted(self.n_nodes, 'node')}, {counted(self.n_edges, 'edge')}"
        return f"ShardedGraph({size}, {counted(self.ranks.size, 'rank')})"
