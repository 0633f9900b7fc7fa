"""How sharply to read votes: the temperature at which the labels held are best predicted from each other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from askgraph import coding
from askgraph.field import Field
from askgraph.leave_out import LeftOut, left_out
from askgraph.types import Array, BoolArray, IntArray

TEMPERATURES = np.array([1, 1.5, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64], dtype=float)
FAINT, NOTHING = 1e-6, 1e-9  # added to a vote over its mean, and to one left out: a class is never ruled out for good
ODD = 0.02  # the share of labels that nothing could have predicted
NEVER = -50.0  # the score of a class whose only label is left out
PLAIN = 0.5  # what reading votes without masses must gain to be chosen, in nats


@dataclass(frozen=True)
class Reading:
    """p_c ∝ prior_c (h_c / mean_c)^tau over the classes seen."""

    seen: IntArray
    mean: Array
    prior: Array
    tau: float

    def __call__(self, votes: Array) -> Array:
        """The shares of all classes, 0 for one without labels; rows add up to 1."""
        logits = self.tau * np.log(np.maximum(votes[:, self.seen], 0.0) / self.mean + FAINT) + np.log(self.prior)
        scores = np.exp(logits - logits.max(axis=1, keepdims=True))
        shares = np.zeros_like(votes)
        shares[:, self.seen] = scores / coding.summed(scores)
        return shares


def tempered(field: Field, tau: float | None = None) -> Reading | None:
    """Class-mass normalisation with label frequencies at the temperature given, or chosen; None with nothing to read."""
    evidence = _Evidence.of(field)
    if evidence is None:
        return None
    return evidence.by_mass(tau or evidence.best(evidence.losses(plain=False), 0.5)[0])


def tempered_or_plain(field: Field) -> Reading | None:
    """The same, or the votes as they are where labels are predicted better so; the temperature is freer."""
    evidence = _Evidence.of(field)
    if evidence is None:
        return None
    by_mass, plain = (evidence.best(evidence.losses(plain), 0.1) for plain in (False, True))
    return evidence.plainly(plain[0]) if plain[1] + PLAIN < by_mass[1] else evidence.by_mass(by_mass[0])


@dataclass(frozen=True)
class _Evidence:
    """The votes for the classes seen, summed over the unlabeled nodes they reach, and what labels say of each other."""

    classes: int
    seen: IntArray
    counts: Array  # labels of each class seen
    total: Array  # their votes, summed
    reached: int  # over so many nodes
    likely: float  # τ₀
    left: LeftOut

    @classmethod
    def of(cls, field: Field) -> _Evidence | None:
        counts = field.counts
        seen, reached = np.flatnonzero(counts), ~field.labeled & (coding.summed(field.votes)[:, 0] > NOTHING)
        if not (seen.size and field.prior.total(reached)):
            return None
        votes = np.maximum(field.votes[reached][:, seen], 0.0)
        total = np.maximum(field.prior.total(votes), NOTHING * len(votes))
        likely = _likely(field, votes, total / len(votes))
        return cls(counts.size, seen, counts[seen], total, len(votes), likely, left_out(field))

    def by_mass(self, tau: float) -> Reading:
        prior = (self.counts + 1) / (self.counts.sum() + self.classes)
        return Reading(self.seen, self.total / self.reached, prior, tau)

    def plainly(self, tau: float) -> Reading:
        mean = np.exp(np.log(self.total / self.reached).mean())
        return Reading(self.seen, np.full(self.seen.size, mean), np.ones(self.seen.size), tau)

    def best(self, losses: Array, pull: float) -> tuple[float, float]:
        """The temperature with the least loss, drawn towards τ₀, and that loss; τ₀ itself where labels say nothing."""
        if not losses.any():
            return self.likely, 0.0
        drawn = losses + pull * np.log(TEMPERATURES / self.likely) ** 2
        return float(TEMPERATURES[drawn.argmin()]), float(drawn.min())

    def losses(self, plain: bool) -> Array:
        """-Σ ln p of labels whose class has another one, each from all others; a value a temperature."""
        place = np.searchsorted(self.seen, self.left.labels)
        own = np.eye(self.seen.size)[place]
        others = self.counts - own
        counted = self.counts[place] > 1
        if self.seen.size < 2 or not counted.any():
            return np.zeros(TEMPERATURES.size)
        logs = np.log(np.maximum(self.left.votes[:, self.seen], 0.0) + NOTHING)
        prior = np.zeros_like(logs)
        if not plain:
            mean = (self.total - self.left.lost[:, self.seen]) / self.reached
            logs -= np.log(np.maximum(mean, NOTHING))
            prior = np.log((others + 1) / (self.counts.sum() - 1 + self.classes))
        return np.array([_surprise(tau * logs + prior, others, own, counted, self.classes) for tau in TEMPERATURES])


def _surprise(scores: Array, others: Array, own: Array, counted: BoolArray, classes: int) -> float:
    scores = np.where(others > 0, scores, NEVER)
    p = np.exp(scores - scores.max(axis=1, keepdims=True))
    chance = (p * own).sum(axis=1) / p.sum(axis=1)
    return float(-np.log((1 - ODD) * chance + ODD / classes)[counted].sum())


def _likely(field: Field, votes: Array, mean: Array) -> float:
    """τ₀ = 2/σ, σ² the variance of ln(h/h̄) over classes, averaged over nodes: what brings a node's odds to about e²."""
    classes = mean.size
    if classes < 2:
        return 1.0
    logs = np.log(np.maximum(votes, NOTHING)) - np.log(mean)
    logs -= coding.summed(logs) / classes
    sigma = np.sqrt(float(field.prior.total((logs**2).sum(axis=1))) / (len(votes) * (classes - 1)))
    return float(np.clip(2 / sigma, 1.0, TEMPERATURES[-1])) if sigma > NOTHING else 1.0
