"""A graph whose rows are distributed over the processes of an MPI job."""

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
from askgraph.graph.names import as_index
from askgraph.support.wording import counted
from askgraph.types import AnyArray, Array, IntArray


@dataclass(frozen=True, eq=False)
class Halo:
    """The nodes of other ranks that have an edge to a row of this rank, and the way to fetch their values."""

    ranks: Ranks
    owner: IntArray  # of each node of the halo: its rank
    row: IntArray  # of each node of the halo: its row on that rank
    n_rows: int  # rows of this rank

    @cached_property
    def _forest(self) -> Any:
        from petsc4py import PETSc

        forest = PETSc.SF().create(comm=self.ranks.comm)
        forest.setGraph(self.n_rows, None, np.column_stack([self.owner, self.row]).astype(PETSc.IntType))
        return forest

    def fetched(self, x: AnyArray) -> AnyArray:
        """Return the rows of x that belong to the halo; each rank passes its own rows of x."""
        out = np.empty((self.owner.size, *x.shape[1:]), x.dtype)
        self.fetch(np.ascontiguousarray(x), out)
        return out

    def fetch(self, x: AnyArray, out: AnyArray) -> None:
        """Write the rows of x that belong to the halo into ``out``; both are contiguous."""
        from mpi4py import MPI

        unit = MPI.BYTE.Create_contiguous(x.dtype.itemsize * int(np.prod(x.shape[1:], dtype=np.int64))).Commit()
        self._forest.bcastBegin(unit, x, out, MPI.REPLACE)
        self._forest.bcastEnd(unit, x, out, MPI.REPLACE)
        unit.Free()


@dataclass(frozen=True, eq=False)
class Parts:
    """The components of a graph, or other parts, that have rows on this rank; n_c counts their nodes on all ranks."""

    ranks: Ranks
    of: IntArray  # the part of each row
    label: IntArray  # of each part: a node in it, for a component its smallest node
    shared: IntArray  # the parts that may have rows on other ranks too

    @classmethod
    def group_by(cls, ranks: Ranks, label: IntArray) -> Parts:
        """Group the rows of all ranks by their labels."""
        found, place = np.unique(label, return_inverse=True)
        return cls(ranks, place, found, np.arange(found.size))

    def total(self, x: AnyArray) -> Array:
        """Return the sums of x over the rows of each part, on all ranks."""
        member = csr_array((np.ones(self.of.size), (self.of, np.arange(self.of.size))), (self.label.size, self.of.size))
        sums = np.asarray(member @ x, dtype=float)
        mine = np.column_stack([self.label[self.shared], sums[self.shared]])
        sums[self.shared] = self.ranks.ask(self.label[self.shared] % self.ranks.size, mine, _sum_by_label)[:, 1:]
        return sums

    @cached_property
    def size(self) -> IntArray:
        """The number of nodes n_c of each part, on all ranks."""
        return self.total(np.ones((self.of.size, 1)))[:, 0].astype(np.int64)


def _sum_by_label(rows: AnyArray) -> AnyArray:
    """Replace the numbers after the label in each row by their sums over all rows with that label."""
    labels, place = np.unique(rows[:, 0], return_inverse=True)
    sums = np.zeros((labels.size, rows.shape[1] - 1))
    np.add.at(sums, place, rows[:, 1:])
    return np.column_stack([rows[:, 0], sums[place]])


@dataclass(frozen=True, eq=False, repr=False)
class ShardedGraph:
    """A graph whose rows are distributed over the processes of an MPI job, for ``Learner(graph, engine="petsc")``.

    All processes call its methods together. Nodes are numbered and named as in an ordinary :class:`Graph`.
    :func:`read_shards` makes one.

    Attributes
    ----------
    ranks : Ranks
        The processes.
    n_nodes, n_edges : int
        The size of the whole graph.
    nodes : array of int
        The nodes whose rows are in this process.
    local : scipy.sparse.csr_array
        The weights of these rows; columns are the rows of this process, then the halo.
    beyond : array of int
        The nodes of the halo: nodes of other processes that have an edge to a row of this process.
    halo : Halo
        The way to fetch values of the nodes in ``beyond``.
    own_names : tuple or None
        The names of the rows of this process; None where nodes have no names.
    notes : tuple of str
        What cleaning changed.

    Examples
    --------
    Lines of a file ``label.py``, which ``mpiexec -n 4 python label.py`` runs in four processes::

        graph = ag.read_shards("edges/*.csv")
        learner = ag.Learner(graph, engine="petsc", rng=0)
        node = learner.ask()  # the same in every process
    """

    ranks: Ranks
    n_nodes: int
    n_edges: int
    nodes: IntArray
    local: csr_array
    beyond: IntArray
    halo: Halo
    own_names: tuple[Hashable, ...] | None
    notes: tuple[str, ...] = ()

    @property
    def n_rows(self) -> int:
        """The number of rows in this process."""
        return int(self.nodes.size)

    @property
    def columns(self) -> IntArray:
        """The numbers of the columns of ``local``, where all rows are numbered one process after another."""
        starts = np.cumsum([0, *self.ranks.comm.allgather(self.n_rows)])
        return np.r_[starts[self.ranks.rank] + np.arange(self.n_rows), starts[self.halo.owner] + self.halo.row]

    @cached_property
    def most_rows(self) -> int:
        """The number of rows in the process that has most."""
        return int(self.ranks.max(np.array([self.n_rows]))[0])

    @cached_property
    def degrees(self) -> Array:
        """The degrees d_i = Σ_j w_ij of the rows in this process."""
        return np.asarray(self.local.sum(axis=1), dtype=float)

    @cached_property
    def mean_degree(self) -> float:
        """The mean degree of the nodes that have an edge, over all processes; 1 if no node has one."""
        linked = self.degrees > 0
        total, count = self.ranks.sum(np.array([self.degrees.sum(), np.count_nonzero(linked)]))
        return float(total / count) if count else 1.0

    def neighbors(self, x: AnyArray) -> AnyArray:
        """Return W x.

        Parameters
        ----------
        x : array
            The values of the nodes of this process, one row per node.

        Returns
        -------
        array
            The weighted sums over the neighbors of each of these nodes, wherever the neighbors are.
        """
        return np.asarray(self.local @ np.concatenate([x, self.halo.fetched(x)]))

    @cached_property
    def parts(self) -> Parts:
        """The components that have rows in this process.

        Components of each process are merged across processes: each takes on the smallest node that a neighbor knows,
        until nothing changes.
        """
        count, part = connected_components(self.local[:, : self.n_rows], directed=False)
        label = np.full(count, self.n_nodes, dtype=np.int64)
        np.minimum.at(label, part, self.nodes)
        row = np.repeat(np.arange(self.n_rows), np.diff(self.local.indptr))
        out = self.local.indices >= self.n_rows
        home, there = part[row[out]], self.local.indices[out] - self.n_rows
        while True:
            lower = label.copy()
            np.minimum.at(lower, home, self.halo.fetched(label[part])[there])
            if not self.ranks.sum(np.array([np.count_nonzero(lower < label)]))[0]:
                break
            label = lower
        found, place = np.unique(label, return_inverse=True)  # parts of this process may meet in another one
        return Parts(self.ranks, place[part], found, np.unique(place[home]))

    @cached_property
    def _sorted(self) -> tuple[IntArray, IntArray]:
        order = np.argsort(self.nodes, kind="stable")
        return self.nodes[order], order

    def rows_of(self, nodes: IntArray) -> IntArray:
        """Return the rows of some nodes in this process.

        Parameters
        ----------
        nodes : array of int
            The nodes.

        Returns
        -------
        array of int
            One row per node asked for; -1 for a node of another process.
        """
        known, order = self._sorted
        at = np.minimum(np.searchsorted(known, nodes), max(known.size - 1, 0))
        return np.where(known[at] == nodes, order[at], -1) if known.size else np.full(np.shape(nodes), -1)

    def index(self, name: Hashable) -> int:
        """Return the index of a node.

        Parameters
        ----------
        name : hashable
            The name of the node, or its index where the graph has no names.

        Returns
        -------
        int
            The index, from 0; the same in every process.
        """
        if self.own_names is None:
            if (index := as_index(name, self.n_nodes)) is not None:
                return index
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
        """Return the name of a node, or its index where the graph has no names.

        Parameters
        ----------
        index : int
            The index of the node, from 0.

        Returns
        -------
        hashable
            The name; the same in every process.
        """
        if not 0 <= index < self.n_nodes:
            raise LabelError(f"no node with index {index}: indices run from 0 to {self.n_nodes - 1}")
        if self.own_names is None:
            return int(index)
        row = int(self.rows_of(np.array([index]))[0])
        names = self.ranks.comm.allgather(None if row < 0 else (self.own_names[row],))
        return next(name[0] for name in names if name is not None)

    def gathered(self) -> Graph:
        """Return the whole graph as an ordinary graph, in every process.

        Returns
        -------
        Graph
            The graph with its names and notes; it must fit into one process.
        """
        ends = np.concatenate([self.nodes, self.beyond])
        every = self.ranks.comm.allgather((self.nodes, np.diff(self.local.indptr), ends[self.local.indices]))
        i = np.concatenate([np.repeat(nodes, counts) for nodes, counts, _ in every])
        j, w = np.concatenate([ends for _, _, ends in every]), self.ranks.allgather(self.local.data)
        names = None
        if self.own_names is not None:
            named = dict(pair for part in self.ranks.comm.allgather(self._places) for pair in part.items())
            names = sorted(named, key=named.__getitem__)
        return Graph(csr_array((w, (i, j)), shape=(self.n_nodes, self.n_nodes)), names).noted(*self.notes)

    def arrays(self) -> dict[str, Any]:
        """Return the arrays that :meth:`Graph.save` writes of the whole graph, in every process.

        Returns
        -------
        dict
            {name: array}.
        """
        return self.gathered().arrays()

    @property
    def weights(self) -> csr_array:
        """Not available: raises an error, since no process has all weights. ``local`` has those of this process."""
        raise self._not_in_one_process()

    def components(self) -> IntArray:
        """Raise an error, since no process has all components; ``parts`` has those of this process."""
        raise self._not_in_one_process()

    def _not_in_one_process(self) -> EngineError:
        return EngineError(
            f"this needs all weights of a graph that is distributed over {counted(self.ranks.size, 'rank')}: "
            "if it fits into one process, use graph.gathered() and another engine"
        )

    def __repr__(self) -> str:
        """Return one line with the number of nodes, edges and ranks."""
        size = f"{counted(self.n_nodes, 'node')}, {counted(self.n_edges, 'edge')}"
        return f"ShardedGraph({size}, {counted(self.ranks.size, 'rank')})"
