"""Rows that live in many processes, and what looks across them."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from askgraph.distributed.ranks import Ranks
from askgraph.distributed.sharded_graph import ShardedGraph
from askgraph.spaces.local import Rows
from askgraph.types import AnyArray, Array, IntArray


class RankRows(Rows):
    """The rows of a sharded graph's nodes: every method is called in all processes together, and answers the same in each."""

    alone = False
    graph: ShardedGraph

    @property
    def ranks(self) -> Ranks:
        """The processes."""
        return self.graph.ranks

    @property
    def writes(self) -> bool:
        """Whether this process is the one that writes files."""
        return self.ranks.first

    def meet(self) -> None:
        """Wait for all processes."""
        self.ranks.comm.Barrier()

    @property
    def n_rows(self) -> int:
        """How many rows are here."""
        return self.graph.n_rows

    @property
    def most_rows(self) -> int:
        """The most rows that a process has."""
        return self.graph.most_rows

    @property
    def threads(self) -> int:
        """One: what the processes do together, they do in the same order."""
        return 1

    def gather(self, x: AnyArray) -> AnyArray:
        """All rows, a node after another, in every process."""
        out = np.empty((self.graph.n_nodes, *x.shape[1:]), x.dtype)
        out[self.ranks.joined(self.graph.nodes)] = self.ranks.joined(x)
        return out

    def land(self, x: AnyArray) -> AnyArray:
        """Rows that are no nodes, such as `linked` gives: every process has them."""
        return x

    def scatter(self, x: AnyArray) -> AnyArray:
        """Of a row a node, the rows that live here."""
        return x[self.graph.nodes]

    def total(self, x: AnyArray) -> Any:
        """Sum over all nodes."""
        return self.ranks.total(np.asarray(x.sum(axis=0)))[()]

    def inner(self, a: AnyArray, b: AnyArray) -> Array:
        """Aᵀ B, summed over all nodes."""
        return self.ranks.total(np.asarray(a.T @ b))

    def highest(self, x: AnyArray) -> Any:
        """The largest over all nodes, -inf without any."""
        return self.ranks.highest(np.asarray(x.max(axis=0, initial=-np.inf)))[()]

    def count(self, rows: IntArray) -> int:
        """How many rows these are, everywhere."""
        return int(self.ranks.total(np.array(rows.size)))

    def pick(self, x: AnyArray, node: int | IntArray) -> AnyArray:
        """Row(s) of x at a node, wherever it lives."""
        rows = self.rows_of(np.atleast_1d(node))
        here, out = rows >= 0, np.zeros((rows.size, *x.shape[1:]), np.int8 if x.dtype == bool else x.dtype)
        out[here] = x[rows[here]]
        return self.ranks.total(out).astype(x.dtype, copy=False).reshape((*np.shape(node), *x.shape[1:]))

    def put(self, x: AnyArray, nodes: IntArray, values: Any) -> AnyArray:
        """x with other values at these nodes."""
        x, rows = x.copy(), self.rows_of(nodes)
        here = rows >= 0
        x[rows[here]] = values if np.ndim(values) == 0 else np.asarray(values)[here]
        return x

    def nodes_of(self, rows: IntArray) -> IntArray:
        """The nodes of some rows here."""
        return self.graph.nodes[rows]

    def rows_of(self, nodes: IntArray) -> IntArray:
        """The rows of some nodes; -1 for one that lives elsewhere."""
        return self.graph.rows_of(nodes)

    def everyone(self, x: AnyArray) -> AnyArray:
        """A few rows that every process has, one process after another."""
        return self.ranks.joined(x)

    def mine(self, x: AnyArray, like: AnyArray) -> AnyArray:
        """Of what `everyone` made, the rows that belong to what is here."""
        start = self.ranks.before(len(like))
        return x[start : start + len(like)]

    def summed(self, x: Array) -> Array:
        """Numbers that every process has a part of."""
        return self.ranks.total(x)

    def linked(self, links: csr_array, x: AnyArray) -> AnyArray:
        """Rows outside the graph that hang on nodes by weights: links x."""
        return self.ranks.total(np.asarray(links[:, self.graph.nodes] @ x))

    def sample(self, rows: IntArray, count: int) -> IntArray:
        """About so many of these rows, evenly spaced over their nodes: the same nodes for any number of processes."""
        every = self.count(rows)
        step = max(1, every // count)
        chosen = self._at(rows, np.arange(0, every, step))
        return rows[np.isin(self.nodes_of(rows), chosen)]

    def draw(self, rows: IntArray, rng: np.random.Generator) -> int:
        """One of these nodes."""
        return int(self._at(rows, rng.integers(self.count(rows), size=1))[0])

    def best(self, rows: IntArray, scores: Array, rng: np.random.Generator) -> int:
        """The node with the highest score; among ties, sorted by index, the generator draws one."""
        least = self.highest(scores) - self.tie * self.highest(abs(scores))
        return self.draw(rows[scores >= least], rng)

    def _at(self, rows: IntArray, places: IntArray) -> IntArray:
        """The nodes at these places in the order of all their nodes, by bisection: nobody holds them all."""
        nodes = np.sort(self.nodes_of(rows))
        low, high = np.zeros(places.size, dtype=np.int64), np.full(places.size, self.graph.n_nodes - 1)
        while (low < high).any():
            middle = (low + high) // 2
            up_to = self.ranks.total(np.searchsorted(nodes, middle, side="right"))
            low, high = np.where(up_to > places, low, middle + 1), np.where(up_to > places, middle, high)
        return low
