"""Find all nodes of a class: ask for the likeliest first."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from askgraph.plan.rule import Rule
from askgraph.plan.turn import Question, Turn


@dataclass(frozen=True)
class Find(Rule):
    """Ask for the node that is most likely in a class, or most likely what else is sought, once something is known of it."""

    label: Hashable
    ends: ClassVar[bool] = True

    def takes(self, turn: Turn, n: int) -> Sequence[Question]:
        """Return the likeliest candidates."""
        likely = turn.reader.likely(self.label)
        if likely is None:
            return ()
        return [Question(int(node), "find") for node in turn.field.space.top(turn.rows, likely[turn.rows], n)]
