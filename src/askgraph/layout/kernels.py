"""A round of forces on all nodes of a graph, compiled: neighbours draw together, random pairs move apart."""

from __future__ import annotations

from typing import Any

import numpy as np

from askgraph.support.jit import compiled

NEAR, LONGEST = np.float32(0.001), np.float32(4.0)  # softens the repulsion, and bounds a step
HUB = np.float32(16)  # a node with more neighbours gives way less to each
ONE, TWO = np.float32(1), np.float32(2)
NEXT, FIRST, SECOND = (np.uint64(x) for x in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))
UNIT = 2.0**-32


@compiled()
def cumulated(first: Any, weight: Any, share: Any) -> None:
    """Running shares of each row's weights: the edge on which a uniform number falls is drawn by weight."""
    for i in range(len(first) - 1):
        total = 0.0
        for t in range(first[i], first[i + 1]):
            total += weight[t]
        running = 0.0
        for t in range(first[i], first[i + 1]):
            running += weight[t] / total
            share[t] = running


@compiled()
def random_bits(state: Any) -> Any:
    """32 of them, uniform where the state goes on by NEXT (splitmix64)."""
    z = (state ^ (state >> np.uint64(30))) * FIRST
    z = (z ^ (z >> np.uint64(27))) * SECOND
    return (z ^ (z >> np.uint64(31))) >> np.uint64(32)


@compiled()
def edge_at(first: Any, share: Any, i: int, u: float) -> Any:
    """The edge of node i on which u in [0, 1) falls."""
    low, high = first[i], first[i + 1] - 1
    while low < high:
        middle = (low + high) >> 1
        if share[middle] > u:
            high = middle
        else:
            low = middle + 1
    return low


@compiled()
def bounded(x: Any) -> Any:
    """A step that is not too long."""
    return min(max(x, -LONGEST), LONGEST)


@compiled()
def moved(
    first: Any,
    node: Any,
    share: Any,
    low: Any,
    size: Any,
    dealt: Any,
    x: Any,
    step: Any,
    seed: Any,
    pulls: int,
    pushes: int,
) -> None:
    """Each node and a neighbour draw together by 2/(1 + d²), and it moves away from random nodes by 2/(d² (1 + d²)).

    Random nodes are those that follow each other, from a random one on, among the nodes of its component (low … low + size)
    dealt anew, where they are at the start: reading them one by one would take most of the time.
    """
    state, there = seed, x[dealt]
    for i in range(len(first) - 1):
        if first[i] == first[i + 1]:
            continue
        u, v = x[i, 0], x[i, 1]
        for _ in range(pulls):
            state += NEXT
            j = node[edge_at(first, share, i, random_bits(state) * UNIT)]
            a, b = u - x[j, 0], v - x[j, 1]
            pull = step * TWO / (ONE + a * a + b * b)
            u -= pull * a
            v -= pull * b
            pull *= min(ONE, HUB / np.float32(first[j + 1] - first[j]))
            x[j, 0] += pull * a
            x[j, 1] += pull * b
            state += NEXT
            k = low[i] + np.int64((random_bits(state) * np.uint64(size[i])) >> np.uint64(32))
            for _ in range(pushes):
                if dealt[k] != i:
                    a, b = u - there[k, 0], v - there[k, 1]
                    d = a * a + b * b
                    push = TWO / ((NEAR + d) * (ONE + d))
                    u += step * bounded(push * a)
                    v += step * bounded(push * b)
                k = k + 1 if k + 1 < low[i] + size[i] else low[i]
        x[i, 0], x[i, 1] = u, v
