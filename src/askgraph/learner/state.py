"""What a learner knows at one moment."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from askgraph.answers.history import History
from askgraph.field import Field
from askgraph.graph import Graph
from askgraph.kinds import Kind, Moment
from askgraph.learner.prefetch import Prefetch
from askgraph.plan import Plan, Question, Turn
from askgraph.support.turns import Turn as Lock
from askgraph.types import Array

Following = Prefetch[Field, tuple[Field, list[Question]]]


class State(NamedTuple):
    """The field and the history that led to it, the next questions as far as they are known, and what is computed ahead.

    A state is a value. Whatever changes a learner computes a new state and then sets it, in one assignment: who is interrupted
    leaves the state before or the one after.
    """

    field: Field
    history: History
    questions: tuple[Question, ...] = ()  # best first, by the indices of nodes
    prefetch: Following | None = None


class Whole(Protocol):
    """What the parts of a learner know of the whole."""

    graph: Graph
    seed: int
    plan: Plan
    answers: Kind
    _turn: Lock

    @property
    def field(self) -> Field:
        """The posterior."""
        ...

    @property
    def history(self) -> History:
        """Everything told."""
        ...

    @property
    def _moment(self) -> Moment:
        """What a kind of answers reads."""
        ...

    @property
    def guesses(self) -> object:
        """What models guess; false where there is nothing."""
        ...

    def probabilities(self) -> Array:
        """Return class probabilities of all nodes."""
        ...

    def _next_turn(self, field: Field, history: History) -> Turn:
        """Return the turn to choose the question that follows this history."""
        ...

    def _publish(self, field: Field, history: History) -> None:
        """Set what changed."""
        ...
