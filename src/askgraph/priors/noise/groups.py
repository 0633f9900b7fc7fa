"""Groups of neighboring nodes, the same for any number of processes, and noise that is constant on groups."""

from __future__ import annotations

import numpy as np

from askgraph.distributed.sharded_graph import ShardedGraph
from askgraph.priors.base import highest_in_runs
from askgraph.priors.noise.host import Sample, hashed
from askgraph.priors.noise.mpi import MpiSignNoise
from askgraph.spaces.mpi import MpiSpace
from askgraph.types import AnyArray, Array, BoolArray, IntArray

SEEDS = 7  # of the hash that draws the nodes around which groups grow


class Groups:
    """Groups of nodes: those nearest, by steps along edges, to each of some drawn nodes; the component where none is reached."""

    seeds: IntArray
    of: IntArray
    place: IntArray
    size: Array
    component: IntArray
    whole: IntArray
    home: IntArray

    def __init__(self, space: MpiSpace, count: int) -> None:
        graph = space.graph
        every, draw = np.arange(graph.n_rows), hashed(graph.nodes, graph.nodes, SEEDS) >> np.uint64(12)
        self.seeds = np.sort(space.top(every, draw.astype(float), count))
        near = _nearest(graph, space.rows_of(self.seeds))
        parts = graph.parts
        home = parts.label[parts.of]
        self.of = np.where(near >= 0, self.seeds[np.maximum(near, 0)], home)  # a node that stands for the group
        self.place = np.where(near >= 0, near, -1)
        whole, inside = space.pick(parts.size[parts.of], self.seeds), space.pick(home, self.seeds)
        self.size = space.allreduce(np.bincount(near[near >= 0], minlength=self.seeds.size).astype(float))
        self.component, self.whole, self.home = inside, whole, home


def _nearest(graph: ShardedGraph, rows: IntArray) -> IntArray:
    """Return which of these rows' nodes is fewest steps away from each node, the first of several; -1 where none is reached."""
    near = np.full(graph.n_rows, -np.inf)
    near[rows[rows >= 0]] = -np.flatnonzero(rows >= 0)
    while True:
        around = highest_in_runs(
            graph.local.indptr, np.concatenate([near, graph.halo.fetched(near)])[graph.local.indices]
        )
        new = np.isneginf(near) & ~np.isneginf(around)
        if not graph.ranks.sum(np.array(np.count_nonzero(new))):
            return np.where(np.isneginf(near), -1, -near).astype(np.int64)
        near = np.where(new, around, near)


class MpiGroupNoise:
    """One column per group A, constant on it: 1_A/√|A|, its mean over the component removed; then signs without such a part."""

    signs: MpiSignNoise
    count: int

    def __init__(self, space: MpiSpace, groups: Groups, free: BoolArray, signs: MpiSignNoise) -> None:
        self._space, self._groups, self._free, self.signs, self.count = space, groups, free, signs, groups.seeds.size

    def block(self, columns: slice) -> Sample:
        """Return some columns, one row per node of this process."""
        return (self._columns(self._groups.place, self._groups.home, columns) * self._free[:, None]).astype(np.float32)

    def at(self, node: int, count: int) -> Array:
        """Return all columns at one node, and those of the signs."""
        place, home = (self._space.pick(x, np.array([node])) for x in (self._groups.place, self._groups.home))
        steps = self._columns(place, home, slice(0, self.count))[0]
        return np.concatenate([steps, self.signs.at(node, count - self.count)])

    def arrays(self) -> dict[str, AnyArray]:
        """Return the means of the signs, and the number of groups, which are the same whenever they are made."""
        return {**self.signs.arrays(), "groups": np.array(self.count)}

    def _columns(self, place: IntArray, home: IntArray, columns: slice) -> Array:
        groups, some = self._groups, np.arange(columns.start, columns.stop)
        root = np.sqrt(groups.size[some])
        return (place[:, None] == some) / root - (home[:, None] == groups.component[some]) * (root / groups.whole[some])
