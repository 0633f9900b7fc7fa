"""Hubs: nodes with more than twice the median number of neighbors, whose labels may say little about their neighbors.

Influence is largest at hubs, so a learner would ask for them first. Where hubs are of another kind than their neighbors, their
labels mislead, and since they agree with each other, leave-one-out over all labels does not show it. So labels of hubs count for
less, by a power of how many neighbors they have, every fourth question goes to a node that is not a hub, and the labels of such
nodes choose the power: the one at which the other labels predict them best.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Literal

import numpy as np

from askgraph.answers.history import History
from askgraph.field import Field, Observation
from askgraph.field.leave_one_out import supposed
from askgraph.plan.loss import comes_first, least_loss, oldest
from askgraph.plan.rule import Rule
from askgraph.plan.turn import Turn
from askgraph.priors.base import Prior
from askgraph.support.later import remember
from askgraph.types import Array, IntArray

POINTS = (8, 12, 16, 24, 32)  # numbers of labels at which powers are compared
POWERS = (1.0, 0.0, 2.0)  # the first one to begin with
TURN = 4  # every fourth question goes to a node that is not a hub


@dataclass(frozen=True)
class HubDiscount:
    """The variance (x^power − 1)/d of a hub's label, so that it counts for one x^power-th.

    x is how many times as many neighbors it has as twice the median, d the sum of its weights.
    """

    power: float

    def __call__(self, prior: Prior, take: Callable[[Array], Array]) -> Array:
        """Return what is added to the variance of labels at some nodes: 0 at a node that is not a hub."""
        return (take(prior.crowding) ** self.power - 1) / np.maximum(take(prior.degrees), np.finfo(float).tiny)


def discount_of(power: float) -> HubDiscount | None:
    """Return the discount of labels of hubs; None where they count like any other."""
    return HubDiscount(power) if power else None


def power_of(now: Field) -> float:
    """Return the power by which labels of hubs count for less in a field; 0 where they count like any other."""
    return now.discount.power if isinstance(now.discount, HubDiscount) else 0.0


@dataclass(frozen=True)
class Hubs(Rule):
    """Skip hubs, or let their labels count for less, by the power that the oldest labels held speak for.

    What was told in between and taken back plays no part, so undo, replay and telling all at once come to the same.
    """

    how: Literal["discount", "skip"]
    _chosen: dict[Hashable, float] = field(init=False, compare=False, repr=False, default_factory=dict)  # by labels

    def narrows(self, turn: Turn) -> IntArray:
        """Return the rows that are not hubs, or all where every one is: always, or at every fourth turn."""
        if self.how == "discount" and (len(turn.field.observations) + 1) % TURN:
            return turn.rows
        return turn.rather(turn.rows[turn.field.origin.crowding[turn.rows] == 1])

    def reviews(self, field: Field, history: History, together: bool = False) -> Field:
        """Return the field with the power that its labels speak for."""
        others = field.discount is not None and not isinstance(
            field.discount, HubDiscount
        )  # another rule's, which stays
        if self.how == "skip" or others or field.space.total(field.origin.crowding > 1) == 0:
            return field
        return field.reweighted(discount_of(self._power(field, history)))

    def _power(self, now: Field, history: History) -> float:
        count = max((point for point in POINTS if point <= now.held), default=0)
        if not count:
            return POWERS[0]
        labels = oldest(now, history, count)
        key = now.origin, now.coding, tuple((x.node, x.said, x.noise) for x in labels)
        power = self._chosen.get(key)
        if power is None:
            told = _in_columns(now, labels)
            power = least_loss(POWERS, lambda power: supposed(told, discount_of(power), count))
            remember(self._chosen, key, power)
        return power


def _in_columns(now: Field, labels: Sequence[Observation]) -> Field:
    """Return a field with these labels first in V: the field itself, or where it has others there, one solve per label."""
    if comes_first(now, labels):
        return now
    start = Field.start(now.origin, now.coding, now.noise, squares=False)
    return reduce(lambda told, x: told.observe(x.node, x.said, x.noise), labels, start)
