"""Groups of neighbouring nodes over many processes, the same for any number of them, and the noise that is constant on groups."""

from __future__ import annotations

import numpy as np

from askgraph.distributed.sharded_graph import ShardedGraph
from askgraph.errors import EngineError
from askgraph.priors.base import highest
from askgraph.priors.noise.host import Sample, hashed
from askgraph.priors.noise.mpi import ShardFlat
from askgraph.spaces.mpi import RankRows
from askgraph.types import AnyArray, Array, BoolArray, IntArray

SEEDS = 7  # of the hash that draws the nodes around which groups grow


class Groups:
    """Nodes nearest, by steps along edges, to some that were drawn; where none of these is reached, the component."""

    def __init__(self, rows: RankRows, count: int) -> None:
        graph = rows.graph
        every, draw = np.arange(graph.n_rows), hashed(graph.nodes, graph.nodes, SEEDS) >> np.uint64(12)
        self.seeds = np.sort(rows.top(every, draw.astype(float), count))
        near = _nearest(graph, rows.rows_of(self.seeds))
        parts = graph.parts
        home = parts.label[parts.of]
        self.of = np.where(near >= 0, self.seeds[np.maximum(near, 0)], home)  # a node that stands for the group
        self.place = np.where(near >= 0, near, -1)
        whole, inside = rows.pick(parts.size[parts.of], self.seeds), rows.pick(home, self.seeds)
        self.size = rows.summed(np.bincount(near[near >= 0], minlength=self.seeds.size).astype(float))
        self.component, self.whole, self.home = inside, whole, home


def _nearest(graph: ShardedGraph, rows: IntArray) -> IntArray:
    """The place, among these rows' nodes, of the one that is fewest steps away, the lowest where several are; -1 without any."""
    near = np.full(graph.n_rows, -np.inf)
    near[rows[rows >= 0]] = -np.flatnonzero(rows >= 0)
    while True:
        around = highest(graph.local.indptr, np.concatenate([near, graph.halo.fetched(near)])[graph.local.indices])
        new = np.isneginf(near) & ~np.isneginf(around)
        if not graph.ranks.total(np.array(np.count_nonzero(new))):
            return np.where(np.isneginf(near), -1, -near).astype(np.int64)
        near = np.where(new, around, near)


class ShardSteps:
    """What is constant on groups, a column a group: 1_A/√|A|, the mean over its component removed; then signs without it."""

    def __init__(self, rows: RankRows, groups: Groups, free: BoolArray, flat: ShardFlat) -> None:
        self._rows, self._groups, self._free, self.flat, self.count = rows, groups, free, flat, groups.seeds.size

    def block(self, columns: slice) -> Sample:
        """Some columns for the rows here."""
        return (self._columns(self._groups.place, self._groups.home, columns) * self._free[:, None]).astype(np.float32)

    def at(self, node: int, count: int) -> Array:
        """All columns at one node, and those of the signs."""
        place, home = (self._rows.pick(x, np.array([node])) for x in (self._groups.place, self._groups.home))
        steps = self._columns(place, home, slice(0, self.count))[0]
        return np.concatenate([steps, self.flat.at(node, count - self.count)])

    def arrays(self) -> dict[str, AnyArray]:
        """It lives in many processes."""
        raise EngineError("the state of the petsc engine lives in many processes: save without state=True")

    def _columns(self, place: IntArray, home: IntArray, columns: slice) -> Array:
        groups, some = self._groups, np.arange(columns.start, columns.stop)
        root = np.sqrt(groups.size[some])
        return (place[:, None] == some) / root - (home[:, None] == groups.component[some]) * (root / groups.whole[some])
