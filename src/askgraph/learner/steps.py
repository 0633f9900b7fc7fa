"""The steps of a run, and how a learner is told again what was told before."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

from askgraph.answers.events import Event
from askgraph.field import Field


@dataclass(frozen=True)
class Step:
    """One question of :meth:`Learner.run`, its answer, and the field after the answer.

    Attributes
    ----------
    node : hashable
        The node that was asked for.
    label : hashable
        Its label.
    field : Field
        The field after the label.
    ask_seconds : float
        How long choosing the node took.
    tell_seconds : float
        How long telling the label took.

    Examples
    --------
    >>> import askgraph as ag
    >>> learner = ag.Learner(ag.chain(5), rng=0, first="utility")
    >>> (step,) = learner.run(lambda node: "middle", budget=1)
    >>> step.node, step.label, step.field.held
    (2, 'middle', 1)
    """

    node: Hashable
    label: Hashable
    field: Field
    ask_seconds: float
    tell_seconds: float

    @property
    def seconds(self) -> float:
        """The seconds that the step took, without the time of the oracle."""
        return self.ask_seconds + self.tell_seconds


def replay(learner: Any, event: Event) -> None:
    """Tell a learner the same thing again."""
    name = learner.graph.name(event.node)
    if event.kind == "tell":
        learner.tell(name, event.label, event.noise, event.predicted)
    elif event.kind in ("skip", "retract"):
        (learner.skip if event.kind == "skip" else learner.retract)(name)
    else:
        {"relabel": learner.relabel, "audit": learner.judge.tell_audit}[event.kind](name, event.label)
