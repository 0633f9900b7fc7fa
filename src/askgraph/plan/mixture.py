"""How much the graph and the features count, and how sure answers are, by the likelihood of numbers.

A few mixtures of the covariances of the graph and of each kernel of features, and a few variances of an answer, are weighed by how
likely they make the oldest answers held, and averaged: the best one alone is often best by chance. All this is a function of the
oldest answers, so that undo, replay and telling all at once come to the same.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
from scipy.special import softmax

from askgraph.answers.history import History
from askgraph.field import Field
from askgraph.plan.rule import Rule
from askgraph.priors.base import SOLVES_AT_ONCE, Prior
from askgraph.priors.features import Kernels
from askgraph.support.later import remember
from askgraph.types import Array, IntArray

POINTS = (5, 10, 20, 40, 80, 160)  # numbers of answers at which mixtures are weighed
FEW, MANY_NODES = 40, 5_000  # at most 40 answers on graphs of more nodes, where each takes a solve
NOISES = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0)  # variances of an answer, where the mixture has variance 1
USUAL, PULL = 0.2, 0.5  # the one to begin with, and the precision of its logarithm

NONE = Kernels(())


class Mix(NamedTuple):
    """The shares of the graph and of each kernel of features, which add up to 1, and the variance of an answer."""

    shares: tuple[float, ...]
    noise: float


@dataclass(frozen=True, eq=False)
class Mixture(Rule):
    """Go on with the mixture, and with the label noise, that the oldest answers held speak for."""

    values: Callable[[Sequence[Any]], Array]  # the numbers that answers stand for, one row per answer
    cost: Callable[[Array, Array], float]  # −ln of the likelihood of such rows with this covariance, noise included
    noise: float | None = None  # the label noise, where it is given
    base: Prior | None = None  # the field of the graph alone, where there are features
    kernels: Kernels = NONE
    priors: dict[tuple[float, ...], Prior] = field(default_factory=dict)  # by the shares
    _chosen: dict[Hashable, Mix] = field(default_factory=dict)  # by answers
    _units: dict[Prior, float] = field(default_factory=dict)  # the variance of fields of graphs

    def starts(self) -> Prior | None:
        """Return the prior before any answer, where there are features."""
        return None if self.base is None else self._prior(self.base, self._usual)

    def reviews(self, field: Field, history: History, together: bool = False) -> Field:
        """Return the field of the mixture that its answers speak for."""
        if not field.observations and field.origin not in self._units:
            self._units[field.origin] = _variance(field.origin, field.spread.variance)
        mix, now = self.mix(field, history), field
        prior = now.origin if self.base is None else self._prior(self.base, mix)
        unit = self._unit(prior) if self.base is None else 1.0
        noise = (mix.noise * unit) ** 0.5 if self.noise is None else self.noise
        if prior is now.origin:
            return now.with_noise(noise)
        told = [x._replace(noise=noise) for x in now.observations]
        if together:
            return Field.given(prior, told, now.coding, noise, now.squares, now.discount).with_noise(noise)
        start = Field.start(prior, now.coding, noise, now.squares, now.discount)
        return reduce(lambda moved, x: moved.observe(x.node, x.said, x.noise), told, start).with_noise(noise)

    def restore(self, history: History, saved: Field) -> None:
        """Take over the prior of the mixture that this history led to, as it was saved."""
        if self.base is not None:
            self.priors[self.mix(saved, history).shares] = saved.origin

    @property
    def _usual(self) -> Mix:
        """The mixture before any answer: all parts alike."""
        parts = 1 + len(self.kernels.columns)
        return Mix((1 / parts,) * parts, USUAL)

    def mix(self, now: Field, history: History) -> Mix:
        """Return the mixture that the oldest answers held speak for."""
        count = self._count(now)
        if not count:
            return self._usual
        base, oldest = self.base or now.origin, tuple(history.told.items())[:count]
        mix = self._chosen.get((base, oldest))
        if mix is None:
            mix = self._weighed(base, oldest)
            remember(self._chosen, (base, oldest), mix)
        return mix

    def _prior(self, base: Prior, mix: Mix) -> Prior:
        """Return the prior of a mixture."""
        if mix.shares not in self.priors:
            remember(self.priors, mix.shares, self.kernels.added(base, mix.shares, self._unit(base)))
        return self.priors[mix.shares]

    def _count(self, now: Field) -> int:
        """Return the number of oldest answers that mixtures are weighed by."""
        most = FEW if now.origin.n_nodes > MANY_NODES else POINTS[-1]
        return max((point for point in POINTS if point <= min(now.held, most)), default=0)

    def _weighed(self, base: Prior, told: Sequence[tuple[int, Any]]) -> Mix:
        nodes, y = np.array([node for node, _ in told]), self.values([answer for _, answer in told])
        here = [columns[nodes].astype(float) for columns in self.kernels.columns]
        parts = [_covariance(base, nodes) / self._unit(base), *(some @ some.T for some in here)]
        mixtures = _mixtures(len(parts))
        logs = [self._logs(np.tensordot(shares, parts, 1), y) for shares in mixtures]
        chances = softmax(np.array(logs))
        shares = chances.sum(axis=1) @ mixtures
        return Mix(tuple(shares.round(4).tolist()), float(np.exp(chances.sum(axis=0) @ np.log(NOISES))))

    def _logs(self, covariance: Array, y: Array) -> list[float]:
        """Return the logarithms of how likely these answers are with each noise, beside how likely the noise is."""
        noisy = [(noise, covariance + noise * np.eye(len(y))) for noise in NOISES]
        return [-self.cost(K, y) - PULL * float(np.log(noise / USUAL)) ** 2 for noise, K in noisy]

    def _unit(self, prior: Prior) -> float:
        """Return the variance of a field of a graph about its mean, averaged over nodes."""
        if prior not in self._units:
            self._units[prior] = _variance(prior, prior.spread(False).variance)
        return self._units[prior]


def _variance(prior: Prior, variances: Array) -> float:
    """Return mean g_ii less the variance 1/(nδ) that all nodes share."""
    n = prior.n_nodes
    return max(float(prior.space.total(variances)) / n - 1 / (n * prior.delta), np.finfo(float).tiny)


def _mixtures(parts: int) -> Array:
    """Return the shares of mixtures: of all parts alike, of two, and of one alone; one row per mixture."""
    every = np.eye(parts)
    pairs = [(every[a] + every[b]) / 2 for a in range(parts) for b in range(a + 1, parts)] if parts > 2 else []
    return np.array([every.mean(axis=0), *pairs, *every]) if parts > 1 else every


def _covariance(prior: Prior, nodes: IntArray) -> Array:
    """Return G₀[L, L]: one solve per node."""
    parts = [nodes[at : at + SOLVES_AT_ONCE] for at in range(0, nodes.size, SOLVES_AT_ONCE)]
    return np.hstack([prior.space.pick(prior.columns(part), nodes) for part in parts])
