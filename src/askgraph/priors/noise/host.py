"""Right-hand sides of probes: noise hashed from nodes and edges, so that it can be made by blocks, and made again."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from askgraph.errors import EngineError
from askgraph.priors.precision import Precision
from askgraph.support.hashing import GOLDEN, finalize
from askgraph.types import AnyArray, Array, BoolArray, IntArray

Sample = NDArray[np.float32]
WORD, BYTE, PAIR = 64, 8, 16  # signs per hash; signs that compiled code adds at a time, one byte or two of a hash
SIGNS = 2 * np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1, bitorder="little").astype(np.float32) - 1
COMPILE_FROM = 20_000  # nodes; fewer are done in NumPy, without compiling
ORDINARY, EXTRA, FLAT = range(0, 3 << 32, 1 << 32)  # seeds of the signs: times √δ, times √extra, of the probes of ‖g‖₂


def signs(i: IntArray, j: IntArray, columns: slice, seed: int = 0) -> Sample:
    """Return random signs for each pair (i, j), some columns of endlessly many; they depend on the pair, not on its place."""
    word, byte = columns.start // WORD, columns.start // BYTE
    words = np.stack([hashed(i, j, seed + at) for at in range(word, -(-columns.stop // WORD))], axis=1)
    some = words.view(np.uint8)[:, byte - word * WORD // BYTE : -(-columns.stop // BYTE) - word * WORD // BYTE]
    return SIGNS[some].reshape(len(i), BYTE * some.shape[1])[
        :, columns.start - byte * BYTE : columns.stop - byte * BYTE
    ]


def hashed(i: IntArray, j: IntArray, seed: int) -> NDArray[np.uint64]:
    """Return a hash of each pair (i, j): splitmix64, one round per number."""
    x = np.full(len(i), seed, dtype=np.uint64)
    for part in (i, j):
        x = finalize(x * GOLDEN + part.astype(np.uint64) + np.uint64(1))
    return x


def add_edges(first: AnyArray, node: AnyArray, ids: AnyArray | None, root: Array, columns: slice, out: Sample) -> None:
    """Add Σ_j ±√w_ij to some columns, compiled; ``ids`` are the nodes of rows and columns, None if they are nodes already."""
    from askgraph.priors.noise import kernels

    ends_between = range(columns.start // PAIR * PAIR + PAIR, columns.stop, PAIR)
    for at, end in pairwise([columns.start, *ends_between, columns.stop]):
        word, shift = divmod(at, WORD)
        some = out[:, at - columns.start : end - columns.start]
        whole = some.flags.c_contiguous and end - at in (BYTE, PAIR)
        sums = some if whole else np.zeros((len(out), BYTE if end - at <= BYTE else PAIR), np.float32)
        kernels.edges(first, node, ids, root, np.uint64(word), np.uint64(shift), SIGNS, sums.reshape(-1, BYTE))
        if not whole:
            some += sums[:, : end - at]


class SignNoise:
    """One random sign per free node, the mean over its group removed; means are kept, so that a node's noise can be made again."""

    free: BoolArray
    seed: int
    alone: BoolArray
    part: IntArray
    member: csr_array

    def __init__(self, group: AnyArray, free: BoolArray, seed: int = FLAT) -> None:
        self._nodes, self.free, self.seed = np.arange(group.size), free, seed
        size = np.bincount(group)
        self.alone = size[group] == 1  # such a node is its own mean
        self.part = (np.cumsum(size > 1) - 1)[group]
        shared = np.flatnonzero(~self.alone)
        entries = 1 / size[group[shared]], (self.part[shared], shared)
        self.member = csr_array(entries, shape=(np.count_nonzero(size > 1), group.size))
        self._none = np.flatnonzero(self.alone | ~free)
        self._means: dict[int, Array] = {}  # by column: one that float32 cannot solve for is made twice

    def block(self, columns: slice) -> Sample:
        """Return some columns, one row per node."""
        z = signs(self._nodes, self._nodes, columns, self.seed)
        means = np.asarray(self.member @ z)
        self.keep_means(columns.start, means)
        narrow = means.astype(np.float32)
        z -= narrow if len(means) == 1 else narrow[self.part] if len(means) else z
        z[self._none] = 0.0
        return z

    def keep_means(self, first: int, means: Array) -> None:
        """Keep the means of a block of columns: `at` needs them."""
        self._means.update(enumerate(means.T, first))

    def at(self, node: int, count: int) -> Array:
        """Return columns that were made before, at one node."""
        return self.rows(np.array([node]), count)[0]

    def rows(self, nodes: IntArray, count: int) -> Array:
        """Return columns that were made before, at some nodes."""
        some = np.flatnonzero(~self.alone[nodes])
        shared, found = nodes[some], np.zeros((nodes.size, count))
        if shared.size:
            means = np.stack([self._means[column][self.part[shared]] for column in range(count)], axis=1)
            found[some] = signs(shared, shared, slice(0, count), self.seed) - means
        return found

    def arrays(self) -> dict[str, AnyArray]:
        """Return the means, with which `restore` makes the noise of a node again."""
        made = [self._means[column][:, None] for column in sorted(self._means)]
        return {"means": np.hstack([np.zeros((self.member.shape[0], 0)), *made])}

    def restore(self, means: AnyArray) -> None:
        """Take the means of columns that were made before."""
        if means.ndim != 2 or len(means) != self.member.shape[0]:
            raise EngineError(f"means of shape {means.shape} for {self.member.shape[0]} groups")
        self._means = dict(enumerate(means.T))


class GroupNoise:
    """One column per group A, constant on it: 1_A/√|A|, the mean over its component removed; Σ b bᵀ = P − 11ᵀ/n_c."""

    group: AnyArray
    count: int

    def __init__(self, group: AnyArray, component: IntArray, free: BoolArray) -> None:
        self.group, self._component, self._free = group, component, free
        self._size, self._whole = np.bincount(group), np.bincount(component)
        self._home = np.zeros(self._size.size, dtype=np.int64)
        self._home[group] = component
        self.count = self._size.size

    def block(self, columns: slice) -> Sample:
        """Return some columns, one row per node."""
        groups = np.arange(columns.start, columns.stop)
        root = np.sqrt(self._size[groups])
        inside = (self.group[:, None] == groups) / np.maximum(root, 1.0).astype(np.float32)
        mean = root / self._whole[self._home[groups]]
        inside -= (self._component[:, None] == self._home[groups]) * mean.astype(np.float32)
        return np.asarray(inside * self._free[:, None], dtype=np.float32)

    def at(self, node: int) -> Array:
        """Return all columns at one node."""
        own = (np.arange(self.count) == self.group[node]) / np.sqrt(self._size[self.group[node]])
        home = self._home == self._component[node]
        return np.asarray(own - home * np.sqrt(self._size) / self._whole[self._component[node]])


class GroupedSignNoise:
    """Columns that are constant on groups, then random signs without what is constant on groups."""

    groups: GroupNoise
    signs: SignNoise

    def __init__(self, groups: GroupNoise, signs: SignNoise) -> None:
        self.groups, self.signs = groups, signs

    def at(self, node: int, count: int) -> Array:
        """Return columns that were made before, at one node."""
        return np.concatenate([self.groups.at(node), self.signs.at(node, count - self.groups.count)])

    def arrays(self) -> dict[str, AnyArray]:
        """Return the means of the signs, and the groups."""
        return {**self.signs.arrays(), "group": self.groups.group}


class FieldNoise:
    """ξ of covariance Q − δ 11ᵀ/n_c: √w times one sign per edge, √δ times one sign per node, centered, and √extra times another."""

    free: BoolArray
    root_delta: float
    root_extra: Array
    signs: SignNoise

    def __init__(self, precision: Precision) -> None:
        W, self.free, self._pinned = precision.graph.weights, ~precision.pinned, np.flatnonzero(precision.pinned)
        self._first, self._node, self._root = W.indptr, W.indices, np.sqrt(W.data)
        self.root_delta, self.root_extra = precision.delta**0.5, np.sqrt(precision.extra)
        self.signs = SignNoise(precision.graph.components(), self.free, ORDINARY)

    def block(self, columns: slice) -> Sample:
        """Return some columns, one row per node, zero at pinned nodes."""
        noise = self.signs.block(columns)
        noise *= np.float32(self.root_delta)
        if self.root_extra.any():
            nodes = np.arange(self.root_extra.size)
            noise += self.root_extra[:, None].astype(np.float32) * signs(nodes, nodes, columns, EXTRA)
        if self.free.size >= COMPILE_FROM:
            add_edges(self._first, self._node, None, self._root, columns, noise)
        else:
            noise += self._edges(columns)
        noise[self._pinned] = 0.0
        return noise

    def at(self, node: int, count: int) -> Array:
        """Return columns that were made before, at one node."""
        return self.rows(np.array([node]), count)[0]

    def rows(self, nodes: IntArray, count: int) -> Array:
        """Return columns that were made before, at some nodes."""
        degree = self._first[nodes + 1] - self._first[nodes]
        end = np.append(0, np.cumsum(degree))
        i, entry = np.repeat(nodes, degree), np.arange(end[-1]) + np.repeat(self._first[nodes] - end[:-1], degree)
        j, columns = self._node[entry].astype(np.int64), slice(0, count)
        root = csr_array(
            (self._root[entry] * np.where(i < j, 1.0, -1.0), np.arange(end[-1]), end), shape=(nodes.size, end[-1])
        )
        noise = root @ signs(np.minimum(i, j), np.maximum(i, j), columns)
        noise += self.root_delta * self.signs.rows(nodes, count)
        return np.asarray(noise + self.root_extra[nodes, None] * signs(nodes, nodes, columns, EXTRA))

    def arrays(self) -> dict[str, AnyArray]:
        """Return the means of the signs."""
        return self.signs.arrays()

    def restore(self, means: AnyArray) -> None:
        """Take the means of columns that were made before."""
        self.signs.restore(means)

    def _edges(self, columns: slice) -> Sample:
        """Return Σ_j ±√w_ij, the sign of an edge reversed at its second end."""
        i = np.repeat(np.arange(self.free.size), np.diff(self._first))
        upper = i < self._node
        i, j, root = i[upper], self._node[upper].astype(np.int64), self._root[upper]
        edge = np.arange(i.size)
        ends = np.r_[root, -root].astype(np.float32), (np.r_[i, j], np.r_[edge, edge])
        return np.asarray(csr_array(ends, shape=(self.free.size, i.size)) @ signs(i, j, columns))
