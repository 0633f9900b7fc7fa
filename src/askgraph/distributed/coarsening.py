"""Aggregates of a graph over MPI ranks, level after level, until the graph of aggregates fits into every rank."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components

from askgraph.distributed.ranks import Ranks
from askgraph.linalg.multigrid import Groups, Level
from askgraph.types import AnyArray, Array, BoolArray, IntArray

SHARE = 0.5  # of the rows of a rank: a level with at most this share of aggregates is gathered; more would slow the solves down
SMALL = 1_000  # aggregates: a level of this size is gathered in any case
LEAST_SHRINKAGE = 2  # a level that is not half as large as the one before ends the search: the graph does not coarsen


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows of Q = Laplacian(weights) + diag(excess) on this rank; columns are numbered over all ranks."""

    ranks: Ranks
    weights: csr_array
    excess: Array

    @cached_property
    def starts(self) -> IntArray:
        """Where the rows of each rank begin; the last number is that of all rows."""
        return np.cumsum([0, *self.ranks.comm.allgather(self.excess.size)])

    @property
    def start(self) -> int:
        """Where the rows of this rank begin."""
        return int(self.starts[self.ranks.rank])

    @property
    def total(self) -> int:
        """The number of rows on all ranks."""
        return int(self.starts[-1])

    @cached_property
    def degree(self) -> IntArray:
        """The number of neighbors of each row."""
        return np.asarray(np.diff(self.weights.indptr))

    @cached_property
    def diagonal(self) -> Array:
        """diag(Q)."""
        return np.asarray(self.weights.sum(axis=1)).ravel() + self.excess

    def coarser(self, plain: bool = False) -> tuple[Groups, Rows]:
        """Return the aggregate of each row, -1 for a row without neighbors, and the rows of the aggregates of this rank.

        Aggregates do not cross ranks; with ``plain`` they are what is connected within the rank.
        """
        inside = self._inside()
        if plain:
            count, group = connected_components(inside.weights, directed=False)
            group[self.degree == 0] = -1
            found, group[group >= 0] = np.unique(group[group >= 0], return_inverse=True)
            count = found.size
        else:
            group, count = inside.aggregates()
            alone = (group < 0) & (self.degree > 0)  # all neighbors are on other ranks
            group[alone] = count + np.arange(np.count_nonzero(alone))
            count += np.count_nonzero(alone)
        return group, self._contracted(group, count)

    def gathered(self) -> Level:
        """Return all rows, on every rank."""
        W, gather = self.weights, self.ranks.allgather
        first = np.append(0, np.cumsum(gather(self.degree)))
        entries = gather(W.data), gather(W.indices).astype(np.int32), first.astype(np.int32)
        return Level(csr_array(entries, shape=(self.total, self.total)), gather(self.excess))

    def _inside(self) -> Level:
        """Return the rows without their neighbors on other ranks."""
        W, n = self.weights, self.excess.size
        near = self._is_here(W.indices)
        first = np.append(0, np.cumsum(near))[W.indptr].astype(np.int32)
        entries = W.data[near], (W.indices[near] - self.start).astype(np.int32), first
        return Level(csr_array(entries, shape=(n, n)), self.excess)

    def _is_here(self, columns: AnyArray) -> BoolArray:
        return np.asarray((columns >= self.start) & (columns < self.start + self.excess.size))

    def _contracted(self, group: Groups, count: int) -> Rows:
        """Return the rows of the aggregates: the weight between two is Σ w_ij over i in one, j in the other."""
        starts = np.cumsum([0, *self.ranks.comm.allgather(count)])
        first, there = int(starts[self.ranks.rank]), self.degree > 0
        number = first + group.astype(np.int64)
        row, column = np.repeat(number, self.degree), self._at_columns(number)
        off = row != column
        entries = self.weights.data[off], (row[off] - first, column[off])
        weights = coo_array(entries, shape=(count, int(starts[-1]))).tocsr()
        excess = np.bincount(group[there], self.excess[there], minlength=count)
        return Rows(self.ranks, weights, excess.astype(np.float64))

    def _at_columns(self, number: IntArray) -> IntArray:
        """Return the numbers of the columns of all entries, where each rank has the numbers of its rows."""
        columns, here = self.weights.indices, self._is_here(self.weights.indices)
        beyond, place = np.unique(columns[~here], return_inverse=True)
        owner = np.searchsorted(self.starts, beyond, side="right") - 1
        asked = self.ranks.ask(owner, beyond, lambda wanted: number[wanted - self.start])
        found = np.empty(columns.size, dtype=np.int64)
        found[here], found[~here] = number[columns[here] - self.start], asked[place]
        return found


def coarsened(fine: Rows, plain: bool) -> tuple[list[Rows], list[Groups]] | None:
    """Return levels from fine to one that every rank can hold, and the aggregate of each row; None if the graph does not coarsen.

    Rows without neighbors take no part in the next level. With ``plain`` the first aggregates are what is connected within
    a rank, for graphs that mix fast.
    """
    group, rows = fine.coarser(plain)
    levels, groups = [fine, rows], [group]
    while rows.total > max(SHARE * fine.total / fine.ranks.size, SMALL):
        group, rows = rows.coarser()
        if rows.total * LEAST_SHRINKAGE > levels[-1].total:
            return None
        levels.append(rows)
        groups.append(group)
    return (levels, groups) if rows.total else None
