"""Where arrays with one row per node live, and the operations that look across their rows.

An engine keeps its arrays where it works: in NumPy, on a GPU, or some of the rows in each process of an MPI job. Arithmetic
between arrays of one space needs nothing from here; NumPy's functions do it. What looks across rows, or moves an array from one
memory to another, is a method of the space. Small arrays (a few rows, one number per class or label) are always NumPy's.

A *node* is a number of the graph; a *row* is an index into the arrays of this process. On one machine the two are equal.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, Literal, TypeVar

import numpy as np
from scipy.sparse import csr_array

from askgraph.support.threads import n_cores
from askgraph.types import AnyArray, Array, BoolArray, IntArray

Made = TypeVar("Made")


class Space(ABC):
    """Arrays of one memory, one row per node that lives in it.

    The primitives are abstract; everything else is derived from them, and overridden only where a space has a faster way.
    """

    alone: ClassVar[bool] = True  # whether this process may go on without others
    part_bytes: ClassVar[int] = 1_000_000  # of an array of all classes and some rows, which then stays in cache

    def __init__(self, n_nodes: int) -> None:
        self.n_nodes = n_nodes

    @property
    def n_rows(self) -> int:
        """The number of rows in this process."""
        return self.n_nodes

    @abstractmethod
    def zeros(self, *more: int, dtype: Any = float, order: Literal["C", "F"] = "C") -> AnyArray:
        """Return zeros, one row per node of this process; with order "F" each column is contiguous."""

    @abstractmethod
    def asarray(self, x: AnyArray) -> AnyArray:
        """Copy a NumPy array to the memory of this space (no copy on the CPU)."""

    @abstractmethod
    def to_numpy(self, x: AnyArray) -> AnyArray:
        """Copy an array of this process to NumPy (no copy on the CPU)."""

    def nodes_of(self, rows: IntArray) -> IntArray:
        """Return the nodes of some rows of this process."""
        return rows

    def rows_of(self, nodes: IntArray) -> IntArray:
        """Return the rows of some nodes; -1 for a node that lives in another process."""
        return nodes

    def allgather(self, x: AnyArray) -> AnyArray:
        """Return, as NumPy, the rows that each process passes, one process after another."""
        return self.to_numpy(x)

    def allreduce(self, x: AnyArray, how: Literal["sum", "max"] = "sum") -> Any:
        """Return, as NumPy, the sum or the maximum over the processes of what each process passes."""
        return self.to_numpy(x)

    @property
    def writes(self) -> bool:
        """Whether this process is the one that writes files."""
        return True

    @property
    def process(self) -> tuple[int, int]:
        """The number of this process, from 0, and the number of all."""
        return 0, 1

    def all_or_error(self, make: Callable[[], Made]) -> Made:
        """Return what each process makes alone; if one fails, raise its error in all."""
        return make()

    def barrier(self) -> None:  # noqa: B027 -- a process that is alone waits for nobody
        """Wait for all processes."""

    @property
    def most_rows(self) -> int:
        """The most rows that any process has: processes that must decide alike decide by this number."""
        return self.n_rows

    @property
    def threads(self) -> int:
        """The number of threads that may work on rows at the same time."""
        return n_cores()

    def gather(self, x: AnyArray) -> AnyArray:
        """Return all rows in the order of nodes, as NumPy, in every process."""
        return self.to_numpy(x)

    def scatter(self, x: AnyArray) -> AnyArray:
        """Return the rows of this process of a NumPy array that has one row per node."""
        return self.asarray(x)

    def local_part(self, x: AnyArray, like: AnyArray) -> AnyArray:
        """Undo `allgather`: return the part of a gathered array that came from this process, which has ``len(like)`` rows."""
        return self.asarray(x)

    def total(self, x: AnyArray) -> Any:
        """Return the sum of x over all nodes."""
        return self.allreduce(x.sum(axis=0))[()]

    def inner(self, a: AnyArray, b: AnyArray) -> Array:
        """Return AᵀB, summed over all nodes."""
        return np.asarray(self.allreduce(a.T @ b))

    def highest(self, x: AnyArray) -> Any:
        """Return the largest value over all nodes, -inf where there are none."""
        here = x.max(axis=0) if len(x) else np.full(x.shape[1:], -np.inf)
        return self.allreduce(here, "max")[()]

    def count(self, rows: IntArray) -> int:
        """Return the number of rows that all processes pass together."""
        return int(self.allreduce(np.array(rows.size)))

    def pick(self, x: AnyArray, node: int | IntArray) -> AnyArray:
        """Return, as NumPy, the rows of x at one node or several, wherever they live."""
        return np.asarray(self.to_numpy(x[node]))

    def put(self, x: AnyArray, nodes: IntArray, values: Any) -> AnyArray:
        """Return a copy of x with other values at these nodes."""
        x = x.copy()
        x[nodes] = values
        return x

    def unit(self, node: int) -> BoolArray:
        """Return an array that is true at this node alone."""
        return self.put(self.zeros(dtype=bool), np.array([node]), True)

    def linked(self, links: csr_array, x: AnyArray) -> AnyArray:
        """Return ``links @ x``: one row per sample outside the graph, ``links`` being its weights to nodes."""
        return self.asarray(np.asarray(links @ self.to_numpy(x)))

    def sample(self, rows: IntArray, count: int) -> IntArray:
        """Return about ``count`` of these rows, evenly spaced over their nodes."""
        return rows[:: max(1, rows.size // count)]

    def draw(self, rows: IntArray, rng: np.random.Generator) -> int:
        """Draw one of these rows at random, over all processes, and return its node."""
        nodes = np.sort(self.allgather(self.nodes_of(rows)))
        return int(nodes[rng.integers(nodes.size)])

    def best(self, rows: IntArray, scores: Array, rng: np.random.Generator, tie: float) -> int:
        """Return the node with the highest score; of scores within the share ``tie`` of the largest magnitude, one at random."""
        least = self.highest(scores) - tie * self.highest(abs(scores))
        return self.draw(rows[scores >= least], rng)

    def lowest(self, x: Array, count: int) -> IntArray:
        """Return where the ``count`` lowest of more numbers are, in any order."""
        return np.argpartition(x, count)[:count]

    def top(self, rows: IntArray, scores: Array, count: int) -> IntArray:
        """Return the ``count`` nodes with the highest scores, the best first, ties in the order of nodes."""
        if rows.size > count:
            some = scores >= scores[self.lowest(-scores, count)].min()  # ties at the end included
            rows, scores = rows[some], scores[some]
        nodes, scores = self.allgather(self.nodes_of(rows)), self.allgather(scores)
        return np.asarray(nodes[np.lexsort((nodes, -scores))][:count])
