"""What a factor will look like before it is computed: the elimination tree, its supernodes, and their rows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from askgraph.support.jit import compiled

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]
Longs = NDArray[np.int64]

WIDEST = 32  # columns of a supernode: beyond, the triangles within it stop being small change


class Tree(NamedTuple):
    """Supernodes in postorder."""

    first: Longs  # the column where each begins
    start: Longs  # where its rows begin
    rows: Ints  # rows below the diagonal block, ascending
    head: Ints  # its last child, or -1
    prior: Ints  # the sibling before it, or -1
    block: Longs  # where its rows of N begin
    room: int  # floats waiting on the stack, at most
    tall: int  # rows below a supernode, at most


@compiled()
def etree(indptr: Ints, indices: Ints, order: Ints, place: Ints) -> Ints:
    """Parent of each column in the elimination tree (Liu 1990), -1 at a root."""
    parent = np.full(len(order), -1, np.int32)
    root = np.full(len(order), -1, np.int32)
    for j in range(len(order)):
        for t in range(indptr[order[j]], indptr[order[j] + 1]):
            i = place[indices[t]]
            while i != -1 and i < j:
                up = root[i]
                root[i] = j
                if up == -1:
                    parent[i] = j
                i = up
    return parent


@compiled()
def postorder(parent: Ints) -> Ints:
    """Rank of each column once every subtree is contiguous."""
    n = len(parent)
    child = np.full(n + 1, -1, np.int32)  # child[-1] is the first root
    sibling = np.empty(n, np.int32)
    for j in range(n - 1, -1, -1):
        sibling[j] = child[parent[j]]
        child[parent[j]] = j
    rank = np.empty(n, np.int32)
    j, k = child[n], 0
    while j != -1:
        while child[j] != -1:
            j = child[j]
        rank[j] = k
        k += 1
        while j != -1 and sibling[j] == -1:
            j = parent[j]
            if j != -1:
                rank[j] = k
                k += 1
        if j != -1:
            j = sibling[j]
    return rank


@compiled()
def columns(
    indptr: Ints, indices: Ints, order: Ints, place: Ints, up: Ints, node: Ints, end: Longs, rows: Ints
) -> Longs:
    """Entries of each column of L; where rows has room, list each supernode's rows too (end: where its list ends)."""
    counts = np.ones(len(order), np.int64)
    seen = np.full(len(order), -1, np.int32)
    last = np.full(len(end), -1, np.int32)
    for i in range(len(order)):
        seen[i] = i
        for t in range(indptr[order[i]], indptr[order[i] + 1]):
            k = place[indices[t]]
            while k < i and seen[k] != i:
                seen[k] = i
                counts[k] += 1
                if len(rows) and node[k] != node[i] and last[node[k]] != i:
                    last[node[k]] = i
                    rows[end[node[k]]] = i
                    end[node[k]] += 1
                k = up[k]
    return counts


@compiled()
def supernodes(up: Ints, counts: Longs) -> Longs:
    """First column of each supernode: a tenth of explicit zeros costs less than many thin blocks."""
    first = np.empty(len(up) + 1, np.int64)
    entries = np.empty(len(up), np.int64)
    m = 0
    for j in range(len(up)):
        first[m] = j
        entries[m] = counts[j]
        m += 1
        while m > 1 and up[first[m - 1] - 1] == first[m - 1]:
            w = j + 1 - first[m - 2]
            stored = w * counts[j] + w * (w - 1) // 2
            true = entries[m - 1] + entries[m - 2]
            if w > WIDEST or (w > 4 and 10 * (stored - true) > stored):
                break
            m -= 1
            entries[m - 1] = true
    first[m] = len(up)
    return first[: m + 1].copy()


@compiled()
def link(first: Longs, start: Longs, rows: Ints, node: Ints) -> Tree:
    """Join supernodes into a tree and measure what its stack and blocks will take."""
    m = len(first) - 1
    head = np.full(m, -1, np.int32)
    prior = np.full(m, -1, np.int32)
    block = np.zeros(m + 1, np.int64)
    room = top = tall = 0
    for s in range(m):
        w, h = first[s + 1] - first[s], start[s + 1] - start[s]
        block[s + 1] = block[s] + w * (w + h)
        c = head[s]
        while c != -1:
            top -= (start[c + 1] - start[c]) ** 2
            c = prior[c]
        top += h * h
        room, tall = max(room, top), max(tall, h)
        if h:
            p = node[rows[start[s]]]
            prior[s] = head[p]
            head[p] = s
    return Tree(first, start, rows, head, prior, block, room, tall)


def analyze(indptr: Ints, indices: Ints, place: Ints) -> tuple[Ints, Ints, Longs, Tree]:
    """From the position of each node in a low-fill order: order, place (both postordered), entries of columns of L, tree."""
    parent = etree(indptr, indices, _inverse(place), place)
    rank = postorder(parent)
    up = np.where(parent < 0, -1, rank[parent])[_inverse(rank)].astype(np.int32)
    place = rank[place]
    order, none = _inverse(place), np.empty(0, np.int32)
    counts = columns(indptr, indices, order, place, up, none, np.empty(0, np.int64), none)
    first = supernodes(up, counts)
    node = np.repeat(np.arange(len(first) - 1, dtype=np.int32), np.diff(first))
    start = np.append(0, np.cumsum(counts[first[1:] - 1] - 1))
    rows = np.empty(start[-1], np.int32)
    columns(indptr, indices, order, place, up, node, start.copy(), rows)
    return order, place, counts, link(first, start, rows, node)


def _inverse(permutation: Ints) -> Ints:
    inverse = np.empty_like(permutation)
    inverse[permutation] = np.arange(len(permutation), dtype=np.int32)
    return inverse
