"""Right-hand sides of probes over many processes: the very noise that one process would make of the same graph.

The noise is hashed from nodes and edges, so it does not matter where they live; see `askgraph.priors.noise.host`.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from askgraph.distributed.sharded_graph import Parts, ShardedGraph
from askgraph.errors import EngineError
from askgraph.priors.noise.host import COMPILE_FROM, EXTRA, FLAT, ORDINARY, Sample, add_edges, signs
from askgraph.types import AnyArray, Array, BoolArray, IntArray


class MpiSignNoise:
    """One random sign per free node, the mean over its part removed; means are kept, so that a node's noise can be made again."""

    def __init__(self, graph: ShardedGraph, free: BoolArray, seed: int = FLAT, parts: Parts | None = None) -> None:
        self._graph, self._free, self._seed, self._parts = graph, free, seed, parts or graph.parts
        self._alone = self._parts.size[self._parts.of] == 1  # such a node is its own mean
        self._means: dict[int, Array] = {}

    def block(self, columns: slice) -> Sample:
        """Return some columns, one row per node of this process."""
        parts, z = self._parts, signs(self._graph.nodes, self._graph.nodes, columns, self._seed)
        z[self._alone] = 0.0
        means = self._means[columns.start] = parts.total(z) / parts.size[:, None]
        z -= means.astype(np.float32)[parts.of]
        z[~self._free] = 0.0
        return z

    def at(self, node: int, count: int) -> Array:
        """Return columns that were made before, at one node."""
        return self._graph.ranks.sum(self.here(self._graph.rows_of(np.array([node])), count))

    def here(self, row: IntArray, count: int) -> Array:
        """Return the same at a row of this process; zeros for a row of another."""
        if row[0] < 0 or self._alone[row[0]]:
            return np.zeros(count)
        nodes, part = self._graph.nodes[row], self._parts.of[row[0]]
        means = np.concatenate([self._means[at][part] for at in sorted(self._means)])
        return np.asarray(signs(nodes, nodes, slice(0, count), self._seed)[0] - means[:count])

    def arrays(self) -> dict[str, AnyArray]:
        """Return the means of the parts of this process, with which `restore` makes the noise of a node again."""
        made = [self._means[at] for at in sorted(self._means)]
        return {"means": np.hstack([np.zeros((self._parts.label.size, 0)), *made])}

    def restore(self, means: AnyArray) -> None:
        """Take the means of columns that were made before."""
        if means.ndim != 2 or len(means) != self._parts.label.size:
            raise EngineError(f"means of shape {means.shape} for {self._parts.label.size} groups")
        self._means = {0: means}


class MpiFieldNoise:
    """ξ of covariance Q − δ 11ᵀ/n_c: √w times one sign per edge, √δ times one sign per node, centered, and √extra times another."""

    def __init__(self, graph: ShardedGraph, delta: float, extra: Array, free: BoolArray) -> None:
        self._graph, self._free, self._delta, self._extra = graph, free, delta**0.5, np.sqrt(extra)
        self._signs = MpiSignNoise(graph, free, ORDINARY)
        self._root, self._ids = np.sqrt(graph.local.data), np.concatenate([graph.nodes, graph.beyond])

    def block(self, columns: slice) -> Sample:
        """Return some columns, one row per node of this process, zero at pinned nodes."""
        nodes = self._graph.nodes
        noise = np.float32(self._delta) * self._signs.block(columns)
        if self._extra.any():
            noise += self._extra[:, None].astype(np.float32) * signs(nodes, nodes, columns, EXTRA)
        if nodes.size >= COMPILE_FROM:
            local = self._graph.local
            add_edges(local.indptr, local.indices, self._ids, self._root, columns, noise)
        else:
            noise += self._edges(columns)
        noise[~self._free] = 0.0
        return noise

    def at(self, node: int, count: int) -> Array:
        """Return columns that were made before, at one node."""
        row = self._graph.rows_of(np.array([node]))
        noise = self._delta * self._signs.here(row, count)
        if row[0] >= 0:
            here = self._graph.nodes[row]
            noise += self._extra[row[0]] * signs(here, here, slice(0, count), EXTRA)[0]
            noise += self._edges(slice(0, count), slice(row[0], row[0] + 1))[0]
        return self._graph.ranks.sum(noise)

    def arrays(self) -> dict[str, AnyArray]:
        """Return the means of the signs."""
        return self._signs.arrays()

    def restore(self, means: AnyArray) -> None:
        """Take the means of columns that were made before."""
        self._signs.restore(means)

    def _edges(self, columns: slice, rows: slice = slice(None)) -> Sample:
        """Return Σ_j ±√w_ij, the sign of an edge reversed at its second end."""
        first = self._graph.local.indptr[: self._graph.n_rows + 1]
        count, low = np.diff(first)[rows], int(first[rows.start or 0])
        some = slice(low, low + int(count.sum()))
        i, j = np.repeat(self._graph.nodes[rows], count), self._ids[self._graph.local.indices[some]]
        size = np.where(i < j, self._root[some], -self._root[some]).astype(np.float32)
        ends = csr_array((size, np.arange(size.size), np.r_[0, np.cumsum(count)]), shape=(count.size, size.size))
        return np.asarray(ends @ signs(np.minimum(i, j), np.maximum(i, j), columns))
