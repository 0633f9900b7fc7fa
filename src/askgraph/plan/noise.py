"""How far labels are trusted: the label noise at which they predict each other best, and how many of them look wrong.

A label that may be wrong should pull its neighbors less than an exact one: by how much depends on how many labels are wrong, and on
how well the graph predicts them. Both show in leave-one-out. So a few noises are compared by how well each label is predicted from
the others, and the noise is a function of the oldest labels held: undo, replay and telling all at once come to the same.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from askgraph.answers.events import own_noise
from askgraph.answers.history import History
from askgraph.field import Discount, Field, Observation
from askgraph.field.leave_one_out import Supposed, supposed, supposed_in
from askgraph.plan.loss import comes_first, least_loss, oldest
from askgraph.plan.rule import Rule
from askgraph.priors.base import Prior
from askgraph.readouts.temperature import Evidence
from askgraph.support.later import remember

POINTS = (16, 24, 32, 48, 64, 96, 128, 192, 256)  # numbers of labels at which noises are compared
FEW, MANY_NODES = 64, 5_000  # at most 64 labels on graphs of more nodes, where labels told at once take a solve each
VARIANCES = (0.0, 0.1, 0.3, 1.0, 3.0, 10.0)  # γ² times the mean degree; the first one to begin with


class Wrong(NamedTuple):
    """How many labels look wrong: the share, and the number of labels that it is estimated from."""

    share: float
    labels: int


@dataclass(frozen=True)
class ChosenNoise(Rule):
    """Go on with the label noise that the oldest labels held speak for; a label with a noise of its own keeps it."""

    discount: Discount | None  # while noises are compared
    _chosen: dict[Hashable, float] = field(init=False, compare=False, repr=False, default_factory=dict)  # by labels

    def reviews(self, field: Field, history: History, together: bool = False) -> Field:
        """Return the field with the noise that its labels speak for."""
        own = own_noise(history.log)
        noise = self._noise(field, history, own)
        return field if field.chosen and noise == field.noise else field.with_noise(noise, own)

    def wrong(self, field: Field, history: History) -> Wrong:
        """Return how many labels look wrong by the others."""
        told, own = oldest(field, history, _count(field)), own_noise(history.log)
        if not told:
            return Wrong(0.0, 0)
        evidence = Evidence.of(self._supposed(field, told, own, self._noise(field, history, own)))
        return Wrong(evidence.wrong_share if evidence else 0.0, len(told))

    def _noise(self, now: Field, history: History, own: Collection[int]) -> float:
        told, values = oldest(now, history, _count(now)), noises(now.origin)
        if not told:
            return values[0]
        key = now.origin, now.coding, tuple((x.node, x.said, x.noise if x.node in own else None) for x in told)
        noise = self._chosen.get(key)
        if noise is None:
            noise = least_loss(values, lambda noise: self._supposed(now, told, own, noise))
            remember(self._chosen, key, noise)
        return noise

    def _supposed(self, now: Field, told: Sequence[Observation], own: Collection[int], noise: float) -> Supposed:
        """Return the oldest labels as if they had this noise: read off V where they come first there, else by a solve each."""
        labels = [x if x.node in own else x._replace(noise=noise) for x in told]
        if not comes_first(now, told):
            return supposed_in(now.origin, labels, now.coding, discount=self.discount)
        return supposed(now, self.discount, len(labels), [x.noise for x in labels])


def noises(prior: Prior) -> list[float]:
    """Return the label noises that are compared, standard deviations; without edges there is nothing to compare."""
    mean = float(prior.space.total(prior.degrees)) / prior.n_nodes
    return [(times / mean) ** 0.5 for times in VARIANCES] if mean > 0 else [VARIANCES[0]]


def _count(now: Field) -> int:
    """Return the number of oldest labels that the noise is chosen by."""
    most = FEW if now.origin.n_nodes > MANY_NODES else POINTS[-1]
    return max((point for point in POINTS if point <= min(now.held, most)), default=0)
