"""How often each person errs, or by how much, estimated from items that several people labeled and from spot checks.

Nobody knows which of two people is right. So each person has a confusion matrix T, T_cg the chance to say g of an item of class
c, and the true labels and all T are estimated in turn (Dawid and Skene, 1979). What was predicted before a spot check counts as
the word of one more person, who is trusted less at first. People are taken for careful until they are seen to err, in one class
as in another until the classes are seen to differ. Where items have several classes, each class has matrices of its own: it is
missed, or said of items that are not of it.

Of numbers, each person has a bias and a spread, and the true numbers and these are estimated in turn, by medians, so that a slip
of the keys counts for little. That all people are biased alike cannot be seen: the one in the middle has no bias. What was
predicted is no word here, since predictions are drawn to the mean. An answer "one of some classes" is evidence of what is true,
and says nothing of the care of its person.

What a lead says of an item is true of it. Of numbers it is a word as others are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from askgraph.answers.plain import plain_number
from askgraph.types import Array, IntArray
from askgraph.workbench.answers import Answers
from askgraph.workbench.forms import Label, named, sure

MODEL = ""  # who says what was predicted before a spot check; no person has an empty name
PASSES = 30
PEOPLE, MODELS = 0.95, 0.75  # how often people and predictions are right, before anything is known
TRUST = 20.0  # items that this is worth
ALIKE = 5.0  # items per class that are as if a person erred alike in all classes
USUAL = 2.0  # items of each class beside those there are, before it is known how common each is
DOUBT = 10.0  # how much a label that may be wrong is doubted
MOST_WRONG = 0.95  # of 1 for a guess: beyond, label noise would grow without bound
NO, YES = "no", "yes"  # whether an item is of a class
WITHIN = 0.683  # the share of numbers that a spread holds, as a standard deviation does
OF_MEDIAN = 1.2533  # the standard deviation of a median, in those of a mean
TINY = 1e-30  # a variance, or a share: people who never differ are no reason to divide by 0
DIGITS = 12  # behind the point, of what is relative to the largest number: beyond, it is rounding
STEP = 0.1  # wrongness is counted in such steps, so that a new answer seldom changes that of others


class Care(NamedTuple):
    """How often a person errs: the estimated share of wrong labels, its 90 % range, the items it is from; and by class.

    ``bias`` is by how many steps what the person says is above the truth, where classes have an order; else None.
    """

    who: str
    compared: int
    errs: float
    low: float
    high: float
    classes: dict[str, float]
    bias: float | None

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON says it."""
        return self._asdict()


class Slips(NamedTuple):
    """How often a person misses a class, of the items that are of it, and says it of others."""

    misses: float
    false_alarms: float


class CareOfSets(NamedTuple):
    """How often a person errs in saying of an item whether it is of a class: as `Care`, over all classes; and by class."""

    who: str
    compared: int
    errs: float
    low: float
    high: float
    classes: dict[str, Slips]

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON says it."""
        return self._asdict() | {"classes": {name: slips._asdict() for name, slips in self.classes.items()}}


class CareOfNumbers(NamedTuple):
    """How far a person is off: above the truth by the bias, with its 90 % range; two of three numbers differ from that by at most
    the spread. None before any item was answered by another one, too; one such item has a bias, and nothing to tell its range by.
    """

    who: str
    compared: int
    bias: float | None
    low: float | None
    high: float | None
    spread: float | None

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON says it."""
        return self._asdict()


class Raters:
    """The confusion matrices of people, by what they and others said of the same items.

    >>> raters = Raters([{"ann": "a", "bob": "a"}, {"ann": "b", "bob": "b"}] * 9 + [{"ann": "a", "cy": "b"}] * 6, ["a", "b"])
    >>> [raters.care(who).errs < 0.2 for who in ("ann", "bob", "cy")]
    [True, True, False]
    """

    def __init__(
        self,
        said: Sequence[Mapping[str, Label]],
        classes: Sequence[str],
        ranked: bool = False,
        truth: Sequence[Label | None] = (),
    ) -> None:
        self._place = {name: k for k, name in enumerate(classes)}
        self._ranked = ranked
        known = [{who: str(label) for who, label in one.items() if sure([label])} for one in said]
        both = zip(known, truth or [None] * len(known), strict=True)
        several = [(one, true) for one, true in both if len(one) > 1]
        self._people: list[str] = list(dict.fromkeys(who for one, _ in several for who in one))
        codes = np.full((len(several), len(self._people) + 1), -1)  # what each person said, and at the end what is true
        at = {who: k for k, who in enumerate(self._people)}
        for row, (one, true) in zip(codes, several, strict=True):
            for who, label in one.items():
                row[at[who]] = self._place[label]
            if true is not None and sure([true]):
                row[-1] = self._place[str(true)]
        self._compared = (codes[:, :-1] >= 0).sum(axis=0)
        self._confusions = self._estimated(*np.unique(codes, axis=0, return_counts=True))

    def care(self, who: str) -> Care:
        """Return how often a person errs."""
        confusion = self._of(who)
        wrong, steps = 1 - np.diag(confusion), np.arange(len(confusion))
        at = self._people.index(who) if who in self._people else None
        weights, compared = (np.ones(wrong.size), 0) if at is None else (self._shares[at], int(self._compared[at]))
        errs, by_class = float(np.average(wrong, weights=weights)), dict(zip(self._place, wrong.tolist(), strict=True))
        bias = float(np.average(confusion @ steps - steps, weights=weights)) if self._ranked else None
        return Care(who, compared, errs, *_range(errs, compared + TRUST), by_class, bias)

    def wrongness(self, said: Mapping[str, Label], label: Label) -> float:
        """Return the chance that a label is wrong, none of "one of some" being right, by what each person said, in steps."""
        logs = sum(np.log(self._of(who)[:, self._places(one)].sum(axis=1)) for who, one in said.items())
        p = np.exp(logs - np.max(logs))
        return STEP * int((1 - p[self._places(label)].sum() / p.sum()) / STEP + 1e-9)

    def _places(self, label: Label) -> list[int]:
        return [self._place[name] for name in named(label)]

    def _of(self, who: str) -> Array:
        if who in self._people:
            found: Array = self._confusions[self._people.index(who)]
            return found
        return _even(PEOPLE, len(self._place))

    def _estimated(self, codes: IntArray, times: IntArray) -> list[Array]:
        """Return the matrix of each person, by what they said of different items, and how many items each stands for.

        The last column of codes is what is known to be true, -1 where nobody knows.
        """
        k, codes, true = len(self._place), codes[:, :-1], codes[:, -1]
        starts = [_even(MODELS if who == MODEL else PEOPLE, k) for who in self._people]
        confusions, self._shares, shares = starts, np.ones((len(starts), k)), np.full(k, 1 / max(k, 1))
        for _ in range(PASSES if len(codes) else 0):
            truth = _posterior(codes, confusions, shares)
            truth[true >= 0] = np.eye(k)[true[true >= 0]]
            truth *= times[:, None]
            shares = (truth.sum(axis=0) + USUAL) / (times.sum() + USUAL * k)
            counts = [truth.T @ (column[:, None] == np.arange(k)) for column in codes.T]
            confusions = [_confusion(count, start) for count, start in zip(counts, starts, strict=True)]
            self._shares = np.array([count.sum(axis=1) + 1e-9 for count in counts])
        return confusions


class SetRaters:
    """The confusion matrices of people for each class, where items have several or none."""

    def __init__(
        self, said: Sequence[Mapping[str, Label]], classes: Sequence[str], truth: Sequence[Label | None] = ()
    ) -> None:
        self._of: dict[str, Raters] = {}
        for name in classes:
            has = [{who: YES if name in named(label) else NO for who, label in one.items()} for one in said]
            true = [None if label is None else YES if name in named(label) else NO for label in truth]
            self._of[name] = Raters(has, [NO, YES], truth=true)

    def care(self, who: str) -> CareOfSets:
        """Return how often a person errs; the range is as if all classes of an item went wrong together."""
        found = {name: raters.care(who) for name, raters in self._of.items()}
        errs = float(np.mean([one.errs for one in found.values()])) if found else 1 - PEOPLE
        compared = max((one.compared for one in found.values()), default=0)
        slips = {name: Slips(one.classes[YES], one.classes[NO]) for name, one in found.items()}
        return CareOfSets(who, compared, errs, *_range(errs, compared + TRUST), slips)


class NumberRaters:
    """The biases and spreads of people, by the numbers that they and others said of the same items.

    >>> raters = NumberRaters([{"ann": k, "bob": k + 0.1, "cy": k + 5.0} for k in range(20)])
    >>> [round(raters.care(who).bias, 1) for who in ("ann", "bob", "cy")]
    [-0.1, 0.0, 4.9]
    """

    def __init__(self, said: Sequence[Mapping[str, float]]) -> None:
        several = [one for one in said if len(one) > 1]
        self._people: list[str] = list(dict.fromkeys(who for one in several for who in one))
        numbers = np.array([[one.get(who, np.nan) for who in self._people] for one in several])
        self._compared = np.isfinite(numbers).sum(axis=0)
        self._bias, self._spread = _fitted(numbers) if several else (np.empty(0), np.empty(0))

    def care(self, who: str) -> CareOfNumbers:
        """Return how far a person is off."""
        if who not in self._people:
            return CareOfNumbers(who, 0, None, None, None, None)
        at = self._people.index(who)
        bias, spread, n = float(self._bias[at]), float(self._spread[at]), int(self._compared[at])
        if n == 1:
            return CareOfNumbers(who, n, bias, None, None, None)
        around = self._around(at)
        return CareOfNumbers(who, n, bias, bias - around, bias + around, spread)

    def _around(self, at: int) -> float:
        """Return how far the 90 % range of a bias reaches: by Student's t, for few items say little of the spread.

        What the biases are counted from, that of the person in the middle, is known no better.
        """
        from scipy.stats import t

        variance = self._spread**2 / self._compared
        error = OF_MEDIAN * float(variance[at] + np.median(variance)) ** 0.5
        return error * float(t.ppf(0.95, self._compared[at] - 1))


def raters(answers: Answers) -> Raters:
    """Return how often people err, by all labels that stand; those that copies took are no words of their own."""
    said, truth = _with_predicted(answers), _true(answers)
    names = dict.fromkeys(
        [*answers.classes, *(name for one in said for label in one.values() for name in named(label))]
    )
    if answers.form.ranked:
        return Raters(said, [step for step in answers.steps if step in names], True, truth)
    return Raters(said, list(names), truth=truth)


def cares(answers: Answers) -> dict[str, Care | CareOfSets | CareOfNumbers]:
    """Return how careful each person is, by the kind of answers."""
    known: Raters | SetRaters | NumberRaters
    if not answers.kind.by_class:
        known = NumberRaters(
            [{who: plain_number(one) for who, one in given.items()} for given in answers.given().values()]
        )
    elif answers.form.exclusive:
        known = raters(answers)
    else:
        known = SetRaters(_with_predicted(answers), answers.classes, _true(answers))
    return {who: known.care(who) for who in answers.people}


def _with_predicted(answers: Answers) -> list[Mapping[str, Label]]:
    """Return what people said of each item, with what was predicted before a spot check as the word of one more person."""
    said: list[Mapping[str, Label]] = []
    for item, given in answers.given().items():
        predicted = answers.predicted(item)
        said.append(given if predicted is None else {**given, MODEL: predicted})
    return said


def _true(answers: Answers) -> list[Label | None]:
    """Return what a lead says of each item that somebody labeled; None where none does."""
    words = [answers.word(item) for item in answers.given()]
    return [None if word is None else word.label for word in words]


def _range(share: float, n: float) -> tuple[float, float]:
    """Return the 90 % range of a share that was estimated from n items."""
    from scipy.stats import beta

    low, high = beta.ppf([0.05, 0.95], share * n + 0.5, (1 - share) * n + 0.5)
    return float(low), float(high)


def label_noise(wrong: float, classes: int, degree: float) -> float:
    """Return the label noise, a standard deviation, of a label that is wrong with some chance.

    Its variance is r / (1 − r) / d times a factor, d the degree of its node, in whose inverse variances of the field are counted,
    and r the chance relative to that of a guess: 0 for a label that is right, 1 for a guess among the classes.

    >>> [round(label_noise(wrong, 2, 4.0), 2) for wrong in (0.0, 0.1, 0.4)]
    [0.0, 0.79, 3.16]
    """
    r = min(wrong * classes / (classes - 1), MOST_WRONG)
    return float((DOUBT * r / (1 - r) / degree) ** 0.5)


def _posterior(codes: IntArray, confusions: Sequence[Array], shares: Array) -> Array:
    """Return the probabilities of the true label of each item, one row per item; ``shares`` of all items are of each class."""
    logs = np.tile(np.log(shares), (len(codes), 1))
    for column, confusion in zip(codes.T, confusions, strict=True):
        logs += np.where(column[:, None] >= 0, np.log(confusion).T[column], 0.0)
    p = np.exp(logs - logs.max(axis=1, keepdims=True))
    return np.asarray(p / p.sum(axis=1, keepdims=True))


def _confusion(counts: Array, start: Array) -> Array:
    """Return T from counts of (true, said), drawn to one accuracy for all classes, and that to where it started."""
    k, accuracy = len(start), start[0, 0]
    pooled = _even((np.trace(counts) + TRUST * accuracy) / (counts.sum() + TRUST), k)
    found = counts + ALIKE * pooled
    return np.asarray(found / found.sum(axis=1, keepdims=True))


def _even(accuracy: float, k: int) -> Array:
    """Return the T of somebody who errs alike in all classes."""
    return np.full((k, k), (1 - accuracy) / max(k - 1, 1)) + np.eye(k) * (accuracy - (1 - accuracy) / max(k - 1, 1))


def _fitted(numbers: Array) -> tuple[Array, Array]:
    """Return the bias and the spread of each person, a column of the numbers each; NaN where somebody said nothing."""
    scale = float(np.nanmax(np.abs(numbers))) or 1.0
    numbers, n = numbers / scale, np.isfinite(numbers).sum(axis=0)
    bias, variance = np.zeros(n.size), np.ones(n.size)
    for _ in range(PASSES):
        weights = np.where(np.isfinite(numbers), 1 / np.maximum(variance, TINY), 0.0)
        weights /= weights.sum(axis=1, keepdims=True)
        truth = np.nansum(weights * (numbers - bias), axis=1, keepdims=True)
        bias = np.nanmedian(numbers - truth, axis=0)
        bias -= np.median(bias)
        own = np.abs(numbers - truth - bias) / np.sqrt(
            np.maximum(1 - weights, TINY)
        )  # the truth was drawn to what they said
        of_all = np.nanquantile(own, WITHIN)
        variance = (n * np.nanquantile(own, WITHIN, axis=0) ** 2 + ALIKE * of_all**2) / (n + ALIKE)
    return bias.round(DIGITS) * scale, np.sqrt(variance).round(DIGITS) * scale
