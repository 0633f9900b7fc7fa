"""On a large graph, score some nodes drawn at random instead of all.

Before an answer says otherwise, the best nodes of a large graph are those with the most neighbors, and they tend to be of one kind:
the smaller classes are found late. The best of some nodes drawn at random still have many neighbors, but differ more.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from askgraph.plan.rule import Rule
from askgraph.plan.turn import Turn
from askgraph.support.arguments import whole_number
from askgraph.types import IntArray
from askgraph.utilities.closed import LARGE

DRAWN = 2  # seed that tells these draws from those of questions and audits


@dataclass(frozen=True)
class Handful(Rule):
    """On a graph of more than 10,000 nodes, leave only some candidates, drawn at random: about ``size`` of them."""

    size: int = 1024
    now_and_then: ClassVar[bool] = True

    def __post_init__(self) -> None:
        whole_number(self.size, "size", 1)

    def narrows(self, turn: Turn) -> IntArray:
        """Return the rows of candidates drawn at random: the same whenever this question is chosen, on every engine."""
        space = turn.field.space
        count = space.count(turn.rows)
        if space.n_nodes <= LARGE or count <= self.size:
            return turn.rows
        rng = np.random.default_rng((*turn.seed, turn.number, DRAWN))
        nodes = rng.choice(space.n_nodes, space.n_nodes * self.size // count, replace=False)
        return turn.rather(turn.rows[space.put(space.zeros(dtype=bool), nodes, True)[turn.rows]])
