"""Rules that draw a question at random: the first one, now and then one to explore, and spot checks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from askgraph.options import Schedule
from askgraph.plan.rule import Rule
from askgraph.plan.schedule import check_schedule, scheduled
from askgraph.plan.turn import Question, Turn
from askgraph.support.arguments import whole_number

SPOT_CHECK = "spot check"  # who asks for an item that a prediction is judged by


@dataclass(frozen=True)
class Explore(Rule):
    """Draw a question at random with a probability, a number or a schedule (32)."""

    share: Schedule = 0.0
    now_and_then: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_schedule(self.share, "explore")

    def takes(self, turn: Turn, n: int) -> Sequence[Question]:
        """Return a question drawn at random where the dice say so; they are thrown at every turn."""
        if turn.rng.random() >= scheduled(self.share, "explore", turn.field.held):
            return ()
        return [Question(node, "explore") for node in turn.draw()]


@dataclass(frozen=True)
class SpotChecks(Rule):
    """Draw one of every so many questions at random, so that its answer judges the prediction made before it."""

    every: int
    now_and_then: ClassVar[bool] = True

    def __post_init__(self) -> None:
        whole_number(self.every, "spot_checks", 1)

    def takes(self, turn: Turn, n: int) -> Sequence[Question]:
        """Return a question drawn at random, with what is predicted for it, where it is the turn of a spot check."""
        if (turn.number + 1) % self.every:
            return ()
        return [Question(node, SPOT_CHECK, turn.predicted(node)) for node in turn.draw()]


@dataclass(frozen=True)
class FirstAtRandom(Rule):
    """Draw the first question at random: no answer says yet where another would tell most."""

    def takes(self, turn: Turn, n: int) -> Sequence[Question]:
        """Return questions drawn at random before the first answer."""
        return () if turn.field.observations else [Question(node, "first") for node in turn.draw(n)]
