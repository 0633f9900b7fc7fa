"""The compiled loops of inverses on neighborhoods; importing this module loads numba."""

from __future__ import annotations

from typing import Any

import numpy as np

from askgraph.linalg.cg_kernels import ONE, Matrix
from askgraph.linalg.simd import load, store
from askgraph.support.jit import jit, jit_inline

MOST = 16  # nodes of a neighborhood, its own node included
BUSY = np.uint64(64)  # neighbors: a node with more stays alone, since its neighbors add little to 1/D and take long
LEAST_PIVOT = 1e-9  # of the diagonal: below, more than nine digits cancel


@jit_inline()
def busy(Q: Matrix, i: Any) -> bool:
    """Return whether node i has too many neighbors for a neighborhood."""
    return Q.first[i + ONE] - Q.first[i] > BUSY


@jit_inline()
def choose(Q: Matrix, i: Any, left_out: Any, block: Any) -> Any:
    """Write the neighbors of i with the heaviest edges to ``block``, then i; return their number, i included.

    Nobody takes the place of a node that is left out, so that leaving out a node changes no rows but those that had it.
    """
    weight, count = np.empty(MOST), np.uint64(0)
    for t in range(Q.first[i], Q.first[i + ONE]):
        j, w = Q.node[t], Q.weight[t]
        if busy(Q, i) or busy(Q, j) or (count == MOST - 1 and w <= weight[count - ONE]):
            continue
        at = min(count, np.uint64(MOST - 2))
        while at > 0 and weight[at - ONE] < w:
            weight[at], block[at] = weight[at - ONE], block[at - ONE]
            at -= ONE
        weight[at], block[at] = w, j
        count = min(count + ONE, np.uint64(MOST - 1))
    kept = np.uint64(0)
    for a in range(count):
        if not left_out[block[a]]:
            block[kept] = block[a]
            kept += ONE
    block[kept] = i
    return kept + ONE


@jit_inline()
def fill(Q: Matrix, block: Any, count: Any, place: Any, A: Any) -> None:
    """Set A to the lower half of Q on the nodes of a block; ``place`` is 0 everywhere before and after."""
    for a in range(count):
        place[block[a]] = a + ONE
        for b in range(a):
            A[a, b] = 0.0
        A[a, a] = Q.diagonal[block[a]]
    for a in range(count - ONE):
        for t in range(Q.first[block[a]], Q.first[block[a] + ONE]):
            b = place[Q.node[t]]
            if b > a + ONE:
                A[b - ONE, a] = -Q.weight[t]
    for a in range(count):
        place[block[a]] = 0


@jit_inline()
def solve_last(A: Any, count: Any, c: Any) -> bool:
    """Set c to the last row of the inverse of A, by Cholesky: A becomes its lower factor; return False if too much cancels."""
    for a in range(count):
        for b in range(a):
            value = A[a, b]
            for k in range(b):
                value -= A[a, k] * A[b, k]
            A[a, b] = value / A[b, b]
        value = A[a, a]
        for k in range(a):
            value -= A[a, k] * A[a, k]
        if not value > LEAST_PIVOT * A[a, a]:
            return False
        A[a, a] = np.sqrt(value)
    last = count - ONE
    c[last] = 1.0 / (A[last, last] * A[last, last])
    for b in range(ONE, count):
        a = last - b
        value = 0.0
        for k in range(a + ONE, count):
            value -= A[k, a] * c[k]
        c[a] = value / A[a, a]
    return True


@jit()
def invert(Q: Matrix, rows: Any, left_out: Any, nodes: Any, values: Any, counts: Any) -> None:
    """For each of some rows i of Q, choose a neighborhood and compute row i of the inverse of Q there.

    ``nodes`` and ``values`` get its nodes and numbers, i last; ``counts`` gets how many. Where the inverse would lose its digits,
    the neighborhood is i alone.
    """
    A, place = np.empty((MOST, MOST)), np.zeros(len(Q.diagonal), np.uint8)
    for k in range(len(rows)):
        count = choose(Q, rows[k], left_out, nodes[k])
        fill(Q, nodes[k], count, place, A)
        if not solve_last(A, count, values[k]):
            nodes[k, 0], values[k, 0], count = rows[k], 1.0 / Q.diagonal[rows[k]], ONE
        counts[k] = count


@jit(reorder=False)
def subtract(lanes: Any, first: Any, node: Any, value: Any, x: Any, q: Any, y: Any) -> None:
    """Set y = x - C q."""
    for i in range(np.uint64(len(x))):
        left = load(x, i, lanes)
        for t in range(first[i], first[i + ONE]):
            left = left - value[t] * load(q, node[t], lanes)
        store(y, i, left)
