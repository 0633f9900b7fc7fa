"""Compiled forces on all nodes of a graph: neighbors attract each other, random pairs repel each other."""

from __future__ import annotations

from typing import Any

import numpy as np

from askgraph.support import hashing
from askgraph.support.hashing import GOLDEN
from askgraph.support.jit import jit

SOFTENING = np.float32(0.001)  # added to a squared distance, so that the repulsion stays finite
LONGEST_STEP = np.float32(4.0)  # a longer step of repulsion, along either axis, is cut to this length
HUB_NEIGHBORS = np.float32(16)  # a node with more neighbors is moved less by each of them
ONE, TWO = np.float32(1), np.float32(2)
UNIT = 2.0**-32  # turns 32 random bits into a number in [0, 1)
finalize: Any = jit()(hashing.finalize)


@jit()
def cumulate_shares(first: Any, weight: Any, share: Any) -> None:
    """Write the cumulated shares of each row's weights into ``share``, from which ``edge_at`` draws an edge by weight."""
    for i in range(len(first) - 1):
        total = 0.0
        for t in range(first[i], first[i + 1]):
            total += weight[t]
        running = 0.0
        for t in range(first[i], first[i + 1]):
            running += weight[t] / total
            share[t] = running


@jit()
def random_bits(state: Any) -> Any:
    """Return 32 random bits for a state of splitmix64; the next state is this one plus GOLDEN."""
    return finalize(state) >> np.uint64(32)


@jit()
def edge_at(first: Any, share: Any, i: int, u: float) -> Any:
    """Return the edge of node i on whose share u in [0, 1) falls."""
    low, high = first[i], first[i + 1] - 1
    while low < high:
        middle = (low + high) >> 1
        if share[middle] > u:
            high = middle
        else:
            low = middle + 1
    return low


@jit()
def bound_step(x: Any) -> Any:
    """Cut a step to at most LONGEST_STEP."""
    return min(max(x, -LONGEST_STEP), LONGEST_STEP)


@jit()
def apply_forces(
    first: Any,
    node: Any,
    share: Any,
    low: Any,
    size: Any,
    shuffled: Any,
    x: Any,
    step: Any,
    seed: Any,
    pulls: int,
    pushes: int,
) -> None:
    """Move all nodes once: each attracts a neighbor by 2/(1 + d²) and is repelled by random nodes by 2/(d² (1 + d²)).

    The random nodes follow each other, from a random place on, in ``shuffled``, which holds the nodes of each component
    (places low … low + size) in random order. Their positions at the start are copied in that order: reading scattered
    positions one by one would take most of the time.
    """
    state, there = seed, x[shuffled]
    for i in range(len(first) - 1):
        if first[i] == first[i + 1]:
            continue
        u, v = x[i, 0], x[i, 1]
        for _ in range(pulls):
            state += GOLDEN
            j = node[edge_at(first, share, i, random_bits(state) * UNIT)]
            a, b = u - x[j, 0], v - x[j, 1]
            pull = step * TWO / (ONE + a * a + b * b)
            u -= pull * a
            v -= pull * b
            pull *= min(ONE, HUB_NEIGHBORS / np.float32(first[j + 1] - first[j]))
            x[j, 0] += pull * a
            x[j, 1] += pull * b
            state += GOLDEN
            k = low[i] + np.int64((random_bits(state) * np.uint64(size[i])) >> np.uint64(32))
            for _ in range(pushes):
                if shuffled[k] != i:
                    a, b = u - there[k, 0], v - there[k, 1]
                    d = a * a + b * b
                    push = TWO / ((SOFTENING + d) * (ONE + d))
                    u += step * bound_step(push * a)
                    v += step * bound_step(push * b)
                k = k + 1 if k + 1 < low[i] + size[i] else low[i]
        x[i, 0], x[i, 1] = u, v
