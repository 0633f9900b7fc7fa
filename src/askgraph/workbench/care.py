"""How often each person errs, estimated from items that several people labeled and from spot checks.

Nobody knows which of two people is right. So each person has a confusion matrix T, T_cg the chance to say g of an item of class
c, and the true labels and all T are estimated in turn (Dawid and Skene, 1979). What was predicted before a spot check counts as
the word of one more person, who is trusted less at first. People are taken for careful until they are seen to err, in one class
as in another until the classes are seen to differ.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from askgraph.types import Array, IntArray
from askgraph.workbench.answers import Answers

MODEL = ""  # who says what was predicted before a spot check; no person has an empty name
PASSES = 30
PEOPLE, MODELS = 0.95, 0.75  # how often people and predictions are right, before anything is known
TRUST = 20.0  # items that this is worth
ALIKE = 5.0  # items per class that are as if a person erred alike in all classes
DOUBT = 10.0  # how much a label that may be wrong is doubted
MOST_WRONG = 0.95  # of 1 for a guess: beyond, label noise would grow without bound
STEP = 0.1  # wrongness is counted in such steps, so that a new answer seldom changes that of others


class Care(NamedTuple):
    """How often a person errs: the estimated share of wrong labels, its 90 % range, the items it is from; and by class."""

    who: str
    compared: int
    errs: float
    low: float
    high: float
    classes: dict[str, float]


class Raters:
    """The confusion matrices of people, by what they and others said of the same items.

    >>> raters = Raters([{"ann": "a", "bob": "a"}, {"ann": "b", "bob": "b"}] * 9 + [{"ann": "a", "cy": "b"}] * 6, ["a", "b"])
    >>> [raters.care(who).errs < 0.2 for who in ("ann", "bob", "cy")]
    [True, True, False]
    """

    def __init__(self, said: Sequence[Mapping[str, str]], classes: Sequence[str]) -> None:
        self._place = {name: k for k, name in enumerate(classes)}
        several = [one for one in said if len(one) > 1]
        self._people: list[str] = list(dict.fromkeys(who for one in several for who in one))
        codes = np.full((len(several), len(self._people)), -1)
        at = {who: k for k, who in enumerate(self._people)}
        for row, one in zip(codes, several, strict=True):
            for who, label in one.items():
                row[at[who]] = self._place[label]
        self._compared = (codes >= 0).sum(axis=0)
        self._confusions = self._estimated(codes)

    def care(self, who: str) -> Care:
        """Return how often a person errs."""
        wrong = 1 - np.diag(self._of(who))
        at = self._people.index(who) if who in self._people else None
        weights, compared = (np.ones(wrong.size), 0) if at is None else (self._shares[at], int(self._compared[at]))
        errs, by_class = float(np.average(wrong, weights=weights)), dict(zip(self._place, wrong.tolist(), strict=True))
        low, high = _range(errs, compared + TRUST)
        return Care(who, compared, errs, low, high, by_class)

    def wrongness(self, said: Mapping[str, str], label: str) -> float:
        """Return the chance that a label is wrong, by what each person said of its item, in steps."""
        logs = sum(np.log(self._of(who)[:, self._place[name]]) for who, name in said.items())
        p = np.exp(logs - np.max(logs))
        return STEP * int((1 - p[self._place[label]] / p.sum()) / STEP + 1e-9)

    def _of(self, who: str) -> Array:
        if who in self._people:
            found: Array = self._confusions[self._people.index(who)]
            return found
        return _even(PEOPLE, len(self._place))

    def _estimated(self, codes: IntArray) -> list[Array]:
        k = len(self._place)
        starts = [_even(MODELS if who == MODEL else PEOPLE, k) for who in self._people]
        confusions, self._shares = starts, np.ones((len(starts), k))
        for _ in range(PASSES if len(codes) else 0):
            truth = _posterior(codes, confusions)
            counts = [truth.T @ (column[:, None] == np.arange(k)) for column in codes.T]
            confusions = [_confusion(count, start) for count, start in zip(counts, starts, strict=True)]
            self._shares = np.array([count.sum(axis=1) + 1e-9 for count in counts])
        return confusions


def raters(answers: Answers) -> Raters:
    """Return how often people err, by all labels that stand; those that copies took are no words of their own."""
    said: list[Mapping[str, str]] = []
    for item, given in answers.given().items():
        predicted = answers.predicted(item)
        said.append(given if predicted is None else {**given, MODEL: predicted})
    names = dict.fromkeys([*answers.classes, *(name for one in said for name in one.values())])
    return Raters(said, list(names))


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


def _posterior(codes: IntArray, confusions: Sequence[Array]) -> Array:
    """Return the probabilities of the true label of each item, one row per item."""
    logs = np.zeros((len(codes), len(confusions[0])))
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
