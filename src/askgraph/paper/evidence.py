"""What a claim is judged by: a statistic over seeds, its interval, and what it says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.stats import t as student

from askgraph.paper.run import Results
from askgraph.simulate.runs import Record
from askgraph.types import Array

MARGIN = 0.02  # accuracies closer than this count as equal
LEVEL = 0.95  # of the intervals
Says = Literal["yes", "no", "cannot tell"]


@dataclass(frozen=True)
class Evidence:
    """Everything that was measured."""

    results: Results
    runtimes: Sequence[Record] = ()
    symmetry: Sequence[Record] = ()
    growth: Sequence[Record] = ()


@dataclass(frozen=True)
class Check:
    """One comparison: the mean over seeds, its 95 % interval, and whether it speaks for the claim."""

    what: str
    estimate: float
    low: float
    high: float
    says: Says
    counts: bool = True  # False: for information


def accuracy(
    results: Results, experiment: str, sampler: str, first: float = 0.0, last: float = 1.0, readout: str = "map"
) -> Array:
    """The mean accuracy of each run over a part of its labels, from a share of the budget to another."""
    curves = results.curves(experiment, sampler, readout)
    start, stop = round(first * curves.shape[1]), max(round(last * curves.shape[1]), round(first * curves.shape[1]) + 1)
    return np.asarray(curves[:, start:stop].mean(axis=1))


def interval(values: Array) -> tuple[float, float, float]:
    """The mean over seeds and its interval by Student's t."""
    mean = float(values.mean())
    if values.size < 2:
        return mean, -np.inf, np.inf
    half = float(student.ppf((1 + LEVEL) / 2, values.size - 1) * values.std(ddof=1) / np.sqrt(values.size))
    return mean, mean - half, mean + half


def better(what: str, a: Array, b: Array, counts: bool = True) -> Check:
    """Whether a is above b, run by run."""
    mean, low, high = interval(a - b)
    return Check(what, mean, low, high, _says(low > 0, high <= 0), counts)


def no_worse(what: str, a: Array, b: Array, counts: bool = True) -> Check:
    """Whether a is not below b by more than the margin."""
    mean, low, high = interval(a - b)
    return Check(what, mean, low, high, _says(low > -MARGIN, high <= -MARGIN), counts)


def equal(what: str, a: Array, b: Array, counts: bool = True) -> Check:
    """Whether a and b are within the margin."""
    mean, low, high = interval(a - b)
    return Check(what, mean, low, high, _says(_near(low, high), _apart(low, high)), counts)


def unequal(what: str, a: Array, b: Array) -> Check:
    """Whether a and b are apart by more than the margin, whichever is ahead."""
    mean, low, high = interval(a - b)
    return Check(what, mean, low, high, _says(_apart(low, high), _near(low, high)))


def _near(low: float, high: float) -> bool:
    return max(-low, high) < MARGIN


def _apart(low: float, high: float) -> bool:
    return low >= MARGIN or high <= -MARGIN


def reaches(what: str, values: Array, level: float, counts: bool = True) -> Check:
    """Whether the mean is at least a level."""
    mean, low, high = interval(values)
    return Check(what, mean, low, high, _says(low >= level, high < level), counts)


def best_of(groups: Mapping[str, Array]) -> tuple[str, Array]:
    """The group with the highest mean."""
    name = max(groups, key=lambda name: float(groups[name].mean()))
    return name, groups[name]


def _says(yes: bool, no: bool) -> Says:
    return "yes" if yes else "no" if no else "cannot tell"
