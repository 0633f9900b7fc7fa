"""Partition: the rank of each row of a distributed matrix, chosen so that few edges cross between ranks."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from askgraph.distributed.ranks import Ranks
from askgraph.support.hashing import GOLDEN, finalize
from askgraph.types import AnyArray, IntArray

PARTITIONERS = ("parmetis", "ptscotch")  # of these, the first that PETSc was built with
PARTITION_FROM_NODES = 500  # per rank; with fewer, rows stay in the block they came in
EDGE_WEIGHTS = "mat_partitioning_use_edge_weights"  # the option of PETSc, which petsc4py has no method for
CLUSTER_FROM_NODES = (
    20_000  # per rank; from here on clusters of nodes are partitioned, a tenth as many, in half the time
)
MOST_ROWS = 1.1  # times the mean: where clusters would leave a rank with more, nodes are partitioned
TABLE_SIZE = 16  # times the numbers that are looked up: a larger table would take more than 128 bytes per row
MAX_LEVELS, MAX_STARTS = 2_000, 50  # of a breadth-first walk; nodes not reached by then follow in their own order


def partition(ranks: Ranks, rows: csr_array) -> IntArray:
    """Return the rank of each row of this block: by PETSc's partitioner, else by equal pieces of a breadth-first order."""
    n, start = rows.shape[1], ranks.exscan(rows.shape[0])
    if ranks.size == 1 or n < PARTITION_FROM_NODES * ranks.size:
        return np.full(rows.shape[0], ranks.rank)
    from petsc4py import PETSc

    for kind in PARTITIONERS:
        if PETSc.Sys.hasExternalPackage(kind):
            home = _partition_by_clusters(ranks, rows, kind) if n >= CLUSTER_FROM_NODES * ranks.size else None
            return _partition_by_petsc(ranks, rows, kind) if home is None else home
    return np.asarray(_breadth_first_order(ranks, rows, start) * ranks.size // n)


def _partition_by_petsc(ranks: Ranks, rows: csr_array, kind: str, counted: bool = False) -> IntArray:
    """Return the rank of each row by PETSc's partitioner; with ``counted``, entries are numbers of edges to be cut."""
    from petsc4py import PETSc

    options = PETSc.Options()
    if counted:
        options[EDGE_WEIGHTS] = 1
    size = ((rows.shape[0], rows.shape[1]), (rows.shape[0], rows.shape[1]))
    csr = (
        rows.indptr.astype(PETSc.IntType),
        rows.indices.astype(PETSc.IntType),
        rows.data if counted else np.ones(rows.nnz),
    )
    matrix = PETSc.Mat().createAIJ(size=size, csr=csr, comm=ranks.comm)
    partitioning, where = PETSc.MatPartitioning().create(comm=ranks.comm), PETSc.IS()
    partitioning.setAdjacency(matrix)
    partitioning.setType(kind)
    partitioning.setFromOptions()
    partitioning.apply(where)
    if counted:
        options.delValue(EDGE_WEIGHTS)
    home = where.getIndices().astype(np.int64)
    for used in (where, partitioning, matrix):
        used.destroy()
    return home


def _partition_by_clusters(ranks: Ranks, rows: csr_array, kind: str) -> IntArray | None:
    """Return the rank of each row of this block by a partition of clusters; None where rows would be shared unevenly."""
    n, first = rows.shape[1], ranks.block_starts(rows.shape[1])
    root = _roots(ranks, rows, first)
    start = int(first[ranks.rank])
    own = np.flatnonzero(root == start + np.arange(root.size))  # clusters that are counted here
    starts = np.cumsum([0, *ranks.comm.allgather(own.size)])
    number = np.zeros(root.size, dtype=np.int64)
    number[own] = starts[ranks.rank] + np.arange(own.size)
    cluster, ends = _asked(ranks, first, root, number), number_distinct(rows.indices, n)
    between = _between_clusters(ranks, rows, _asked(ranks, first, ends[0], cluster)[ends[1]], cluster, starts)
    home = _asked(ranks, starts, cluster, _partition_by_petsc(ranks, between, kind, counted=True))
    for lower in (True, False):
        home = _smoothed(rows, _asked(ranks, first, ends[0], home)[ends[1]], home, lower)
    most = ranks.sum(np.bincount(home, minlength=ranks.size)).max()
    return home if most <= MOST_ROWS * n / ranks.size else None


def _roots(ranks: Ranks, rows: csr_array, first: IntArray) -> IntArray:
    """Return the node that stands for the cluster of each row: the end of a path on which a hash grows, step by step, most."""
    bits, start = np.uint64(rows.shape[1].bit_length()), int(first[ranks.rank])
    mine = _growing(start + np.arange(rows.shape[0]), bits)
    linked = np.flatnonzero(np.diff(rows.indptr))
    around = mine.copy()
    if linked.size:
        around[linked] = np.maximum.reduceat(_growing(rows.indices, bits), rows.indptr[linked])
    root = (np.maximum(mine, around) & ((np.uint64(1) << bits) - np.uint64(1))).astype(np.int64)
    while True:
        further = _asked(ranks, first, root, root)
        if not ranks.sum(np.array([np.count_nonzero(further != root)]))[0]:
            return root
        root = further


def _growing(nodes: IntArray, bits: np.uint64) -> NDArray[np.uint64]:
    """Return a hash of each node, with the node in its last bits, so that no two are equal."""
    node = nodes.astype(np.uint64)
    return (finalize(node * GOLDEN) >> bits << bits) | node


def _between_clusters(ranks: Ranks, rows: csr_array, there: IntArray, cluster: IntArray, starts: IntArray) -> csr_array:
    """Return the numbers of edges between clusters, the rows of those that are counted on this rank.

    ``there`` is the cluster at the other end of each entry, ``starts`` are the first clusters of the ranks.
    """
    here = np.repeat(cluster, np.diff(rows.indptr))
    off, count = here != there, int(starts[-1])
    pairs = coo_array((np.ones(np.count_nonzero(off)), (here[off], there[off])), shape=(count, count)).tocsr().tocoo()
    i, j, w = ranks.send(np.searchsorted(starts, pairs.row, side="right") - 1, pairs.row, pairs.col, pairs.data)
    low, high = starts[ranks.rank : ranks.rank + 2]
    return coo_array((w, (i - low, j)), shape=(int(high - low), count)).tocsr()


def _smoothed(rows: csr_array, there: IntArray, home: IntArray, lower: bool) -> IntArray:
    """Return the homes with rows moved to where most of their neighbors are; only to lower ranks, or only to higher ones.

    Borders of clusters are jagged. If both sides of a border moved at once, they would change places.
    """
    row = np.repeat(np.arange(home.size), np.diff(rows.indptr))
    edge = np.zeros(home.size, dtype=bool)
    edge[row[there != home[row]]] = True
    some, size = np.flatnonzero(edge), int(max(home.max(initial=0), there.max(initial=0))) + 1
    if not some.size:
        return home
    table = csr_array((np.ones(there.size, dtype=np.int64), there, rows.indptr), shape=(home.size, size))[some]
    table.sum_duplicates()
    best = np.maximum.reduceat(table.data * size + table.indices, table.indptr[:-1])
    own = table.indices == np.repeat(home[some], np.diff(table.indptr))
    now = np.add.reduceat(np.where(own, table.data, 0), table.indptr[:-1])
    count, to = np.divmod(best, size)
    moves = (count > now) & ((to < home[some]) == lower)
    moved = home.copy()
    moved[some[moves]] = to[moves]
    return moved


def _asked(ranks: Ranks, starts: IntArray, numbers: IntArray, x: IntArray) -> IntArray:
    """Return x of each of these numbers; rank r has those from starts[r] to starts[r + 1]."""
    asked, place = number_distinct(numbers, int(starts[-1]))
    owner = np.searchsorted(starts, asked, side="right") - 1
    return np.asarray(ranks.ask(owner, asked, lambda wanted: x[wanted - starts[ranks.rank]]))[place]


def number_distinct(values: AnyArray, n: int) -> tuple[IntArray, IntArray]:
    """Return the distinct values, sorted, of numbers below n, and the place of each value among them.

    A table of n numbers is far quicker than sorting, where it is not large beside the rows that values stand for.
    """
    if n > TABLE_SIZE * values.size:
        found, place = np.unique(values, return_inverse=True)
        return found.astype(np.int64), place
    table = np.zeros(n, dtype=np.int64)
    table[values] = 1
    found = np.flatnonzero(table)
    table[found] = np.arange(found.size)
    return found, table[values]


def _breadth_first_order(ranks: Ranks, rows: csr_array, start: int) -> IntArray:
    """Return the places of this rank's rows in a breadth-first order of all nodes."""
    level, step, starts = np.full(rows.shape[0], MAX_LEVELS + 1), 0, 0
    frontier = np.empty(0, dtype=np.int64)
    first = ranks.block_starts(rows.shape[1])
    while step < MAX_LEVELS:
        if not ranks.sum(np.array([frontier.size]))[0]:
            frontier, starts = _next_start(ranks, rows, level, start), starts + 1
            if starts > MAX_STARTS or not ranks.sum(np.array([frontier.size]))[0]:
                break
        level[frontier] = step
        ends = np.unique(rows[frontier].indices).astype(np.int64)
        (reached,) = ranks.send(np.searchsorted(first, ends, side="right") - 1, ends)
        frontier = np.unique(reached - start)
        frontier, step = frontier[level[frontier] > MAX_LEVELS], step + 1
    return _order_by_level(ranks, level)


def _next_start(ranks: Ranks, rows: csr_array, level: IntArray, start: int) -> IntArray:
    """Return the first node not yet reached that has an edge, as a row of this rank; empty on the other ranks."""
    waiting = np.flatnonzero((level > MAX_LEVELS) & (np.diff(rows.indptr) > 0))[:1]
    lowest = -int(ranks.max(-np.array([start + waiting[0] if waiting.size else rows.shape[1]]))[0])
    return waiting[start + waiting == lowest]


def _order_by_level(ranks: Ranks, level: IntArray) -> IntArray:
    """Return the places of this rank's rows when all rows are sorted by level, and by number within a level."""
    here = np.bincount(level, minlength=MAX_LEVELS + 2)
    every = np.array(ranks.comm.allgather(here))
    before = np.cumsum(every.sum(axis=0)) - every.sum(axis=0) + every[: ranks.rank].sum(axis=0)
    order = np.argsort(level, kind="stable")
    places = np.empty(level.size, dtype=np.int64)
    places[order] = before[level[order]] + np.arange(level.size) - (np.cumsum(here) - here)[level[order]]
    return places
