"""Distribution of a graph over MPI ranks: rows are dealt out in blocks, partitioned, moved, and numbered on each rank."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import reverse_cuthill_mckee

from askgraph.distributed.partition import number_distinct, partition
from askgraph.distributed.ranks import Ranks, world
from askgraph.distributed.sharded_graph import Halo, ShardedGraph
from askgraph.errors import GraphError
from askgraph.graph import Graph
from askgraph.graph.sources import index_type
from askgraph.support.memory import give_back
from askgraph.types import AnyArray, IntArray

REORDER_FROM_ROWS = 10_000  # from here on, rows are reordered so that neighbors lie close: solves take half the time


class Block(NamedTuple):
    """The rows of consecutive nodes, and their names if nodes have any."""

    rows: csr_array
    names: AnyArray | None


def sharded(graph: Graph | None, ranks: Ranks | None = None, nodes: IntArray | None = None) -> ShardedGraph:
    """Distribute a graph over the MPI ranks. Pass it on every rank, or on rank 0 only and None on the others.

    ``nodes`` are those of this rank, in the order of its rows, where that was decided before; else a partitioner decides.
    """
    ranks = ranks or world()
    sizes = [n for n in ranks.comm.allgather(graph.n_nodes if graph is not None else None) if n is not None]
    if not sizes:
        raise GraphError("no process gave a graph: pass it in all processes, or in the first one")
    n, notes = sizes[0], ranks.comm.bcast(graph.notes if graph is not None else ())
    low, high = ranks.block_starts(n)[ranks.rank : ranks.rank + 2]
    if len(sizes) == ranks.size and graph is not None:
        names = None if graph.names is None else objects(graph.names[low:high])
        return distribute_rows(ranks, Block(graph.weights[low:high], names), notes, nodes)
    return distribute_rows(ranks, _deal_blocks(ranks, graph if ranks.first else None, n), notes, nodes)


def _deal_blocks(ranks: Ranks, graph: Graph | None, n: int) -> Block:
    """Return this rank's block of the rows that only the first rank has."""
    W = csr_array((0, n)) if graph is None else graph.weights
    home = home_of(ranks, n, np.arange(W.shape[0]))
    (counts,) = ranks.send(home, np.diff(W.indptr).astype(np.int64))
    columns, data = ranks.send(np.repeat(home, np.diff(W.indptr)), W.indices.astype(np.int64), W.data)
    rows = csr_array((data, columns, np.r_[0, np.cumsum(counts)]), shape=(counts.size, n))
    if not ranks.comm.bcast(graph is not None and graph.names is not None):
        return Block(rows, None)
    return Block(rows, ranks.send(home, objects(() if graph is None else graph.names or ()))[0])


def distribute_rows(ranks: Ranks, block: Block, notes: tuple[str, ...], wanted: IntArray | None = None) -> ShardedGraph:
    """Move the rows of all ranks' blocks to the ranks that the partition gives them, or ``wanted``, and return the graph.

    The columns on each rank are renumbered: its own rows, then the nodes of other ranks.
    """
    home = partition(ranks, block.rows) if wanted is None else _home_of_wanted(ranks, block.rows, wanted)
    n, nodes, local, others, names = _move_rows(ranks, block, home)
    if wanted is not None or nodes.size >= REORDER_FROM_ROWS:
        order = _order(local[:, : nodes.size]) if wanted is None else np.searchsorted(nodes, wanted)
        place = np.r_[np.argsort(order), nodes.size + np.arange(others.size)].astype(local.indices.dtype)
        local = local[order]
        local = csr_array((local.data, place[local.indices], local.indptr), shape=local.shape)
        nodes, names = nodes[order], None if names is None else names[order]
    local.sort_indices()
    halo = _halo(ranks, n, nodes, others)
    edges = int(ranks.sum(np.array([local.nnz]))[0]) // 2
    named = None if names is None else tuple(names.tolist())
    give_back()
    return ShardedGraph(ranks, n, edges, nodes, local, others, halo, named, notes)


def _order(weights: csr_array) -> IntArray:
    return np.asarray(reverse_cuthill_mckee(weights, symmetric_mode=True))


def _home_of_wanted(ranks: Ranks, rows: csr_array, wanted: IntArray) -> IntArray:
    """Return the rank of each row of this block: the one that wants it."""
    n = rows.shape[1]
    outside = wanted[(wanted < 0) | (wanted >= n)]
    ranks.all_or_error(lambda: _check_each_once(outside.size == 0))
    nodes, rank = ranks.send(home_of(ranks, n, wanted), wanted, np.full(wanted.size, ranks.rank))
    here = nodes - int(ranks.block_starts(n)[ranks.rank])
    ranks.all_or_error(lambda: _check_each_once(np.array_equal(np.sort(here), np.arange(rows.shape[0]))))
    home = np.empty(rows.shape[0], dtype=np.int64)
    home[here] = rank
    return home


def _check_each_once(holds: bool) -> None:
    if not holds:
        raise GraphError("the nodes of the processes are not those of the graph, each once")


def _move_rows(
    ranks: Ranks, block: Block, home: IntArray
) -> tuple[int, IntArray, csr_array, IntArray, AnyArray | None]:
    """Return the number of nodes, and of the rows that arrive here: nodes, weights, nodes of other ranks, names."""
    rows = block.rows
    n, counts = rows.shape[1], np.diff(rows.indptr).astype(np.int64)
    first = int(ranks.block_starts(n)[ranks.rank])
    columns, data = ranks.send(np.repeat(home, counts), rows.indices.astype(np.int64), rows.data)
    nodes, counts = ranks.send(home, first + np.arange(rows.shape[0]), counts)
    names = None if block.names is None else ranks.send(home, block.names)[0]
    others, columns = _number_columns(nodes, columns, n)
    kind, shape = index_type(nodes.size + others.size, data.size), (nodes.size, nodes.size + others.size)
    local = csr_array((data, columns.astype(kind), np.r_[0, np.cumsum(counts)].astype(kind)), shape=shape)
    return n, nodes, local, others, names


def _number_columns(nodes: IntArray, columns: IntArray, n: int) -> tuple[IntArray, IntArray]:
    """Return the nodes of other ranks among the columns, and the new number of each column."""
    if not nodes.size:
        return columns, columns
    ends, place = number_distinct(columns, n)
    at = np.minimum(np.searchsorted(nodes, ends), nodes.size - 1)
    out = nodes[at] != ends
    at[out] = nodes.size + np.arange(np.count_nonzero(out))
    return ends[out], at[place]


def _halo(ranks: Ranks, n: int, nodes: IntArray, others: IntArray) -> Halo:
    """Find the owner and the row of each of these nodes of other ranks.

    Each owner registers its nodes at their home ranks; the others ask there.
    """
    low, high = ranks.block_starts(n)[ranks.rank : ranks.rank + 2]
    known = ranks.send(home_of(ranks, n, nodes), nodes, np.full(nodes.size, ranks.rank), np.arange(nodes.size))
    owner_and_row = np.zeros((high - low, 2), dtype=np.int64)
    owner_and_row[known[0] - low] = np.column_stack(known[1:])
    where = ranks.ask(home_of(ranks, n, others), others, lambda asked: owner_and_row[asked - low])
    return Halo(ranks, where[:, 0], where[:, 1], nodes.size)


def home_of(ranks: Ranks, n: int, nodes: IntArray) -> IntArray:
    """Return the home rank of each node: the rank whose block of 0 … n−1 it is in, wherever its row is."""
    return np.searchsorted(ranks.block_starts(n), nodes, side="right") - 1


def objects(items: Sequence[Hashable]) -> AnyArray:
    """Return an object array of any Python values."""
    array = np.empty(len(items), dtype=object)
    array[:] = items
    return array
