"""How well labels predict each other, and the choice that it makes among a few values."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from askgraph.answers import coding
from askgraph.answers.history import History
from askgraph.field import Field, Observation
from askgraph.field.leave_one_out import Supposed
from askgraph.readouts.temperature import from_others

MARGIN = 0.5  # nats, summed over the labels; a value that is better than the first one by less is not chosen


def loss(told: Supposed) -> float:
    """Return -Σ ln p of labels in nats, each from all others.

    Only labels of nodes without unusually many neighbors count, since labels of the others agree with each other, and of these
    only labels not alone in their class.
    """
    left, predicted = from_others(told)
    counts = np.bincount(left.said, minlength=told.coding.width)
    ordinary = (told.space.pick(told.origin.crowding, left.nodes) == 1) & (counts[left.said] > 1)
    p = predicted[ordinary, left.said[ordinary]]
    return float(coding.price(p, told.coding.width).sum())


def oldest(field: Field, history: History, count: int) -> tuple[Observation, ...]:
    """Return the oldest labels of a field, by the history: a label that was taken back and put back is as old as it was."""
    told = {x.node: x for x in field.known}
    return tuple(told[node] for node in list(history.told)[:count])


def comes_first(field: Field, labels: Sequence[Observation]) -> bool:
    """Return whether these labels are the first columns of V, in their order."""
    return not field.folded and field.recent[: len(labels)] == tuple(labels)


def least_loss(values: Sequence[float], suppose: Callable[[float], Supposed]) -> float:
    """Return the value at which labels predict each other best; the first one where none is better by more than the margin."""
    losses = {value: loss(suppose(value)) for value in values}
    best, first = min(losses, key=losses.__getitem__), values[0]
    return best if losses[best] + MARGIN < losses[first] else first
