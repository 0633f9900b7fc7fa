"""Edge lists in many files -> a graph whose rows live in many processes.

Two passes: ids are numbered by the ranks that are their homes, then every edge goes to the homes of both its ends, which
join what was listed as an ordinary graph would. A partitioner then says where each row shall live.
"""

from __future__ import annotations

import glob
import zlib
from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_array, csr_array

from askgraph.distributed.distribute import Block, home_of, objects, settled
from askgraph.distributed.ranks import Ranks, shared_out, world
from askgraph.distributed.sharded_graph import ShardedGraph
from askgraph.errors import FileError, GraphError
from askgraph.graph.clean import Symmetrize, adding_notes, check_values, joined, listing_notes
from askgraph.graph.sources import Raw, edge_arrays, gaps
from askgraph.io.edge_lists import text_edges
from askgraph.io.readers import EDGES
from askgraph.io.text import TEXT, about, suffix
from askgraph.support.npz import load_arrays
from askgraph.types import AnyArray, Array, IntArray

KINDS = (*TEXT, *EDGES, ".npz")


class Edges(NamedTuple):
    """Edges as listed: both ends by their ids, an integer array or one of objects."""

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
    """A graph from edge lists (csv, tsv, txt, jsonl, parquet, npz), a folder or a pattern of them: each process reads some.

    Together they mean what one list of all their lines would mean to :func:`read_graph`; ``nodes`` is how many there are,
    where some have no edge. All processes that mpiexec started call it together.
    """
    ranks = ranks or world()
    paths = ranks.comm.bcast(ranks.agreed(lambda: found(shards)))
    listed = ranks.agreed(lambda: _joined([_shard(path) for path in shared_out(paths, ranks)]))
    integers = ranks.comm.allgather(listed.a.dtype != object)
    if not all(integers):
        listed = listed._replace(a=_texts(listed.a), b=_texts(listed.b))
    numbered = _by_value if all(integers) else _by_first
    i, j, names, notes = numbered(ranks, listed, nodes)
    n = nodes or int(ranks.total(np.array([0 if names is None else names.size]))[0]) or _last(ranks, i, j) + 1
    rows, more = _assembled(ranks, i, j, listed.w, n, symmetrize)
    said = dict.fromkeys(note for part in ranks.comm.allgather(listed.notes) for note in part)
    return settled(ranks, Block(rows, names if names is None else _shifted(ranks, names, n)), (*said, *notes, *more))


def found(shards: str | Sequence[str], kinds: Sequence[str] = KINDS) -> list[str]:
    """The files of a folder, of a pattern, or as they are listed."""
    if not isinstance(shards, str | Path):
        return [str(path) for path in shards]
    files = sorted(glob.glob(f"{shards}/*" if Path(shards).is_dir() else str(shards)))
    if not (files := [path for path in files if Path(path).suffix.casefold() in kinds]):
        raise FileError(f"{shards}: nothing there; give a file, a folder or a pattern of files ({', '.join(kinds)})")
    return files


def is_shards(path: str | Path) -> bool:
    """Whether this is a folder or a pattern of shards, or a single list of edges, rather than a matrix or another graph."""
    if not Path(path).is_file():
        return True
    kind = Path(path).suffix.casefold()
    return kind in KINDS and (kind != ".npz" or "format" not in load_arrays(path))


def _shard(path: str) -> Edges:
    kind = suffix(path, KINDS)
    with about(path):
        raw = edge_arrays(load_arrays(path)) if kind == ".npz" else EDGES.get(kind, text_edges)(path)
        return _ends(raw, raw.names if isinstance(raw.names, range) else list(raw.names or ()))


def _ends(raw: Raw, names: Sequence[Hashable]) -> Edges:
    check_values(W := raw.weights, names)
    if not isinstance(names[0], int):
        return Edges(objects(names)[W.row], objects(names)[W.col], W.data, raw.notes)
    try:
        ids = np.array(names, dtype=np.int64)
    except OverflowError:
        raise GraphError("ids beyond 2**63: number them otherwise, or write them as text such as n123") from None
    own = gaps(names)  # of the ids in this shard, which says nothing of all
    return Edges(ids[W.row], ids[W.col], W.data, tuple(note for note in raw.notes if note not in own))


def _joined(parts: Sequence[Edges]) -> Edges:
    if not parts:
        return Edges(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))
    if len({part.a.dtype for part in parts}) > 1:
        parts = [part._replace(a=_texts(part.a), b=_texts(part.b)) for part in parts]
    a, b, w = (np.concatenate([part[k] for part in parts]) for k in range(3))
    return Edges(a, b, w, tuple(note for part in parts for note in part.notes))


Numbered = tuple[IntArray, IntArray, "AnyArray | None", tuple[str, ...]]


def _by_value(ranks: Ranks, edges: Edges, nodes: int | None) -> Numbered:
    """Integer ids: they are the nodes if they fill 0 … n − 1, or n is given; else names, sorted."""
    ids = np.unique(np.concatenate([edges.a, edges.b]))
    low, high = _range(ranks, ids)
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
        return np.asarray(ranks.before(here.size) + at)

    numbers = ranks.asked(home, ids, answer)
    n = int(ranks.total(np.array([known[0].size]))[0])
    if low == 0 and high == n - 1:
        return edges.a, edges.b, None, ()
    note = f"ids run from {low} to {high} with gaps: they are names now; nodes= would add isolated nodes"
    i, j = (numbers[np.searchsorted(ids, side)] for side in (edges.a, edges.b))
    return i, j, objects(known[0].tolist()), (note,) if high - low >= n else ()


def _by_first(ranks: Ranks, edges: Edges, nodes: int | None) -> Numbered:
    """Ids that are text: names, numbered as they first appear, shard after shard."""
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
    for name, one in zip(*ranks.sent(home, names, rank), strict=True):
        first.setdefault(name, int(one))
    mine = ranks.asked(home, names, lambda asked: np.array([first[x] for x in asked], dtype=np.int64)) == ranks.rank
    start = ranks.before(int(mine.sum()))
    told = dict(zip(*ranks.sent(home[mine], names[mine], start + np.arange(mine.sum())), strict=True))
    numbers = ranks.asked(home, names, lambda asked: np.array([told[x] for x in asked], dtype=np.int64))
    i, j = (numbers[[place[x] for x in side]] for side in (edges.a, edges.b))
    return i, j, names[mine], ()


def _assembled(
    ranks: Ranks, i: IntArray, j: IntArray, w: Array, n: int, how: Symmetrize | None
) -> tuple[csr_array, tuple[str, ...]]:
    """The rows of this rank's block of nodes, symmetric, without loops, zeros and repeats, and what was done."""
    loop, zero = i == j, w == 0
    keep = ~(loop | zero)
    i, j, w = i[keep], j[keep], w[keep]
    D, T = (_summed(ranks, *side, w, n) for side in ((i, j), (j, i)))
    rows, both, differ = joined(D, T, how)
    dropped = np.count_nonzero(loop & ~zero), np.count_nonzero(zero & ~loop), w.size - D.nnz
    loops, zeros, repeated, both, differ = ranks.total(np.array([*dropped, both, differ])).tolist()
    return rows, (*adding_notes(loops, zeros, repeated), *listing_notes(both // 2, differ // 2, how))


def _summed(ranks: Ranks, i: IntArray, j: IntArray, w: Array, n: int) -> csr_array:
    """Entries at their homes, each once."""
    first = ranks.blocks(n)[ranks.rank : ranks.rank + 2]
    i, j, w = ranks.sent(home_of(ranks, n, i), i, j, w)
    return coo_array((w, (i - first[0], j)), shape=(first[1] - first[0], n)).tocsr()


def _shifted(ranks: Ranks, names: AnyArray, n: int) -> AnyArray:
    """Names in node order, a run on each rank, to the homes of their nodes."""
    start = ranks.before(names.size)
    return ranks.sent(home_of(ranks, n, start + np.arange(names.size)), names)[0]


def _range(ranks: Ranks, ids: IntArray) -> tuple[int, int]:
    ends = [pair for pair in ranks.comm.allgather((int(ids[0]), int(ids[-1])) if ids.size else None) if pair]
    return min((a for a, _ in ends), default=0), max((b for _, b in ends), default=-1)


def _last(ranks: Ranks, i: IntArray, j: IntArray) -> int:
    return int(ranks.highest(np.array([max(i.max(initial=-1), j.max(initial=-1))]))[0])


def _texts(ids: AnyArray) -> AnyArray:
    return ids if ids.dtype == object else objects([str(x) for x in ids.tolist()])
