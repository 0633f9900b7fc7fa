"""Arrays whose rows live in the processes of an MPI job."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from scipy.sparse import csr_array

from askgraph.distributed.ranks import Ranks
from askgraph.distributed.sharded_graph import ShardedGraph
from askgraph.spaces.base import Made, Space
from askgraph.types import AnyArray, IntArray


class MpiSpace(Space):
    """NumPy arrays, the rows of a sharded graph's nodes: all processes call a method together and get the same answer."""

    alone = False

    def __init__(self, graph: ShardedGraph) -> None:
        super().__init__(graph.n_nodes)
        self.graph = graph

    @property
    def ranks(self) -> Ranks:
        """The processes."""
        return self.graph.ranks

    def zeros(self, *more: int, dtype: Any = float, order: Literal["C", "F"] = "C") -> AnyArray:
        """Return zeros, one row per node of this process."""
        return np.zeros((self.n_rows, *more), dtype, order)

    def asarray(self, x: AnyArray) -> AnyArray:
        """Return x as it is."""
        return x

    def to_numpy(self, x: AnyArray) -> AnyArray:
        """Return x as it is."""
        return x

    @property
    def n_rows(self) -> int:
        """The number of rows in this process."""
        return self.graph.n_rows

    def nodes_of(self, rows: IntArray) -> IntArray:
        """Return the nodes of some rows of this process."""
        return self.graph.nodes[rows]

    def rows_of(self, nodes: IntArray) -> IntArray:
        """Return the rows of some nodes; -1 for a node that lives in another process."""
        return self.graph.rows_of(nodes)

    def allgather(self, x: AnyArray) -> AnyArray:
        """Return the rows that each process passes, one process after another."""
        return self.ranks.allgather(x)

    def allreduce(self, x: AnyArray, how: Literal["sum", "max"] = "sum") -> Any:
        """Return the sum or the maximum over the processes of what each passes."""
        return (self.ranks.sum if how == "sum" else self.ranks.max)(np.asarray(x))

    @property
    def writes(self) -> bool:
        """Whether this process is the one that writes files."""
        return self.ranks.first

    @property
    def process(self) -> tuple[int, int]:
        """The number of this process, from 0, and the number of all."""
        return self.ranks.rank, self.ranks.size

    def all_or_error(self, make: Callable[[], Made]) -> Made:
        """Return what each process makes alone; if one fails, raise its error in all."""
        return self.ranks.all_or_error(make)

    def barrier(self) -> None:
        """Wait for all processes."""
        self.ranks.comm.Barrier()

    @property
    def most_rows(self) -> int:
        """The most rows that any process has."""
        return self.graph.most_rows

    @property
    def threads(self) -> int:
        """One thread, since all processes must do what they do together in the same order."""
        return 1

    def gather(self, x: AnyArray) -> AnyArray:
        """Return all rows in the order of nodes, in every process."""
        out = np.empty((self.graph.n_nodes, *x.shape[1:]), x.dtype)
        out[self.ranks.allgather(self.graph.nodes)] = self.ranks.allgather(x)
        return out

    def scatter(self, x: AnyArray) -> AnyArray:
        """Return the rows of this process of an array that has one row per node."""
        return x[self.graph.nodes]

    def local_part(self, x: AnyArray, like: AnyArray) -> AnyArray:
        """Return the part of a gathered array that came from this process."""
        start = self.ranks.exscan(len(like))
        return x[start : start + len(like)]

    def pick(self, x: AnyArray, node: int | IntArray) -> AnyArray:
        """Return the rows of x at one node or several, wherever they live."""
        rows = self.rows_of(np.atleast_1d(node))
        here, out = rows >= 0, np.zeros((rows.size, *x.shape[1:]), np.int8 if x.dtype == bool else x.dtype)
        out[here] = x[rows[here]]
        return self.ranks.sum(out).astype(x.dtype, copy=False).reshape((*np.shape(node), *x.shape[1:]))

    def put(self, x: AnyArray, nodes: IntArray, values: Any) -> AnyArray:
        """Return a copy of x with other values at these nodes."""
        x, rows = x.copy(), self.rows_of(nodes)
        here = rows >= 0
        x[rows[here]] = values if np.ndim(values) == 0 else np.asarray(values)[here]
        return x

    def linked(self, links: csr_array, x: AnyArray) -> AnyArray:
        """Return ``links @ x``, in every process."""
        return self.ranks.sum(np.asarray(links[:, self.graph.nodes] @ x))

    def sample(self, rows: IntArray, count: int) -> IntArray:
        """Return about ``count`` of these rows, evenly spaced over their nodes: the same nodes for any number of processes."""
        every = self.count(rows)
        step = max(1, every // count)
        chosen = self._at(rows, np.arange(0, every, step))
        return rows[np.isin(self.nodes_of(rows), chosen)]

    def draw(self, rows: IntArray, rng: np.random.Generator) -> int:
        """Draw one of these rows at random, over all processes, and return its node."""
        return int(self._at(rows, rng.integers(self.count(rows), size=1))[0])

    def _at(self, rows: IntArray, places: IntArray) -> IntArray:
        """Return the nodes at some places in the sorted list of all rows' nodes, by bisection: no process holds the list."""
        nodes = np.sort(self.nodes_of(rows))
        low, high = np.zeros(places.size, dtype=np.int64), np.full(places.size, self.graph.n_nodes - 1)
        while (low < high).any():
            middle = (low + high) // 2
            up_to = self.ranks.sum(np.searchsorted(nodes, middle, side="right"))
            low, high = np.where(up_to > places, low, middle + 1), np.where(up_to > places, middle, high)
        return low
