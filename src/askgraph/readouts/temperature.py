"""How sharply to read votes: the temperature at which the labels held are best predicted from each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from askgraph.answers import coding
from askgraph.answers.coding import Coding
from askgraph.field import Field, Observation, answer_weights, nodes_of, once_per_field
from askgraph.field.leave_one_out import LeftOut, Told, left_out, supposed, supposed_in
from askgraph.priors.base import Prior
from askgraph.readouts.view import ByBlock, View
from askgraph.spaces.base import Space
from askgraph.types import Array, BoolArray, IntArray

TEMPERATURES = np.array([1, 1.5, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64], dtype=float)  # τ that are tried
FAINT, NOTHING = 1e-6, 1e-9  # added to vote ratios, and to leave-one-out votes, so that no class gets probability 0
NEVER = -50.0  # the logarithm of the score of a class whose only label is left out
# the class prior is the label frequencies, so far drawn to the shares of the votes: labels that were asked for lie where classes
# meet, so the smaller classes have more of them than of the nodes
LEANING = 1 / 3
# nats, and as many for each class with a single label: votes are read without class masses where the loss is lower by more
PLAIN = 0.5
SHARES = (0.0, 0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5)  # of wrong labels, that are tried
CAREFUL = 4.0  # nats that a share of 1 costs: people mostly say what is right
WORTH = 3.0  # nats, summed over the labels; labels that are likelier by less with some of them wrong all look right


@dataclass(frozen=True)
class Reading:
    """p_c ∝ prior_c (h_c / mean_c)^tau over the classes seen."""

    seen: IntArray
    mean: Array
    prior: Array
    tau: float

    def shares(self, view: View) -> ByBlock:
        """Return the shares of all classes, 0 for a class without labels; rows add up to 1."""
        logits = view.kept(lambda block: self._logits(view.votes(block), block.classes.tolist()))
        highest = view.row_highest(logits)
        return view.kept(view.shares(view.kept(lambda block: np.exp(logits(block) - highest))))

    def _logits(self, votes: Array, classes: list[int]) -> Array:
        """Return the logarithms of the shares of some classes, up to one number per row; ``votes`` has a column for each."""
        logits, column = np.full_like(votes, -np.inf), {c: at for at, c in enumerate(classes)}
        for c, mean, prior in zip(self.seen.tolist(), self.mean.tolist(), self.prior.tolist(), strict=True):
            if (at := column.get(c)) is not None:
                logits[:, at] = self.tau * np.log(votes[:, at] / mean + FAINT) + np.log(prior)
        return logits


def tempered(field: Field, tau: float | None = None) -> Reading | None:
    """Return class-mass normalization at this temperature, or at the best one; None where no votes reach an unlabeled node."""
    evidence = Evidence.of(field)
    if evidence is None:
        return None
    return evidence.by_mass(tau or evidence.best(evidence.losses(plain=False), 0.5)[0])


def tempered_or_plain(field: Field) -> Reading | None:
    """Return class-mass normalization, or the votes as they are where the labels are predicted better that way.

    The temperature is drawn less strongly toward 2/σ than in ``tempered``. None where no votes reach an unlabeled node.
    """
    evidence = Evidence.of(field)
    if evidence is None:
        return None
    tau, plain, _ = evidence.freely
    return evidence.plainly(tau) if plain else evidence.by_mass(tau)


def from_others(told: Told, every: bool = False, anywhere: bool = False) -> tuple[LeftOut, Array]:
    """Return labels left out one at a time, and the class probabilities that all other labels give, one row per label.

    Of labels that were folded in, at most 64, or all with ``every``. Where no votes reach an unlabeled node, classes are alike;
    with ``anywhere``, votes are weighed by those at labeled nodes then.
    """
    evidence = Evidence.of(told, every) or (_evidence(told, every, anywhere=True) if anywhere else None)
    if evidence is None:
        left = left_out(told, every).of_one_class
        return left, np.full(left.votes.shape, 1 / max(told.coding.width, 1))
    return evidence.left, evidence.predicted


def from_all_others(field: Field) -> tuple[LeftOut, Array]:
    """Return the same of every label, anywhere, as if no rule discounted any, as long as all labels are in V.

    A wrong label stands out most where each of its neighbors has a full say.
    """
    if field.discount is None or field.folded:
        return from_others(field, every=True, anywhere=True)
    return from_others(supposed(field, None, field.held), anywhere=True)


def surprise(prior: Prior, labels: Sequence[Observation], coded: Coding) -> tuple[float, int]:
    """Return -Σ ln p of labels in nats, each from all others, and the number of labels counted: those not alone in their class.

    The prior has no label yet. This takes one solve per label.
    """
    evidence, counted = Evidence.of(supposed_in(prior, labels, coded)), not_alone(labels)
    return evidence.freely[2] if evidence else counted * np.log(coded.width), counted


def not_alone(labels: Sequence[Observation]) -> int:
    """Return how many labels have another one in their class."""
    return sum(count for count in Counter(x.said for x in labels if coding.is_class(x.said)).values() if count > 1)


@dataclass(frozen=True)
class _Votes:
    """The votes of all nodes, at least 0, and the labels of each class that these votes come from."""

    space: Space
    votes: Array
    labeled: BoolArray
    counts: Array
    weighted: Array  # the same, each label counting what its discount leaves of it

    @classmethod
    def of(cls, told: Told) -> _Votes:
        """Return the votes of labels, whatever these were told to."""
        said = [x.said for x in told.known]
        weights = answer_weights(told.origin, nodes_of(told.known), told.discount)
        votes = np.maximum(told.votes, 0.0) if told.origin.signed else told.votes
        totals = told.coding.totals
        return cls(told.space, votes, told.labeled, totals(said), totals(said, weights))

    @cached_property
    def seen(self) -> IntArray:
        return np.flatnonzero(self.counts)

    @cached_property
    def reached(self) -> BoolArray:
        """Unlabeled nodes that votes reach."""
        return ~self.labeled & (coding.row_sums(self.votes)[:, 0] > NOTHING)

    def reaching(self, part: slice) -> Array:
        """Return the votes, at least 0, of the nodes reached for some of the classes seen."""
        return np.maximum(self.votes[:, self.seen[part].tolist()][self.reached], 0.0)

    @property
    def tell(self) -> bool:
        """Whether there is anything to read."""
        return bool(self.seen.size and self.space.total(self.reached))


@dataclass(frozen=True)
class Evidence:
    """The votes for the classes seen, summed over the unlabeled nodes that votes reach, and leave-one-out of the labels."""

    classes: int
    seen: IntArray
    counts: Array  # labels of each class seen
    weighted: Array  # the same, each label counting what its discount leaves of it
    total: Array  # votes for each class seen, summed over the nodes reached
    highest: Array  # vote for each class seen over the nodes reached
    reached: int  # unlabeled nodes that votes reach
    likely: float  # τ₀ = 2/σ
    left: LeftOut
    weights: Array  # how much each label left out counts

    @classmethod
    def of(cls, told: Told, every: bool = False) -> Evidence | None:
        """Return the evidence of labels, of a field computed once; None where there is nothing to read."""
        return _of_field(told, every) if isinstance(told, Field) else _evidence(told, every)

    @classmethod
    def read(cls, told: _Votes, left: LeftOut, weights: Array) -> Evidence:
        """Return the evidence of votes and of labels left out, each with its weight."""
        seen, reached = told.seen, int(told.space.total(told.reached))
        parts = coding.parts(told.space.most_rows, seen.size)
        votes = coding.kept(parts, told.reaching)
        total, highest = (
            np.concatenate([over(votes(part)) for part in parts]) for over in (told.space.total, told.space.highest)
        )
        likely = _likely(told.space, parts, votes, np.maximum(total / reached, NOTHING), reached)
        counts, weighted = told.counts[seen], told.weighted[seen]
        return cls(told.counts.size, seen, counts, weighted, total, highest, reached, likely, left, weights)

    def by_mass(self, tau: float) -> Reading:
        """Return class-mass normalization at this temperature."""
        mean = self._mean(self.total)
        return Reading(self.seen, coding.divisor(mean, self.highest), self._prior(self.weighted, mean), tau)

    def plainly(self, tau: float) -> Reading:
        """Return the votes as they are, at this temperature."""
        mean = np.exp(np.log(self._mean(self.total)).mean())
        return Reading(self.seen, np.full(self.seen.size, mean), np.ones(self.seen.size), tau)

    def best(self, losses: Array, pull: float) -> tuple[float, float]:
        """Return the temperature with the least loss, drawn toward τ₀, and the loss; τ₀ itself where labels say nothing."""
        if not losses.any():
            return self.likely, 0.0
        drawn = losses + pull * np.log(TEMPERATURES / self.likely) ** 2
        first = int(np.argmax(drawn <= (1 + coding.TIE) * drawn.min()))  # rounding decides nothing
        return float(TEMPERATURES[first]), float(drawn[first])

    @cached_property
    def freely(self) -> tuple[float, bool, float]:
        """The temperature, whether votes are read plainly, and the loss."""
        by_mass, plain = (self.best(self.losses(plain), 0.1) for plain in (False, True))
        margin = PLAIN * (1 + np.count_nonzero(self.counts == 1))
        return (plain[0], True, plain[1]) if plain[1] + margin < by_mass[1] else (by_mass[0], False, by_mass[1])

    @property
    def predicted(self) -> Array:
        """The class probabilities that all other labels give, one row per label left out."""
        scores, shares = self.scores(*self.freely[:2]), np.zeros_like(self.left.votes)
        shares[:, self.seen] = scores / coding.row_sums(scores)
        reach = np.clip(coding.row_sums(np.maximum(self.left.votes, 0.0)), 0.0, 1.0)
        return reach * shares + (1 - reach) / self.classes

    @property
    def wrong_share(self) -> float:
        """The share of labels that look wrong: the likeliest one if a wrong label is as likely to be of any other class."""
        plain = self.freely[1]
        losses = [self.best(self.losses(plain, share), 0.1)[1] + CAREFUL * share for share in SHARES]
        best = int(np.argmin(losses))
        return SHARES[best] if losses[best] + WORTH < losses[0] else 0.0

    def losses(self, plain: bool, wrong: float = 0.0) -> Array:
        """Return -Σ ln p of labels whose class has another one, each from all others: one value per temperature.

        ``wrong`` is the share of labels that are of another class than they should be.
        """
        counted, rows = self.counted, np.arange(self.place.size)
        if self.seen.size < 2 or not counted.any():
            return np.zeros(TEMPERATURES.size)
        scores = self.scores(TEMPERATURES[:, None, None], plain)
        chances = scores[:, rows, self.place] / scores.sum(axis=-1)
        chances = (1 - wrong) * chances + wrong * (1 - chances) / (self.seen.size - 1)
        return np.asarray(coding.price(chances, self.classes)[:, counted].sum(axis=1))

    def scores(self, tau: float | Array, plain: bool) -> Array:
        """Return what all other labels say at each label, for the classes seen, up to one factor per label."""
        logs = tau * self._logs(plain)
        if not plain:
            logs += np.log(self._prior_without())
        logs = np.where(self.counts > self._own, logs, NEVER)
        logs -= logs.max(axis=-1, keepdims=True)
        return np.asarray(np.exp(logs, out=logs))

    def _logs(self, plain: bool) -> Array:
        votes = np.log(np.maximum(self.left.votes[:, self.seen], 0.0) + NOTHING)
        if plain:
            return votes
        return votes - np.log(self._mean_without())

    @property
    def counted(self) -> BoolArray:
        """Which of the labels left out are not alone in their class."""
        return self.counts[self.place] > 1

    def without(self, plain: bool) -> tuple[Array, Array]:
        """Return the mean votes and the prior, up to a factor, of each class seen without each label, one row per label."""
        if plain:
            reading = self.plainly(1.0)
            rows = self.place.size, 1
            return np.tile(reading.mean, rows), np.tile(reading.prior, rows)
        return self._mean_without(), self._prior_without()

    def _mean_without(self) -> Array:
        """Return what the votes of each class seen are divided by without each of the labels, one row per label.

        A class that then has votes neither at unlabeled nodes nor at the node of the label counts for nothing there.
        """
        rest = self._total_without
        highest = np.maximum(rest / np.maximum(self.total, 1.0), self.left.votes[:, self.seen])
        return coding.divisor(self._mean(rest), highest)

    def _prior_without(self) -> Array:
        """Return the prior of each class seen without each of the labels, up to a factor, one row per label."""
        others = np.maximum(self.weighted - self.weights[:, None] * self._own, 0.0)
        return self._prior(others, self._mean(self._total_without))

    def _prior(self, counts: Array, mean: Array) -> Array:
        """Return the class prior that labels and mean votes suggest, up to a factor."""
        return np.asarray(coding.frequencies(counts, self.classes) ** (1 - LEANING) * mean**LEANING)

    @property
    def _total_without(self) -> Array:
        """The votes for each class seen without each of the labels, summed over the nodes reached, one row per label."""
        return self.total - self.left.lost[:, self.seen]

    @property
    def _own(self) -> Array:
        """1 for the class of each label left out, 0 for the other classes seen."""
        return np.eye(self.seen.size)[self.place]

    def _mean(self, total: Array) -> Array:
        """Return the mean over the nodes reached, at least so much that it can be divided by."""
        return np.maximum(total / self.reached, NOTHING)

    @cached_property
    def place(self) -> IntArray:
        """The place of each label's class among the classes seen."""
        return np.searchsorted(self.seen, self.left.said)


def _likely(space: Space, parts: Sequence[slice], votes: Callable[[slice], Array], mean: Array, reached: int) -> float:
    """Return τ₀ = 2/σ, σ² the variance of ln(h/h̄) over classes, averaged over nodes: what brings a node's odds to about e²."""
    classes = mean.size
    if classes < 2:
        return 1.0

    def computed(part: slice) -> Array:
        return np.log(np.maximum(votes(part), NOTHING)) - space.asarray(np.log(mean[part]))

    logs = coding.kept(parts, computed)
    middle = sum(coding.row_sums(logs(part)) for part in parts) / classes
    squares = sum(((logs(part) - middle) ** 2).sum(axis=1) for part in parts)
    sigma = np.sqrt(float(space.total(squares)) / (reached * (classes - 1)))
    return float(np.clip(2 / sigma, 1.0, TEMPERATURES[-1])) if sigma > NOTHING else 1.0


def _evidence(told: Told, every: bool, anywhere: bool = False) -> Evidence | None:
    votes = _Votes.of(told)
    if anywhere:
        votes = replace(votes, labeled=votes.labeled & False)
    if not votes.tell:
        return None
    around = told.origin.signed and not every  # with features, hearing the neighbors is priced
    left = left_out(told, every, around).of_one_class
    return Evidence.read(votes, left, answer_weights(told.origin, left.nodes, told.discount))


_of_field = once_per_field(_evidence)
