"""What a learner knows at one moment."""

from __future__ import annotations

from typing import NamedTuple

from askgraph.field import Field
from askgraph.learner.history import History
from askgraph.learner.prefetch import Prefetch

Ahead = Prefetch[Field, tuple[Field, list[int]]]


class State(NamedTuple):
    """The field and the history that led to it, the next questions as far as they are known, and what is computed ahead.

    A state is a value. Whatever changes a learner computes a new state and then sets it, in one assignment: who is interrupted
    leaves the state before or the one after.
    """

    field: Field
    history: History
    questions: tuple[int, ...] = ()  # best first
    prefetch: Ahead | None = None
