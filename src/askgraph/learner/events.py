"""What a learner is told, one event after another, and the steps of a run."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from askgraph.field import Field


class Event(NamedTuple):
    """One thing the learner was told: a label, another one, one to judge by, that a node is set aside, or that all this is void."""

    kind: Literal["tell", "relabel", "audit", "skip", "retract"]
    node: int
    label: Hashable = None
    before: Hashable = None
    noise: float | None = None


@dataclass(frozen=True)
class Step:
    """One question and its answer, and the field after it."""

    node: Hashable
    label: Hashable
    field: Field
    ask_seconds: float
    tell_seconds: float

    @property
    def seconds(self) -> float:
        """What the step cost apart from the expert's time."""
        return self.ask_seconds + self.tell_seconds


def kept_apart(log: Sequence[Event], kind: Literal["audit", "skip"]) -> dict[int, Hashable]:
    """Return the nodes of this kind of event that were not told since, and their labels."""
    apart: dict[int, Hashable] = {}
    for event in log:
        if event.kind == kind:
            apart[event.node] = event.label
        elif event.kind in ("tell", "retract"):
            apart.pop(event.node, None)
    return apart


def told_when(log: Sequence[Event], counts: Collection[int]) -> dict[int, tuple[Hashable, float | None]]:
    """Return {node: (label, its own noise)} as it was when the number of labels was last one of ``counts``, or nothing."""
    told: dict[int, tuple[Hashable, float | None]] = {}
    then: dict[int, tuple[Hashable, float | None]] = {}
    for event in log:
        if event.kind in ("tell", "relabel"):
            _, noise = told.get(event.node, (None, event.noise))
            told[event.node] = event.label, noise
        elif event.kind == "retract":
            told.pop(event.node, None)
        if event.kind == "tell" and len(told) in counts:
            then = dict(told)
    return then


def replay(learner: Any, event: Event) -> None:
    """Tell a learner the same thing again."""
    name = learner.graph.name(event.node)
    if event.kind == "tell":
        learner.tell(name, event.label, event.noise)
    elif event.kind in ("skip", "retract"):
        (learner.skip if event.kind == "skip" else learner.retract)(name)
    else:
        {"relabel": learner.relabel, "audit": learner.tell_audit}[event.kind](name, event.label)
