"""Which nodes wait: a label in a small component teaches about few nodes, so larger components come first.

A component is small if it has less than 1 % of the nodes. It waits while n_c / (t_c + 1) < n_L / (t_L + 1): while its next label
would stand for fewer nodes than the next label in the large components, which have n_L nodes and t_L labels together.
On a connected graph, and where every component is small, nothing waits.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from askgraph.field import Field
from askgraph.plan.rule import Rule
from askgraph.plan.turn import Turn
from askgraph.types import Array, BoolArray, IntArray

SMALL = 0.01  # share of the nodes


@dataclass(frozen=True)
class SmallComponentsWait(Rule):
    """Leave out nodes of small components while a label in the large ones stands for more nodes."""

    def narrows(self, turn: Turn) -> IntArray:
        """Return the rows of nodes that need not wait, or all where every one would have to."""
        field, rows = turn.field, turn.rows
        if field.origin.connected:
            return rows
        space, sizes = field.space, field.origin.component_sizes
        small = sizes < SMALL * space.n_nodes
        in_large = int(space.total(~small))
        if in_large in (0, space.n_nodes):
            return rows
        labels, told = _labels_of_component(field, small)
        return turn.rather(rows[(~small | (sizes * (told + 1) >= in_large * (labels + 1)))[rows]])


def _labels_of_component(field: Field, small: BoolArray) -> tuple[Array, int]:
    """Return the labels in the component of each node, counted for small components only, and the labels in large ones."""
    nodes = np.array([x.node for x in field.observations], dtype=np.int64)
    if not nodes.size:
        return field.space.zeros(), 0
    home, inside = field.origin.components, field.space.pick(small, nodes)
    labels, told = field.space.zeros(), int((~inside).sum())
    homes, counts = np.unique(field.space.pick(home, nodes)[inside], return_counts=True)
    if homes.size:
        homes, counts = field.space.asarray(homes), field.space.asarray(counts)
        at = np.minimum(np.searchsorted(homes, home), homes.size - 1)
        labels = np.where(homes[at] == home, counts[at], 0)
    return labels, told
