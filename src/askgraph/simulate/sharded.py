"""Labels of a graph that is distributed over MPI ranks: each process holds the labels of its own rows."""

from __future__ import annotations

import zlib
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np

from askgraph.distributed.distribute import objects
from askgraph.distributed.ranks import Ranks, own_share
from askgraph.distributed.read_shards import list_shards
from askgraph.distributed.sharded_graph import ShardedGraph
from askgraph.errors import FileError
from askgraph.io.readers import TABLES
from askgraph.io.tables import label_list
from askgraph.io.text import TEXT, parse_integers, read_all_rows, suffix
from askgraph.spaces.base import Space
from askgraph.support.hashing import FIRST, GOLDEN
from askgraph.support.label_names import FILE_LABELS
from askgraph.support.wording import few
from askgraph.types import AnyArray, IntArray

NODES = {"node", "nodes", "id", "name"}  # headers of a column of nodes


@dataclass(frozen=True, eq=False)
class ShardedProblem:
    """A distributed graph whose every node has a known label; ``truth`` are the labels of the rows of this process."""

    graph: ShardedGraph
    truth: Sequence[Hashable]

    @classmethod
    def dealt(cls, graph: ShardedGraph, truth: Sequence[Hashable] | None) -> ShardedProblem:
        """Distribute labels in node order that the first process has; the others pass None."""
        comm, every = graph.ranks.comm, graph.ranks.comm.gather(graph.nodes)
        shares = None if every is None or truth is None else [[truth[i] for i in part] for part in every]
        return cls(graph, comm.scatter(shares))

    @cached_property
    def classes(self) -> list[Hashable]:
        """The classes, in the order of their first node."""
        first: dict[Hashable, int] = {}
        for node, label in sorted(zip(self.graph.nodes.tolist(), self.truth, strict=True), reverse=True, key=_node):
            first[label] = node
        for part in self.graph.ranks.comm.allgather(first):
            first.update({label: min(node, first.get(label, node)) for label, node in part.items()})
        return sorted(first, key=first.__getitem__)

    def label(self, node: int) -> Hashable:
        """Return the label of one node, in whichever process its row is."""
        row = int(self.graph.rows_of(np.array([node]))[0])
        every = self.graph.ranks.comm.allgather(None if row < 0 else (self.truth[row],))
        return next(label[0] for label in every if label is not None)

    def codes(self, space: Space, classes: Sequence[Hashable]) -> IntArray:
        """Return the place of each row's label among the classes."""
        place = {label: at for at, label in enumerate(classes)}
        return np.array([place[label] for label in self.truth], dtype=np.int64)

    @cached_property
    def fingerprint(self) -> str:
        """A hash of the graph and its labels, the same for any number of processes."""
        graph, count = self.graph, np.diff(self.graph.local.indptr)
        i, j = np.repeat(graph.nodes, count), np.concatenate([graph.nodes, graph.beyond])[graph.local.indices]
        codes = np.array([zlib.crc32(repr(str(label)).encode()) for label in self.truth], dtype=np.uint64)
        parts = _mix(_mix(i) + j.astype(np.uint64)) ^ graph.local.data.view(np.uint64), _mix(graph.nodes) ^ codes
        sums = np.array([_mix(part).sum(dtype=np.uint64) for part in parts])
        return f"{int(_mix(graph.ranks.sum(sums))[0] ^ graph.ranks.sum(sums)[1]):016x}"


def read_shard_labels(shards: str | Sequence[str], graph: ShardedGraph) -> ShardedProblem:
    """Read labels from files (csv, tsv, txt, jsonl, parquet) with columns node and label, or from one npy file.

    ``shards`` is a list of files, one file, a folder, or a pattern.
    """
    ranks = graph.ranks
    paths = ranks.comm.bcast(ranks.all_or_error(lambda: list_shards(shards, (*TEXT, *TABLES, ".npy"))))
    if Path(paths[0]).suffix.casefold() == ".npy":
        return ShardedProblem(graph, ranks.all_or_error(lambda: _read_own_rows(paths[0], graph)))
    pairs = ranks.all_or_error(lambda: [pair for path in own_share(paths, ranks) for pair in _read_pairs(path)])
    labels = objects([pair.label for pair in pairs])
    if all(ranks.comm.allgather(all(isinstance(label, str) for label in labels))):
        whole = all(ranks.comm.allgather(parse_integers(labels.tolist()) != labels.tolist() or not labels.size))
        labels = objects(parse_integers(labels.tolist())) if whole else labels
    return ShardedProblem(graph, _send_labels(ranks, [pair.node for pair in pairs], labels, graph))


class Pair(NamedTuple):
    """The name of a node, as text, and its label."""

    node: str
    label: Hashable


def _read_pairs(path: str) -> Iterable[Pair]:
    if suffix(path, (*TEXT, *TABLES)) in TABLES:
        table = TABLES[Path(path).suffix.casefold()](path)
        columns = [table.values(name) for name in table.header]
    else:
        lines = [row.cells for row in read_all_rows(path)]
        named = lines[0][-1].casefold() in FILE_LABELS or lines[0][0].casefold() in NODES
        columns = [list(column) for column in zip(*lines[named:], strict=True)]
    if len(columns) != 2:
        raise FileError(f"{path}: {len(columns)} columns; give node and label")
    return [Pair(str(node), label) for node, label in zip(*columns, strict=True)]


def _read_own_rows(path: str, graph: ShardedGraph) -> list[Hashable]:
    """Read the labels of this process's rows from an array with one label per node; the rest stays in the file."""
    try:
        stored = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError) as error:
        raise FileError(f"{path}: not a readable npy file ({error}); write it again, not as objects") from None
    if stored.shape != (graph.n_nodes,):
        raise FileError(f"{path}: labels of shape {stored.shape} for {graph.n_nodes} nodes; give one for each node")
    return label_list(path, np.array(stored[graph.nodes]))


def _send_labels(ranks: Ranks, nodes: list[str], labels: AnyArray, graph: ShardedGraph) -> list[Hashable]:
    """Send labels to the home ranks of their nodes, and ask there for the labels of this process's rows.

    Raises an error unless every node has exactly one label.
    """
    names = [str(x) for x in (graph.nodes.tolist() if graph.own_names is None else graph.own_names)]
    known: dict[str, list[Hashable]] = {}
    for node, label in zip(*ranks.send(_home_by_name(ranks, nodes), objects(nodes), labels), strict=True):
        known.setdefault(node, []).append(label)
    twice = [node for node, found in known.items() if len(found) > 1]
    asked: list[str] = []

    def answer(wanted: AnyArray) -> AnyArray:
        asked.extend(wanted)
        return objects([known.get(node, [None])[0] for node in wanted])

    truth = ranks.ask(_home_by_name(ranks, names), objects(names), answer).tolist()
    missing = [name for name, label in zip(names, truth, strict=True) if label is None]
    ranks.all_or_error(lambda: _check_complete(twice, missing, sorted(known.keys() - set(asked))))
    return truth


def _check_complete(twice: list[str], missing: list[str], unknown: list[str]) -> None:
    if twice:
        raise FileError(f"{few(twice)} has more than one label; give one for each node")
    if unknown:
        raise FileError(
            f"no node {few(unknown)} in the graph (one without an edge is not in an edge list: leave it out)"
        )
    if missing:
        raise FileError(f"no label for {few(missing)}; give one for each node")


def _home_by_name(ranks: Ranks, names: Sequence[str]) -> IntArray:
    return np.array([zlib.crc32(name.encode()) % ranks.size for name in names], dtype=np.int64)


def _mix(x: AnyArray) -> AnyArray:
    """Return hashes of integers, as the fingerprints in stored records have them."""
    x = x.astype(np.uint64) * GOLDEN + np.uint64(1)
    x = (x ^ (x >> np.uint64(30))) * FIRST
    return x ^ (x >> np.uint64(27))


def _node(pair: tuple[int, Hashable]) -> int:
    return pair[0]
