"""On a large graph, score some nodes drawn at random instead of all.

Before an answer says otherwise, the best nodes of a large graph are those with the most neighbors, and they tend to be of one kind:
the smaller classes are found late. The best of some nodes drawn at random still have many neighbors, but differ more. The best
of d nodes drawn among n is on average the n/d-th best of all: where n is FEW times d or less, it might as well be the best.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from askgraph.plan.rule import Rule
from askgraph.plan.turn import Turn
from askgraph.support.arguments import whole_number
from askgraph.types import IntArray

FEW = 3  # times the nodes that are drawn: in graphs of no more than these all are scored
DRAWN = 2  # seed that tells these draws from those of questions and audits


@dataclass(frozen=True)
class Handful(Rule):
    """On a graph of more than three times ``size`` nodes, leave only some candidates, drawn at random: about ``size`` of them."""

    size: int = 1024
    now_and_then: ClassVar[bool] = True

    def __post_init__(self) -> None:
        whole_number(self.size, "size", 1)

    def narrows(self, turn: Turn) -> IntArray:
        """Return the rows of candidates drawn at random: the same whenever this question is chosen, on every engine."""
        space = turn.field.space
        count = space.count(turn.rows)
        if space.n_nodes <= FEW * self.size or count <= self.size:
            return turn.rows
        rng = np.random.default_rng((*turn.seed, turn.number, DRAWN))
        nodes = rng.choice(space.n_nodes, space.n_nodes * self.size // count, replace=False)
        return turn.rather(turn.rows[space.put(space.zeros(dtype=bool), nodes, True)[turn.rows]])
