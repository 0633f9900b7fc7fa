"""Where the rows of vectors live, and what looks across them.

A vector over the nodes is an array with a row a node, kept where its engine works: in numpy here, on a device, or a part of
the rows in each of many processes. Between rows of one place numpy's functions do all there is to do; what looks across them,
or brings something from elsewhere, is below. What is small (a few rows, a number a class or a label) is always numpy's.
"""

from __future__ import annotations

from os import cpu_count
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import csr_array

from askgraph.types import AnyArray, Array, BoolArray, IntArray


class Rows:
    """All rows in this process, in numpy: row and node are the same number."""

    n_nodes: int
    tie: ClassVar[float] = 1e-9  # scores this close to the best, relatively, are tied
    alone: ClassVar[bool] = True  # whether this process may go on without others

    @property
    def writes(self) -> bool:
        """Whether this process is the one that writes files."""
        return True

    def meet(self) -> None:
        """Wait for all processes."""

    @property
    def n_rows(self) -> int:
        """How many rows are here."""
        return self.n_nodes

    @property
    def most_rows(self) -> int:
        """The most rows that a process has: what all of them decide alike, they decide by this."""
        return self.n_rows

    @property
    def threads(self) -> int:
        """How many threads may work on rows at the same time."""
        return cpu_count() or 1

    def zeros(self, *more: int, dtype: Any = float) -> AnyArray:
        """A row a node here, at zero."""
        return np.zeros((self.n_rows, *more), dtype)

    def lift(self, x: AnyArray) -> AnyArray:
        """Something of numpy's where rows live."""
        return x

    def gather(self, x: AnyArray) -> AnyArray:
        """All rows, a node after another, in numpy."""
        return x

    def land(self, x: AnyArray) -> AnyArray:
        """Rows that are no nodes, such as `linked` gives, in numpy."""
        return self.gather(x)

    def scatter(self, x: AnyArray) -> AnyArray:
        """Of an array of numpy's with a row a node, the rows that live here."""
        return self.lift(x)

    def total(self, x: AnyArray) -> Any:
        """Sum over all nodes."""
        return x.sum(axis=0)

    def inner(self, a: AnyArray, b: AnyArray) -> Array:
        """Aᵀ B, summed over all nodes."""
        return np.asarray(a.T @ b)

    def highest(self, x: AnyArray) -> Any:
        """The largest over all nodes, -inf without any."""
        return x.max(axis=0, initial=-np.inf)

    def count(self, rows: IntArray) -> int:
        """How many rows these are, everywhere."""
        return int(rows.size)

    def pick(self, x: AnyArray, node: int | IntArray) -> AnyArray:
        """Row(s) of x at a node, wherever it lives."""
        return np.asarray(x[node])

    def take(self, x: AnyArray, node: int | IntArray) -> AnyArray:
        """The same where rows live."""
        return self.lift(self.pick(x, node))

    def put(self, x: AnyArray, nodes: IntArray, values: Any) -> AnyArray:
        """x with other values at these nodes."""
        x = x.copy()
        x[nodes] = values
        return x

    def unit(self, node: int) -> BoolArray:
        """True at this node."""
        return self.put(self.zeros(dtype=bool), np.array([node]), True)

    def nodes_of(self, rows: IntArray) -> IntArray:
        """The nodes of some rows here."""
        return rows

    def rows_of(self, nodes: IntArray) -> IntArray:
        """The rows of some nodes; -1 for one that lives elsewhere."""
        return nodes

    def everyone(self, x: AnyArray) -> AnyArray:
        """A few rows that every process has, one process after another."""
        return x

    def mine(self, x: AnyArray, like: AnyArray) -> AnyArray:
        """Of what `everyone` made, the rows that belong to what is here."""
        return x

    def summed(self, x: Array) -> Array:
        """Numbers that every process has a part of."""
        return x

    def linked(self, links: csr_array, x: AnyArray) -> AnyArray:
        """Rows outside the graph that hang on nodes by weights: links x."""
        return np.asarray(links @ x)

    def sample(self, rows: IntArray, count: int) -> IntArray:
        """About so many of these rows, evenly spaced over their nodes."""
        return rows[:: max(1, rows.size // count)]

    def draw(self, rows: IntArray, rng: np.random.Generator) -> int:
        """One of these nodes."""
        return int(self.nodes_of(rows)[rng.integers(rows.size)])

    def best(self, rows: IntArray, scores: Array, rng: np.random.Generator) -> int:
        """The node with the highest score; among ties, sorted by index, the generator draws one."""
        least = self.highest(scores) - self.tie * self.highest(abs(scores))
        tied = np.sort(self.everyone(self.nodes_of(rows[scores >= least])))
        return int(tied[rng.integers(tied.size)])

    def top(self, rows: IntArray, scores: Array, count: int) -> IntArray:
        """The nodes with the highest scores, best first, ties by node."""
        if rows.size > count:
            some = np.argpartition(-scores, count)[:count]
            rows, scores = rows[some], scores[some]
        nodes, scores = self.everyone(self.nodes_of(rows)), self.everyone(scores)
        return np.asarray(nodes[np.lexsort((nodes, -scores))][:count])
