"""C ≈ Q⁻¹ from neighborhoods: row i is that of node i in the inverse of Q on i and its neighbors, and 0 elsewhere.

With G = Q⁻¹, c_ii + ((I − CQ) G (I − CQ)ᵀ)_ii = g_ii, whatever the neighborhoods are: what is left to estimate of a variance is
small where C is near G.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from askgraph.linalg.cg_kernels import Matrix
from askgraph.linalg.near_kernels import BUSY, MOST, invert, subtract
from askgraph.support.threads import in_threads
from askgraph.types import AnyArray, Array, BoolArray, IntArray

CHUNK = 65_536  # rows that a thread inverts at a time


class Rows(NamedTuple):
    """Some rows of C, one after another."""

    size: IntArray  # entries per row
    node: NDArray[np.uint32]
    value: Array

    @property
    def first(self) -> IntArray:
        """Where each row begins, and where the last one ends."""
        return np.append(0, np.cumsum(self.size))

    @property
    def own(self) -> Array:
        """c_ii of each row i: the last of its entries."""
        return self.value[self.first[1:] - 1]

    @property
    def sums(self) -> Array:
        """The sum of each row."""
        return np.add.reduceat(self.value, self.first[:-1]) if self.size.size else np.zeros(0)


def inverted(Q: Matrix, rows: IntArray, left_out: BoolArray) -> Rows:
    """Return some rows of C; nodes that are left out are in the neighborhoods of no other node."""
    nodes, values = np.zeros((rows.size, MOST), np.uint32), np.zeros((rows.size, MOST))
    count = np.zeros(rows.size, np.int64)
    invert(Q, rows.astype(np.uint64), left_out, nodes, values, count)
    there = np.arange(MOST) < count[:, None]
    return Rows(count, nodes[there], values[there])


class Near:
    """C, with the nodes of Q in an order of their own: ``order`` lists the nodes, ``place`` says where each one is."""

    def __init__(self, Q: Matrix, order: AnyArray, place: AnyArray) -> None:
        self._Q, self._order, self._place = Q, order, place
        n = len(place)
        none, ends = np.zeros(n, bool), [*range(0, n, CHUNK), n]
        parts = in_threads(lambda rows: inverted(Q, np.arange(*rows), none), list(pairwise(ends)))
        own, sums = (np.concatenate([np.zeros(0), *x]) for x in ([r.own for r in parts], [r.sums for r in parts]))
        self.diagonal, self.sums = own[place], sums[place]  # c_ii and C1, one per node
        count, node = (np.concatenate(x) for x in ([r.size for r in parts], [r.node for r in parts]))
        self.first, self.node = np.append(0, np.cumsum(count)).astype(np.uint64), node
        self.value = np.concatenate(
            [r.value.astype(np.float32) for r in parts]
        )  # in the order of Q, like first and node

    def subtract(self, x: AnyArray, q: AnyArray, y: AnyArray) -> None:
        """Set y = x - C q for a block of columns, all in the order of Q."""
        subtract((0,) * x.shape[1], self.first, self.node, self.value, x, q, y)

    def times(self, x: AnyArray) -> Array:
        """Return C x, in the order of Q."""
        C = csr_array((self.value, self.node.astype(np.int32), self.first.astype(np.int64)), shape=(len(x), len(x)))
        return np.asarray(C @ x)

    def rows(self, nodes: IntArray, left_out: IntArray) -> Rows:
        """Return C at some nodes, with other nodes left out of their neighborhoods."""
        out = np.zeros(len(self._place), bool)
        out[self._place[left_out]] = True
        found = inverted(self._Q, self._place[nodes], out)
        return found._replace(node=self._order[found.node])

    def around(self, node: int) -> IntArray:
        """Return the nodes that have this one in their neighborhoods, itself aside."""
        i = self._place[node]
        others = self._Q.node[int(self._Q.first[i]) : int(self._Q.first[i + 1])].astype(np.int64)
        if others.size > BUSY:
            return np.zeros(0, np.int64)
        mine = [(self.node[int(self.first[j]) : int(self.first[j + 1])] == i).any() for j in others]
        return np.asarray(self._order[others[np.array(mine, dtype=bool)]], dtype=np.int64)
