"""Where each row of a distributed matrix shall live, so that few edges cross from one process to another."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from askgraph.distributed.ranks import Ranks
from askgraph.types import IntArray

PARTITIONERS = ("parmetis", "ptscotch")  # the first that PETSc was built with
WORTH = 500  # nodes a rank, from which a partition pays
LEVELS, STARTS = 2_000, 50  # of a breadth-first walk; what it has not reached by then follows in order


def partition(ranks: Ranks, rows: csr_array) -> IntArray:
    """The rank of each row of this block; by PETSc's partitioner, else runs of a breadth-first order, all of one length."""
    n, start = rows.shape[1], ranks.before(rows.shape[0])
    if ranks.size == 1 or n < WORTH * ranks.size:
        return np.full(rows.shape[0], ranks.rank)
    from petsc4py import PETSc

    for kind in PARTITIONERS:
        if PETSc.Sys.hasExternalPackage(kind):
            return _by_petsc(ranks, rows, kind)
    return np.asarray(_walked(ranks, rows, start) * ranks.size // n)


def _by_petsc(ranks: Ranks, rows: csr_array, kind: str) -> IntArray:
    from petsc4py import PETSc

    size = ((rows.shape[0], rows.shape[1]), (rows.shape[0], rows.shape[1]))
    csr = (rows.indptr.astype(PETSc.IntType), rows.indices.astype(PETSc.IntType), np.ones(rows.nnz))
    matrix = PETSc.Mat().createAIJ(size=size, csr=csr, comm=ranks.comm)
    made, where = PETSc.MatPartitioning().create(comm=ranks.comm), PETSc.IS()
    made.setAdjacency(matrix)
    made.setType(kind)
    made.apply(where)
    home = where.getIndices().astype(np.int64)
    for used in (where, made, matrix):
        used.destroy()
    return home


def _walked(ranks: Ranks, rows: csr_array, start: int) -> IntArray:
    """The places of these rows in a breadth-first order of all nodes."""
    level, step, starts = np.full(rows.shape[0], LEVELS + 1), 0, 0
    frontier = np.empty(0, dtype=np.int64)
    first = ranks.blocks(rows.shape[1])
    while step < LEVELS:
        if not ranks.total(np.array([frontier.size]))[0]:
            frontier, starts = _next(ranks, rows, level, start), starts + 1
            if starts > STARTS or not ranks.total(np.array([frontier.size]))[0]:
                break
        level[frontier] = step
        ends = np.unique(rows[frontier].indices).astype(np.int64)
        (reached,) = ranks.sent(np.searchsorted(first, ends, side="right") - 1, ends)
        frontier = np.unique(reached - start)
        frontier, step = frontier[level[frontier] > LEVELS], step + 1
    return _places(ranks, level)


def _next(ranks: Ranks, rows: csr_array, level: IntArray, start: int) -> IntArray:
    """The row here that is the first node not reached that has an edge, if it is here."""
    waiting = np.flatnonzero((level > LEVELS) & (np.diff(rows.indptr) > 0))[:1]
    lowest = -int(ranks.highest(-np.array([start + waiting[0] if waiting.size else rows.shape[1]]))[0])
    return waiting[start + waiting == lowest]


def _places(ranks: Ranks, level: IntArray) -> IntArray:
    """Rows by level, and within a level in order."""
    here = np.bincount(level, minlength=LEVELS + 2)
    every = np.array(ranks.comm.allgather(here))
    before = np.cumsum(every.sum(axis=0)) - every.sum(axis=0) + every[: ranks.rank].sum(axis=0)
    order = np.argsort(level, kind="stable")
    places = np.empty(level.size, dtype=np.int64)
    places[order] = before[level[order]] + np.arange(level.size) - (np.cumsum(here) - here)[level[order]]
    return places
