"""Supernodes of a sparse factor: the loops that find them, as plain Python, which small graphs run and large ones compile."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
Link = Callable[[Longs, Longs, Ints, Ints, Ints, Ints], int]

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


def linked(link: Link, first: Longs, start: Longs, rows: Ints) -> Tree:
    """Return the tree of the supernodes, and the sizes of its stack and blocks; ``link`` is the function above, or compiled."""
    owner = owners(first)
    last_child, previous = unset(len(first) - 1), unset(len(first) - 1)
    stack_size = link(first, start, rows, owner, last_child, previous)
    width, height = np.diff(first), np.diff(start)
    block = np.append(0, np.cumsum(width * (width + height)))
    return Tree(first, start, rows, last_child, previous, block, stack_size, int(height.max(initial=0)))


def owners(first: Longs) -> Ints:
    """Return the supernode of each column."""
    return np.repeat(np.arange(len(first) - 1, dtype=np.int32), np.diff(first))


def unset(n: int) -> Ints:
    """Return n times -1."""
    return np.full(n, -1, np.int32)


def inverted(permutation: Ints) -> Ints:
    """Return the inverse of a permutation."""
    inverse = np.empty_like(permutation)
    inverse[permutation] = np.arange(len(permutation), dtype=np.int32)
    return inverse
