"""Nodes that are not asked for: skipped, or kept apart for an audit."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from askgraph.field import Field
from askgraph.plan.rule import Rule
from askgraph.plan.turn import Turn
from askgraph.types import IntArray


@dataclass(frozen=True)
class SetAside(Rule):
    """Leave out nodes that were set aside."""

    def narrows(self, turn: Turn) -> IntArray:
        """Return the rows of nodes that were not set aside."""
        return open_rows(turn.field, turn.aside) if turn.aside else turn.rows


def open_rows(field: Field, aside: Collection[int]) -> IntArray:
    """Return the rows of nodes without an answer that were not set aside."""
    return np.flatnonzero(field.space.put(~field.labeled, np.array(list(aside), dtype=np.int64), False))


def why_finished(field: Field, aside: Collection[int]) -> str | None:
    """Return a sentence that says why there is nothing to ask; None while there is."""
    if field.space.count(open_rows(field, aside)):
        return None
    return f"finished: all unlabeled nodes ({len(aside)}) are set aside" if aside else "finished: every node is labeled"
