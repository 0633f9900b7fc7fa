"""Edge lists in many files -> a graph whose rows are distributed over the MPI ranks.

Two passes: each id is numbered by its home rank, then every edge is sent to the home ranks of both its ends, which clean
their rows as an ordinary graph is cleaned. A partitioner then chooses the rank of each row.
"""

from __future__ import annotations

import glob
import zlib
from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_array, csr_array

from askgraph.distributed.distribute import Block, distribute_rows, home_of, objects
from askgraph.distributed.ranks import Ranks, own_share, world
from askgraph.distributed.sharded_graph import ShardedGraph
from askgraph.errors import FileError, GraphError
from askgraph.graph.clean import Symmetrize, check_values, direction_notes, merge_directions, repeat_notes
from askgraph.graph.sources import Raw, from_arrays, id_gaps_note
from askgraph.io.edge_lists import read_text_edges
from askgraph.io.readers import EDGES
from askgraph.io.text import TEXT, naming_file, suffix
from askgraph.support.npz import load_arrays
from askgraph.types import AnyArray, Array, IntArray

KINDS = (*TEXT, *EDGES, ".npz")  # suffixes of files with edges


class Edges(NamedTuple):
    """Edges as listed: the ids of both ends (integers, or objects) and the weights."""

    a: AnyArray
    b: AnyArray
    w: Array
    notes: tuple[str, ...] = ()


def read_shards(
    shards: str | Sequence[str],
    nodes: int | None = None,
    symmetrize: Symmetrize | None = None,
    *,
    ranks: Ranks | None = None,
) -> ShardedGraph:
    """Read a graph from many edge lists; each process of an MPI job reads some of them.

    The files together mean what one file with all their lines means to :func:`read_graph`. All processes that mpiexec
    started call this function together.

    Parameters
    ----------
    shards : str or sequence of str
        Files (csv, tsv, txt, edges, jsonl, parquet, npz): a list of them, a folder, or a pattern such as ``"edges/*.csv"``.
    nodes : int, optional
        The number of nodes, where ids are 0 … nodes−1 and some nodes have no edge.
    symmetrize : {"mean", "max", "sum"}, optional
        Which weight an edge gets that is listed in both directions with two different weights; by default the mean.
    ranks : Ranks, optional
        The processes that share the graph; by default all that mpiexec started.

    Returns
    -------
    ShardedGraph
        The rows of this process.

    Examples
    --------
    Lines of a file ``label.py``, which ``mpiexec -n 4 python label.py`` runs in four processes::

        graph = ag.read_shards("edges/*.csv")
        learner = ag.Learner(graph, engine="petsc", rng=0)
        node = learner.ask()  # the same in every process
    """
    ranks = ranks or world()
    paths = ranks.comm.bcast(ranks.all_or_error(lambda: list_shards(shards)))
    listed = ranks.all_or_error(lambda: _join_shards([_read_shard(path) for path in own_share(paths, ranks)]))
    integers = ranks.comm.allgather(listed.a.dtype != object)
    if not all(integers):
        listed = listed._replace(a=_as_text(listed.a), b=_as_text(listed.b))
    number_nodes = _number_integers if all(integers) else _number_names
    i, j, names, notes = number_nodes(ranks, listed, nodes)
    n = nodes or int(ranks.sum(np.array([0 if names is None else names.size]))[0]) or _last_node(ranks, i, j) + 1
    rows, more = _clean_block(ranks, i, j, listed.w, n, symmetrize)
    block = Block(rows, names if names is None else _send_home(ranks, names, n))
    file_notes = dict.fromkeys(note for part in ranks.comm.allgather(listed.notes) for note in part)
    return distribute_rows(ranks, block, (*file_notes, *notes, *more))


def list_shards(shards: str | Sequence[str], kinds: Sequence[str] = KINDS) -> list[str]:
    """Return the files of a folder or of a pattern, sorted, or a list of files as it is."""
    if not isinstance(shards, str | Path):
        return [str(path) for path in shards]
    files = sorted(glob.glob(f"{shards}/*" if Path(shards).is_dir() else str(shards)))
    if not (files := [path for path in files if Path(path).suffix.casefold() in kinds]):
        raise FileError(f"{shards}: no file found; give a file, a folder or a pattern of files ({', '.join(kinds)})")
    return files


def is_shards(path: str | Path) -> bool:
    """Return whether a path is a folder, a pattern, or a single edge list, rather than a matrix or another kind of graph."""
    if not Path(path).is_file():
        return True
    kind = Path(path).suffix.casefold()
    return kind in KINDS and (kind != ".npz" or "format" not in load_arrays(path))


def _read_shard(path: str) -> Edges:
    kind = suffix(path, KINDS)
    with naming_file(path):
        raw = from_arrays(load_arrays(path)) if kind == ".npz" else EDGES.get(kind, read_text_edges)(path)
        return _replace_by_ids(raw, raw.names if isinstance(raw.names, range) else list(raw.names or ()))


def _replace_by_ids(raw: Raw, names: Sequence[Hashable]) -> Edges:
    """Return edges with the ids of their ends, in place of the numbers that they have in this shard."""
    check_values(W := raw.weights, names)
    if not isinstance(names[0], int):
        return Edges(objects(names)[W.row], objects(names)[W.col], W.data, raw.notes)
    try:
        ids = np.array(names, dtype=np.int64)
    except OverflowError:
        raise GraphError("ids beyond 2**63: number them otherwise, or write them as text such as n123") from None
    own = id_gaps_note(names)  # gaps in one shard may be filled by another
    return Edges(ids[W.row], ids[W.col], W.data, tuple(note for note in raw.notes if note not in own))


def _join_shards(parts: Sequence[Edges]) -> Edges:
    if not parts:
        return Edges(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))
    if len({part.a.dtype for part in parts}) > 1:
        parts = [part._replace(a=_as_text(part.a), b=_as_text(part.b)) for part in parts]
    a, b, w = (np.concatenate([part[k] for part in parts]) for k in range(3))
    return Edges(a, b, w, tuple(note for part in parts for note in part.notes))


Numbered = tuple[IntArray, IntArray, "AnyArray | None", tuple[str, ...]]  # both ends, names in node order, notes


def _number_integers(ranks: Ranks, edges: Edges, nodes: int | None) -> Numbered:
    """Number integer ids: they are the nodes if they fill 0 … n − 1 or n is given; else they are names, sorted."""
    ids = np.unique(np.concatenate([edges.a, edges.b]))
    low, high = _id_range(ranks, ids)
    if high < low and nodes is None:
        raise GraphError("the shards list no edges: give at least one")
    if nodes is not None:
        if high >= nodes or low < 0:
            raise GraphError(f"an edge ends at {high if high >= nodes else low}, and nodes are 0 to {nodes - 1}")
        return edges.a, edges.b, None, ()
    first = [low + (high + 1 - low) * rank // ranks.size for rank in range(1, ranks.size)]
    home = np.searchsorted(np.array(first, dtype=np.int64), ids, side="right")
    known: list[IntArray] = []

    def answer(asked: AnyArray) -> AnyArray:
        here, at = np.unique(asked, return_inverse=True)
        known.append(here)
        return np.asarray(ranks.exscan(here.size) + at)

    numbers = ranks.ask(home, ids, answer)
    n = int(ranks.sum(np.array([known[0].size]))[0])
    if low == 0 and high == n - 1:
        return edges.a, edges.b, None, ()
    note = f"ids run from {low} to {high} with gaps: they are names now; nodes= would add isolated nodes"
    i, j = (numbers[np.searchsorted(ids, side)] for side in (edges.a, edges.b))
    return i, j, objects(known[0].tolist()), (note,) if high - low >= n else ()


def _number_names(ranks: Ranks, edges: Edges, nodes: int | None) -> Numbered:
    """Number ids that are text, in the order in which they first appear, shard after shard."""
    if nodes is not None:
        raise GraphError(
            f"nodes={nodes} goes with ids that are integers; these are names such as {edges.a[:1].tolist()}"
        )
    both = np.empty(2 * edges.a.size, dtype=object)
    both[::2], both[1::2] = edges.a, edges.b
    here = list(dict.fromkeys(both.tolist()))
    names, place = objects(here), {name: at for at, name in enumerate(here)}
    home = np.array([zlib.crc32(repr(name).encode()) % ranks.size for name in here], dtype=np.int64)
    first: dict[Hashable, int] = {}
    rank = np.full(names.size, ranks.rank)
    for name, sender in zip(*ranks.send(home, names, rank), strict=True):
        first.setdefault(name, int(sender))
    mine = ranks.ask(home, names, lambda asked: np.array([first[x] for x in asked], dtype=np.int64)) == ranks.rank
    start = ranks.exscan(int(mine.sum()))
    known = dict(zip(*ranks.send(home[mine], names[mine], start + np.arange(mine.sum())), strict=True))
    numbers = ranks.ask(home, names, lambda asked: np.array([known[x] for x in asked], dtype=np.int64))
    i, j = (numbers[[place[x] for x in side]] for side in (edges.a, edges.b))
    return i, j, names[mine], ()


def _clean_block(
    ranks: Ranks, i: IntArray, j: IntArray, w: Array, n: int, how: Symmetrize | None
) -> tuple[csr_array, tuple[str, ...]]:
    """Return the symmetric rows of this rank's block of nodes, without loops, zeros and repeats, and notes on changes."""
    loop, zero = i == j, w == 0
    keep = ~(loop | zero)
    i, j, w = i[keep], j[keep], w[keep]
    D, T = (_sum_at_home(ranks, *side, w, n) for side in ((i, j), (j, i)))
    rows, both, differ = merge_directions(D, T, how)
    dropped = np.count_nonzero(loop & ~zero), np.count_nonzero(zero & ~loop), w.size - D.nnz
    loops, zeros, repeated, both, differ = ranks.sum(np.array([*dropped, both, differ])).tolist()
    return rows, (*repeat_notes(loops, zeros, repeated), *direction_notes(both // 2, differ // 2, how))


def _sum_at_home(ranks: Ranks, i: IntArray, j: IntArray, w: Array, n: int) -> csr_array:
    """Send each entry to the home rank of its row, and return the rows of this rank's block, repeats added up."""
    low, high = ranks.block_starts(n)[ranks.rank : ranks.rank + 2]
    i, j, w = ranks.send(home_of(ranks, n, i), i, j, w)
    return coo_array((w, (i - low, j)), shape=(high - low, n)).tocsr()


def _send_home(ranks: Ranks, names: AnyArray, n: int) -> AnyArray:
    """Send names, which are in node order from rank to rank, to the home ranks of their nodes."""
    start = ranks.exscan(names.size)
    return ranks.send(home_of(ranks, n, start + np.arange(names.size)), names)[0]


def _id_range(ranks: Ranks, ids: IntArray) -> tuple[int, int]:
    ends = [pair for pair in ranks.comm.allgather((int(ids[0]), int(ids[-1])) if ids.size else None) if pair]
    return min((a for a, _ in ends), default=0), max((b for _, b in ends), default=-1)


def _last_node(ranks: Ranks, i: IntArray, j: IntArray) -> int:
    return int(ranks.max(np.array([max(i.max(initial=-1), j.max(initial=-1))]))[0])


def _as_text(ids: AnyArray) -> AnyArray:
    return ids if ids.dtype == object else objects([str(x) for x in ids.tolist()])
