"""Statistics that claims are judged by: a mean over seeds, its interval, and whether it speaks for the claim."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.stats import t as student

from askgraph.paper.run import Results
from askgraph.simulate.runs import Record
from askgraph.types import Array

MARGIN = 0.02  # accuracies that differ by less count as equal
LEVEL = 0.95  # confidence of the intervals
Says = Literal["yes", "no", "cannot tell"]


@dataclass(frozen=True)
class Evidence:
    """All records of a study: runs, runtimes, symmetry and growth."""

    results: Results
    runtimes: Sequence[Record] = ()
    symmetry: Sequence[Record] = ()
    growth: Sequence[Record] = ()


@dataclass(frozen=True)
class Check:
    """One comparison: the mean over seeds, its 95 % interval, and whether it supports the claim."""

    what: str
    estimate: float
    low: float
    high: float
    says: Says
    counts: bool = True  # False: reported for information only
    lead: float = 0.0  # how far the mean is on the side that speaks for the claim

    @property
    def range(self) -> str:
        """The interval in words."""
        return f"{rounded(self.low)} to {rounded(self.high)}" if np.isfinite(self.low) else "one run: none"

    @property
    def phrase(self) -> str:
        """What was compared, with its mean and interval."""
        return f"{self.what}: {rounded(self.estimate)} ({self.range})"


def rounded(x: float) -> str:
    """Return a number with three decimals, or with three digits from 10 on."""
    digits = 3 if abs(x) < 10 else max(0, 2 - int(np.floor(np.log10(abs(x)))))
    return f"{round(x, digits) + 0.0:,.{digits}f}".replace("-", "−")


def accuracy(
    results: Results, experiment: str, sampler: str, first: float = 0.0, last: float = 1.0, readout: str = "map"
) -> Array:
    """Return the mean accuracy of each run over a part of its labels, from one share of the budget to another."""
    curves = results.curves(experiment, sampler, readout)
    start, stop = round(first * curves.shape[1]), max(round(last * curves.shape[1]), round(first * curves.shape[1]) + 1)
    return np.asarray(curves[:, start:stop].mean(axis=1))


def interval(values: Array) -> tuple[float, float, float]:
    """Return the mean over seeds and the ends of its interval by Student's t."""
    mean = float(values.mean())
    if values.size < 2:
        return mean, -np.inf, np.inf
    half = float(student.ppf((1 + LEVEL) / 2, values.size - 1) * values.std(ddof=1) / np.sqrt(values.size))
    return mean, mean - half, mean + half


def above(what: str, values: Array, level: float, counts: bool = True) -> Check:
    """Check whether the mean is more than a level."""
    mean, low, high = interval(values)
    return Check(what, mean, low, high, _says(low > level, high <= level), counts, mean - level)


def better(what: str, a: Array, b: Array, counts: bool = True) -> Check:
    """Check whether a is above b, run by run."""
    return above(what, a - b, 0.0, counts)


def no_worse(what: str, a: Array, b: Array, counts: bool = True) -> Check:
    """Check whether a is not below b by more than the margin."""
    return above(what, a - b, -MARGIN, counts)


def ahead(what: str, a: Array, b: Array, counts: bool = True) -> Check:
    """Check whether a is above b by more than the margin."""
    return above(what, a - b, MARGIN, counts)


def equal(what: str, a: Array, b: Array, counts: bool = True) -> Check:
    """Check whether a and b differ by less than the margin."""
    mean, low, high = interval(a - b)
    near, apart = max(-low, high) < MARGIN, low >= MARGIN or high <= -MARGIN
    return Check(what, mean, low, high, _says(near, apart), counts, MARGIN - abs(mean))


def reaches(what: str, values: Array, level: float, counts: bool = True) -> Check:
    """Check whether the mean is at least a level."""
    mean, low, high = interval(values)
    return Check(what, mean, low, high, _says(low >= level, high < level), counts, mean - level)


def stays_below(what: str, values: Array, level: float) -> Check:
    """Check whether the mean is at most a level."""
    mean, low, high = interval(values)
    return Check(what, mean, low, high, _says(high <= level, low > level), True, level - mean)


def best_of(groups: Mapping[str, Array]) -> tuple[str, Array]:
    """Return the name and values of the group with the highest mean."""
    name = max(groups, key=lambda name: float(groups[name].mean()))
    return name, groups[name]


def _says(yes: bool, no: bool) -> Says:
    return "yes" if yes else "no" if no else "cannot tell"
