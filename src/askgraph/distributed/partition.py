"""Partition: the rank of each row of a distributed matrix, chosen so that few edges cross between ranks."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from askgraph.distributed.ranks import Ranks
from askgraph.types import IntArray

PARTITIONERS = ("parmetis", "ptscotch")  # of these, the first that PETSc was built with
PARTITION_FROM_NODES = 500  # per rank; with fewer, rows stay in the block they came in
MAX_LEVELS, MAX_STARTS = 2_000, 50  # of a breadth-first walk; nodes not reached by then follow in their own order


def partition(ranks: Ranks, rows: csr_array) -> IntArray:
    """Return the rank of each row of this block: by PETSc's partitioner, else by equal pieces of a breadth-first order."""
    n, start = rows.shape[1], ranks.exscan(rows.shape[0])
    if ranks.size == 1 or n < PARTITION_FROM_NODES * ranks.size:
        return np.full(rows.shape[0], ranks.rank)
    from petsc4py import PETSc

    for kind in PARTITIONERS:
        if PETSc.Sys.hasExternalPackage(kind):
            return _partition_by_petsc(ranks, rows, kind)
    return np.asarray(_breadth_first_order(ranks, rows, start) * ranks.size // n)


def _partition_by_petsc(ranks: Ranks, rows: csr_array, kind: str) -> IntArray:
    from petsc4py import PETSc

    size = ((rows.shape[0], rows.shape[1]), (rows.shape[0], rows.shape[1]))
    csr = (rows.indptr.astype(PETSc.IntType), rows.indices.astype(PETSc.IntType), np.ones(rows.nnz))
    matrix = PETSc.Mat().createAIJ(size=size, csr=csr, comm=ranks.comm)
    partitioning, where = PETSc.MatPartitioning().create(comm=ranks.comm), PETSc.IS()
    partitioning.setAdjacency(matrix)
    partitioning.setType(kind)
    partitioning.apply(where)
    home = where.getIndices().astype(np.int64)
    for used in (where, partitioning, matrix):
        used.destroy()
    return home


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
