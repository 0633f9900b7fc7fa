"""The structure of a sparse factor before it is computed: the elimination tree, its supernodes, and their rows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from askgraph.support.jit import jit

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]
Longs = NDArray[np.int64]

MAX_COLUMNS = 32  # of a supernode; in wider ones the triangle of the diagonal block takes noticeable time


class Tree(NamedTuple):
    """The supernodes in postorder, each a run of columns with the same rows below; arrays have one entry per supernode."""

    first: Longs  # its first column; one more entry at the end
    start: Longs  # where its rows begin in `rows`; one more entry at the end
    rows: Ints  # of all supernodes: rows below the diagonal block, ascending
    last_child: Ints  # or -1
    previous: Ints  # the sibling before it, or -1
    block: Longs  # where its rows of N begin; one more entry at the end
    stack_size: int  # most floats on the stack of updates at any time
    max_rows: int  # most rows below a supernode


@jit()
def etree(indptr: Ints, indices: Ints, order: Ints, place: Ints, parent: Ints, root: Ints) -> None:
    """Write the parent of each column in the elimination tree (Liu 1990), -1 at a root; both outputs are -1 before."""
    for j in range(len(order)):
        for t in range(indptr[order[j]], indptr[order[j] + 1]):
            i = place[indices[t]]
            while i != -1 and i < j:
                up = root[i]
                root[i] = j
                if up == -1:
                    parent[i] = j
                i = up


@jit()
def postorder(parent: Ints, child: Ints, sibling: Ints, rank: Ints) -> None:
    """Write the rank of each column in an order in which every subtree is contiguous.

    ``child`` has one more entry, the first root, and is -1 before.
    """
    n = len(parent)
    for j in range(n - 1, -1, -1):
        sibling[j] = child[parent[j]]
        child[parent[j]] = j
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


@jit()
def count_entries(
    indptr: Ints,
    indices: Ints,
    order: Ints,
    place: Ints,
    up: Ints,
    seen: Ints,
    counts: Longs,
    owner: Ints,
    last: Ints,
    end: Longs,
    rows: Ints,
) -> None:
    """Add to ``counts`` the entries of each column of L below the diagonal; list in ``rows`` those of each supernode.

    An empty ``rows`` stays empty. ``owner`` is the supernode of each column; ``end`` is where each list begins, and is moved
    to where it ends. ``seen``, one entry per column, and ``last``, one per supernode, are -1 before.
    """
    for i in range(len(order)):
        seen[i] = i
        for t in range(indptr[order[i]], indptr[order[i] + 1]):
            k = place[indices[t]]
            while k < i and seen[k] != i:
                seen[k] = i
                counts[k] += 1
                if len(rows) and owner[k] != owner[i] and last[owner[k]] != i:
                    last[owner[k]] = i
                    rows[end[owner[k]]] = i
                    end[owner[k]] += 1
                k = up[k]


@jit()
def find_supernodes(up: Ints, counts: Longs, first: Longs, entries: Longs) -> int:
    """Write the first column of each supernode, and n, and return their number.

    Up to a tenth of explicit zeros costs less than many thin blocks.
    """
    m = 0
    for j in range(len(up)):
        first[m] = j
        entries[m] = counts[j]
        m += 1
        while m > 1 and up[first[m - 1] - 1] == first[m - 1]:
            w = j + 1 - first[m - 2]
            stored = w * counts[j] + w * (w - 1) // 2
            true = entries[m - 1] + entries[m - 2]
            if w > MAX_COLUMNS or (w > 4 and 10 * (stored - true) > stored):
                break
            m -= 1
            entries[m - 1] = true
    first[m] = len(up)
    return m


@jit()
def link(first: Longs, start: Longs, rows: Ints, owner: Ints, last_child: Ints, previous: Ints) -> int:
    """Write the last child and the sibling before each supernode, both -1 before; return the size of the stack of updates."""
    stack_size = top = 0
    for s in range(len(first) - 1):
        h = start[s + 1] - start[s]
        c = last_child[s]
        while c != -1:
            top -= (start[c + 1] - start[c]) ** 2
            c = previous[c]
        top += h * h
        stack_size = max(stack_size, top)
        if h:
            p = owner[rows[start[s]]]
            previous[s] = last_child[p]
            last_child[p] = s
    return stack_size


def link_supernodes(first: Longs, start: Longs, rows: Ints, owner: Ints) -> Tree:
    """Return the tree of the supernodes, and the sizes of its stack and blocks."""
    last_child, previous = _unset(len(first) - 1), _unset(len(first) - 1)
    stack_size = link(first, start, rows, owner, last_child, previous)
    width, height = np.diff(first), np.diff(start)
    block = np.append(0, np.cumsum(width * (width + height)))
    return Tree(first, start, rows, last_child, previous, block, stack_size, int(height.max(initial=0)))


def analyze(indptr: Ints, indices: Ints, place: Ints) -> tuple[Ints, Ints, Longs, Tree]:
    """Return order and place (both in postorder), the entries of each column of L, and the tree.

    ``place`` is the position of each node in an order with little fill. Arrays are made here: compiled code takes long to compile
    where it makes them itself.
    """
    n, none, nowhere = len(place), np.empty(0, np.int32), np.empty(0, np.int64)
    parent, rank = _unset(n), _unset(n)
    etree(indptr, indices, _inverse(place), place, parent, _unset(n))
    postorder(parent, _unset(n + 1), _unset(n), rank)
    up = np.where(parent < 0, -1, rank[parent])[_inverse(rank)].astype(np.int32)
    place = rank[place]
    order, counts = _inverse(place), np.ones(n, np.int64)
    count_entries(indptr, indices, order, place, up, _unset(n), counts, none, none, nowhere, none)
    first = np.empty(n + 1, np.int64)
    first = first[: find_supernodes(up, counts, first, np.empty(n, np.int64)) + 1].copy()
    owner = np.repeat(np.arange(len(first) - 1, dtype=np.int32), np.diff(first))
    start = np.append(0, np.cumsum(counts[first[1:] - 1] - 1))
    rows, last = np.empty(start[-1], np.int32), _unset(len(first) - 1)
    count_entries(indptr, indices, order, place, up, _unset(n), counts.copy(), owner, last, start.copy(), rows)
    return order, place, counts, link_supernodes(first, start, rows, owner)


def _unset(n: int) -> Ints:
    return np.full(n, -1, np.int32)


def _inverse(permutation: Ints) -> Ints:
    inverse = np.empty_like(permutation)
    inverse[permutation] = np.arange(len(permutation), dtype=np.int32)
    return inverse
