"""The compiled loop that groups the nodes of a graph into aggregates."""

from __future__ import annotations

from typing import Any

from askgraph.support.jit import jit


@jit(reorder=False)
def aggregate(first: Any, node: Any, weight: Any, top: Any, strong: float, group: Any, pull: Any) -> int:
    """Write the aggregate of each node into ``group`` and return their number; nodes without neighbors keep -1.

    A node whose strong neighbors are all free forms an aggregate with them; each node left over joins the aggregate that its
    edges weigh most to. ``top`` is the largest weight at each node; ``pull`` is work space, one zero per node.
    """
    count = 0
    for i in range(len(group)):
        free = group[i] < 0 and first[i] < first[i + 1]
        for t in range(first[i], first[i + 1]):
            free = free and (group[node[t]] < 0 or weight[t] < strong * top[i])
        if free:
            group[i] = count
            for t in range(first[i], first[i + 1]):
                j = node[t]
                if group[j] < 0 and weight[t] >= strong * max(top[i], top[j]):
                    group[j] = count
            count += 1
    for i in range(len(group)):
        if group[i] == -1 and first[i] < first[i + 1]:
            best = -1
            for t in range(first[i], first[i + 1]):
                a = group[node[t]]
                if a >= 0:
                    pull[a] += weight[t]
                    best = a if best < 0 or pull[a] > pull[best] else best
            for t in range(first[i], first[i + 1]):
                if group[node[t]] >= 0:
                    pull[group[node[t]]] = 0.0
            group[i] = -2 - best
    for i in range(len(group)):
        group[i] = -2 - group[i] if group[i] < -1 else group[i]
    return count
