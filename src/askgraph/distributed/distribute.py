"""Where the rows of a sharded graph live: dealt out in blocks, partitioned, moved, and numbered in each process."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import reverse_cuthill_mckee

from askgraph.distributed.partition import partition
from askgraph.distributed.ranks import Ranks, world
from askgraph.distributed.sharded_graph import Halo, ShardedGraph
from askgraph.errors import GraphError
from askgraph.graph import Graph
from askgraph.graph.sources import index_type
from askgraph.support.memory import give_back
from askgraph.types import AnyArray, IntArray

ORDER_FROM = 10_000  # rows from which their order counts: neighbours that lie close together halve the time of a solve


class Block(NamedTuple):
    """The rows of a run of nodes, and their names if nodes have any."""

    rows: csr_array
    names: AnyArray | None


def sharded(graph: Graph | None, ranks: Ranks | None = None) -> ShardedGraph:
    """Of an ordinary graph that every process has, or the first one alone, the others giving None."""
    ranks = ranks or world()
    sizes = [n for n in ranks.comm.allgather(graph.n_nodes if graph is not None else None) if n is not None]
    if not sizes:
        raise GraphError("no process gave a graph: give it in all of them, or in the first one")
    n, notes = sizes[0], ranks.comm.bcast(graph.notes if graph is not None else ())
    low, high = ranks.blocks(n)[ranks.rank : ranks.rank + 2]
    if len(sizes) == ranks.size and graph is not None:
        names = None if graph.names is None else objects(graph.names[low:high])
        return settled(ranks, Block(graph.weights[low:high], names), notes)
    return settled(ranks, _dealt(ranks, graph if ranks.first else None, n), notes)


def _dealt(ranks: Ranks, graph: Graph | None, n: int) -> Block:
    """The rows that only the first rank has, a block each."""
    W = csr_array((0, n)) if graph is None else graph.weights
    home = home_of(ranks, n, np.arange(W.shape[0]))
    (counts,) = ranks.sent(home, np.diff(W.indptr).astype(np.int64))
    columns, data = ranks.sent(np.repeat(home, np.diff(W.indptr)), W.indices.astype(np.int64), W.data)
    rows = csr_array((data, columns, np.r_[0, np.cumsum(counts)]), shape=(counts.size, n))
    if not ranks.comm.bcast(graph is not None and graph.names is not None):
        return Block(rows, None)
    return Block(rows, ranks.sent(home, objects(() if graph is None else graph.names or ()))[0])


def settled(ranks: Ranks, block: Block, notes: tuple[str, ...]) -> ShardedGraph:
    """Rows moved to where they shall live, and the columns of each rank numbered: its own rows, then those of others."""
    n, nodes, local, others, names = _moved(ranks, block)
    if nodes.size >= ORDER_FROM:
        order = reverse_cuthill_mckee(local[:, : nodes.size], symmetric_mode=True)
        place = np.r_[np.argsort(order), nodes.size + np.arange(others.size)].astype(local.indices.dtype)
        local = local[order]
        local = csr_array((local.data, place[local.indices], local.indptr), shape=local.shape)
        nodes, names = nodes[order], None if names is None else names[order]
    local.sort_indices()
    halo = _halo(ranks, n, nodes, others)
    edges = int(ranks.total(np.array([local.nnz]))[0]) // 2
    named = None if names is None else tuple(names.tolist())
    give_back()
    return ShardedGraph(ranks, n, edges, nodes, local, others, halo, named, notes)


def _moved(ranks: Ranks, block: Block) -> tuple[int, IntArray, csr_array, IntArray, AnyArray | None]:
    rows, home = block.rows, partition(ranks, block.rows)
    n, counts = rows.shape[1], np.diff(rows.indptr).astype(np.int64)
    first = int(ranks.blocks(n)[ranks.rank])
    columns, data = ranks.sent(np.repeat(home, counts), rows.indices.astype(np.int64), rows.data)
    nodes, counts = ranks.sent(home, first + np.arange(rows.shape[0]), counts)
    names = None if block.names is None else ranks.sent(home, block.names)[0]
    others, columns = _columns(nodes, columns)
    kind, shape = index_type(nodes.size + others.size, data.size), (nodes.size, nodes.size + others.size)
    local = csr_array((data, columns.astype(kind), np.r_[0, np.cumsum(counts)].astype(kind)), shape=shape)
    return n, nodes, local, others, names


def _columns(nodes: IntArray, columns: IntArray) -> tuple[IntArray, IntArray]:
    """The nodes elsewhere among these columns, and all columns by their new places."""
    if not nodes.size:
        return columns, columns
    in_a_row = nodes[-1] - nodes[0] + 1 == nodes.size
    at = np.clip(columns - nodes[0] if in_a_row else np.searchsorted(nodes, columns), 0, nodes.size - 1)
    out = np.flatnonzero(nodes[at] != columns)
    others, place = np.unique(columns[out], return_inverse=True)
    at[out] = nodes.size + place
    return others, at


def _halo(ranks: Ranks, n: int, nodes: IntArray, others: IntArray) -> Halo:
    """Who owns these nodes, asked at their homes, which the owners told."""
    first = ranks.blocks(n)[ranks.rank : ranks.rank + 2]
    told = ranks.sent(home_of(ranks, n, nodes), nodes, np.full(nodes.size, ranks.rank), np.arange(nodes.size))
    lives = np.zeros((first[1] - first[0], 2), dtype=np.int64)
    lives[told[0] - first[0]] = np.column_stack(told[1:])
    where = ranks.asked(home_of(ranks, n, others), others, lambda asked: lives[asked - first[0]])
    return Halo(ranks, where[:, 0], where[:, 1], nodes.size)


def home_of(ranks: Ranks, n: int, nodes: IntArray) -> IntArray:
    """The rank whose block each of these nodes is in."""
    return np.searchsorted(ranks.blocks(n), nodes, side="right") - 1


def objects(items: Sequence[Hashable]) -> AnyArray:
    """An array of any Python values."""
    array = np.empty(len(items), dtype=object)
    array[:] = items
    return array
