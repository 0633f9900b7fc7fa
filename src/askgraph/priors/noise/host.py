"""Right-hand sides of probes: noise that a hash of nodes and edges gives, so that it can be made by parts and made again."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from askgraph.errors import EngineError
from askgraph.priors.base import Precision
from askgraph.support.hashing import GOLDEN, finalize
from askgraph.types import AnyArray, Array, BoolArray, IntArray

Sample = NDArray[np.float32]
WORD = 64  # signs of a hash
COMPILE_FROM = 20_000  # nodes
ORDINARY, EXTRA, FLAT = range(0, 3 << 32, 1 << 32)  # seeds: a node's noise through √δ, through √extra, of flat probes


def signs(i: IntArray, j: IntArray, columns: slice, seed: int = 0) -> Sample:
    """Random signs for each pair (i, j), some columns of endlessly many: they belong to the edge and not to its place."""
    first = columns.start // WORD
    words = np.stack([hashed(i, j, seed + word) for word in range(first, -(-columns.stop // WORD))], axis=1)
    bits = np.unpackbits(words.view(np.uint8), axis=1, bitorder="little")
    return bits[:, columns.start - first * WORD : columns.stop - first * WORD].astype(np.float32) * 2 - 1


def hashed(i: IntArray, j: IntArray, seed: int) -> NDArray[np.uint64]:
    """splitmix64, three rounds of it."""
    x = np.full(len(i), seed, dtype=np.uint64)
    for part in (i, j):
        x = finalize(x * GOLDEN + part.astype(np.uint64) + np.uint64(1))
    return x


class Flat:
    """A sign a free node, the mean over its group removed; means are kept, so that a node's noise can be made again."""

    def __init__(self, group: AnyArray, free: BoolArray, seed: int = FLAT) -> None:
        self._nodes, self._free, self._seed = np.arange(group.size), free, seed
        size = np.bincount(group)
        self._alone = size[group] == 1  # such a node is its own mean
        self._part = (np.cumsum(size > 1) - 1)[group]
        shared = np.flatnonzero(~self._alone)
        entries = 1 / size[group[shared]], (self._part[shared], shared)
        self._member = csr_array(entries, shape=(np.count_nonzero(size > 1), group.size))
        self._means: dict[int, Array] = {}

    def block(self, columns: slice) -> Sample:
        """Some columns for all nodes."""
        z = signs(self._nodes, self._nodes, columns, self._seed)
        means = self._means[columns.start] = np.asarray(self._member @ z)
        z -= means.astype(np.float32)[self._part] if len(means) else z
        z[self._alone | ~self._free] = 0.0
        return z

    def at(self, node: int, count: int) -> Array:
        """Columns made before, at one node."""
        if self._alone[node]:
            return np.zeros(count)
        means = np.concatenate([self._means[at][self._part[node]] for at in sorted(self._means)])
        own = signs(self._nodes[[node]], self._nodes[[node]], slice(0, count), self._seed)[0]
        return np.asarray(own - means[:count])

    def arrays(self) -> dict[str, AnyArray]:
        """What `restore` needs to make the noise of a node again."""
        made = [self._means[at] for at in sorted(self._means)]
        return {"means": np.hstack([np.zeros((self._member.shape[0], 0)), *made])}

    def restore(self, means: AnyArray) -> None:
        """With the means of columns made before."""
        if means.ndim != 2 or len(means) != self._member.shape[0]:
            raise EngineError(f"means of shape {means.shape} for {self._member.shape[0]} groups")
        self._means = {0: means}


class Steps:
    """What is constant on groups, a column a group: 1_A/√|A|, the mean over its component removed; Σ b bᵀ = P − 11ᵀ/n_c."""

    def __init__(self, group: AnyArray, component: IntArray, free: BoolArray) -> None:
        self.group, self._component, self._free = group, component, free
        self._size, self._whole = np.bincount(group), np.bincount(component)
        self._home = np.zeros(self._size.size, dtype=np.int64)
        self._home[group] = component
        self.count = self._size.size

    def block(self, columns: slice) -> Sample:
        """Some columns for all nodes."""
        groups = np.arange(columns.start, columns.stop)
        root = np.sqrt(self._size[groups])
        inside = (self.group[:, None] == groups) / np.maximum(root, 1.0).astype(np.float32)
        mean = root / self._whole[self._home[groups]]
        inside -= (self._component[:, None] == self._home[groups]) * mean.astype(np.float32)
        return np.asarray(inside * self._free[:, None], dtype=np.float32)

    def at(self, node: int) -> Array:
        """All columns at one node."""
        own = (np.arange(self.count) == self.group[node]) / np.sqrt(self._size[self.group[node]])
        home = self._home == self._component[node]
        return np.asarray(own - home * np.sqrt(self._size) / self._whole[self._component[node]])


class SteppedFlat:
    """Steps over groups, then random signs without them."""

    def __init__(self, steps: Steps, flat: Flat) -> None:
        self.steps, self.flat = steps, flat

    def at(self, node: int, count: int) -> Array:
        """Columns made before, at one node."""
        return np.concatenate([self.steps.at(node), self.flat.at(node, count - self.steps.count)])

    def arrays(self) -> dict[str, AnyArray]:
        """The means of the signs, and the groups."""
        return {**self.flat.arrays(), "group": self.steps.group}


class Field:
    """ξ of covariance Q − δ 11ᵀ/n_c: a sign an edge through √w, a sign a node through √δ, centered, and one through √extra."""

    def __init__(self, precision: Precision) -> None:
        W, self._free = precision.graph.weights, ~precision.pinned
        self._first, self._node, self._root = W.indptr, W.indices, np.sqrt(W.data)
        self._delta, self._extra = precision.delta**0.5, np.sqrt(precision.extra)
        self._flat = Flat(precision.graph.components(), self._free, ORDINARY)

    def block(self, columns: slice) -> Sample:
        """Some columns for all nodes; nothing at pinned ones."""
        noise = np.float32(self._delta) * self._flat.block(columns)
        if self._extra.any():
            nodes = np.arange(self._extra.size)
            noise += self._extra[:, None].astype(np.float32) * signs(nodes, nodes, columns, EXTRA)
        noise += self._edges(columns)
        return np.asarray(noise * self._free[:, None])

    def at(self, node: int, count: int) -> Array:
        """Columns made before, at one node."""
        entries, here = slice(self._first[node], self._first[node + 1]), np.array([node])
        others = self._node[entries].astype(np.int64)
        pairs = signs(np.minimum(node, others), np.maximum(node, others), slice(0, count))
        noise = (self._root[entries] * np.where(node < others, 1.0, -1.0)) @ pairs
        noise += self._delta * self._flat.at(node, count)
        return np.asarray(noise + self._extra[node] * signs(here, here, slice(0, count), EXTRA)[0])

    def arrays(self) -> dict[str, AnyArray]:
        """What `restore` needs."""
        return self._flat.arrays()

    def restore(self, means: AnyArray) -> None:
        """With the means of columns made before."""
        self._flat.restore(means)

    def _edges(self, columns: slice) -> Sample:
        """Σ_j ±√w_ij, the sign of an edge turned at its second end."""
        if self._free.size >= COMPILE_FROM:
            return self._compiled_edges(columns)
        i = np.repeat(np.arange(self._free.size), np.diff(self._first))
        upper = i < self._node
        i, j, root = i[upper], self._node[upper].astype(np.int64), self._root[upper]
        edge = np.arange(i.size)
        ends = np.r_[root, -root].astype(np.float32), (np.r_[i, j], np.r_[edge, edge])
        return np.asarray(csr_array(ends, shape=(self._free.size, i.size)) @ signs(i, j, columns))

    def _compiled_edges(self, columns: slice) -> Sample:
        from askgraph.priors.noise import kernels

        out = np.zeros((self._free.size, columns.stop - columns.start), np.float32)
        word, shift = divmod(columns.start, WORD)
        kernels.edges(self._first, self._node, self._root, np.uint64(word), np.uint64(shift), out)
        return out
