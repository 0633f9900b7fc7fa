"""What a learner is told, one event after another."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Sequence
from typing import Literal, NamedTuple


class Event(NamedTuple):
    """One thing that a learner was told.

    Attributes
    ----------
    kind : {"tell", "relabel", "audit", "skip", "retract"}
        What was told: a label, another label for a labeled node, a label to judge predictions by, that a node is set aside,
        or that what was told of a node is taken back.
    node : int
        The index of the node.
    label : hashable
        The label; None for "skip" and "retract".
    before : hashable
        The label that a "relabel" replaced or a "retract" took back; else None.
    noise : float or None
        The label noise given with this label, or for "retract" that of the label taken back; None for the learner's own.
    predicted : hashable
        The label that was predicted before the answer to a spot check; else None.

    Examples
    --------
    >>> import askgraph as ag
    >>> learner = ag.Learner(ag.chain(5), rng=0)
    >>> learner.tell(0, "left")
    >>> learner.skip(4)
    >>> [(event.kind, event.node, event.label) for event in learner.history.log]
    [('tell', 0, 'left'), ('skip', 4, None)]
    """

    kind: Literal["tell", "relabel", "audit", "skip", "retract"]
    node: int
    label: Hashable = None
    before: Hashable = None
    noise: float | None = None
    predicted: Hashable = None


class SpotCheck(NamedTuple):
    """A node drawn at random, the label predicted for it, and the label it got.

    Attributes
    ----------
    node : hashable
        The node.
    predicted : hashable
        The label that was predicted before the answer.
    label : hashable
        The label of the node now.

    Examples
    --------
    >>> import askgraph as ag
    >>> learner = ag.Learner(ag.chain(6), spot_checks=2, rng=0)
    >>> for step in learner.run(lambda node: "left" if node < 3 else "right", budget=4):
    ...     pass
    >>> [check.label == learner.labels[check.node] for check in learner.judge.spot_checks]
    [True, True]
    """

    node: Hashable
    predicted: Hashable
    label: Hashable

    @property
    def right(self) -> bool:
        """Whether the prediction was right."""
        return bool(self.predicted == self.label)


class KeptApart:
    """Nodes that are not asked for, {node: label}: skipped, or audited, and not labeled or retracted since."""

    def __init__(self) -> None:
        self.skipped: dict[int, Hashable] = {}
        self.audited: dict[int, Hashable] = {}

    def after(self, events: Iterable[Event]) -> KeptApart:
        """Return what is kept apart after more events."""
        new = KeptApart()
        new.skipped, new.audited = dict(self.skipped), dict(self.audited)
        for event in events:
            if event.kind in ("tell", "retract"):
                new.skipped.pop(event.node, None)
                new.audited.pop(event.node, None)
            elif event.kind in ("skip", "audit"):
                (new.skipped if event.kind == "skip" else new.audited)[event.node] = event.label
        return new


def checked(log: Sequence[Event]) -> dict[int, tuple[Hashable, Hashable]]:
    """Return {node: (predicted, label)} of the spot checks whose nodes are labeled still, oldest first."""
    found: dict[int, tuple[Hashable, Hashable]] = {}
    for event in log:
        if event.kind == "tell" and event.predicted is not None:
            found[event.node] = event.predicted, event.label
        elif event.kind == "relabel" and event.node in found:
            found[event.node] = found[event.node][0], event.label
        elif event.kind == "retract":
            found.pop(event.node, None)
    return found


def told_now(log: Iterable[Event]) -> dict[int, Hashable]:
    """Return {node: label} of the labels that a log leaves, in the order in which nodes were labeled."""
    found: dict[int, Hashable] = {}
    for event in log:
        if event.kind in ("tell", "relabel"):
            found[event.node] = event.label
        elif event.kind == "retract":
            found.pop(event.node, None)
    return found


def own_noise(log: Sequence[Event]) -> set[int]:
    """Return the nodes whose label was last told with a label noise of its own."""
    given = {event.node: event.noise for event in log if event.kind == "tell"}
    return {node for node, noise in given.items() if noise is not None}


def told_when(log: Sequence[Event], counts: Collection[int]) -> dict[int, tuple[Hashable, float | None]]:
    """Return {node: (label, label noise)} as it was when the number of labels was last one of ``counts``, or {}."""
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
