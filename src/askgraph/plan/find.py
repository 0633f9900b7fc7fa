"""Find all nodes of a class: ask for the likeliest first."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from askgraph.errors import SettingError
from askgraph.plan.rule import Rule
from askgraph.plan.turn import Question, Turn
from askgraph.support.wording import kind_and_size
from askgraph.types import Array


@dataclass(frozen=True)
class Find(Rule):
    """Ask for the node that is most likely in a class, or most likely what else is sought, once something is known of it.

    ``like`` says how alike each node is to a description of what is sought: then the node that is most alike is asked for.
    """

    label: Hashable
    like: ArrayLike | None = field(default=None, compare=False)
    ends: ClassVar[bool] = True

    def takes(self, turn: Turn, n: int) -> Sequence[Question]:
        """Return the likeliest candidates, or those that are most alike."""
        space = turn.field.space
        likely = turn.reader.likely(self.label) if self.like is None else space.scatter(self._checked(space.n_nodes))
        if likely is None:
            return ()
        return [Question(int(node), "find") for node in space.top(turn.rows, likely[turn.rows], n)]

    def _checked(self, n: int) -> Array:
        """Return how alike nodes are to a description; raise an error unless it is one number per node."""
        try:
            found = np.asarray(self.like)
        except (ValueError, TypeError):  # rows of several lengths, or what is no array at all
            found = np.empty(0)
        if found.shape != (n,) or found.dtype.kind not in "biuf" or not np.isfinite(found).all():
            raise SettingError(f"like={kind_and_size(self.like)}: give one finite number for each of the {n:,} nodes")
        return found.astype(float)
