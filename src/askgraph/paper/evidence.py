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


def better(what: str, a: Array, b: Array, counts: bool = True) -> Check:
    """Check whether a is above b, run by run."""
    mean, low, high = interval(a - b)
    return Check(what, mean, low, high, _says(low > 0, high <= 0), counts)


def no_worse(what: str, a: Array, b: Array, counts: bool = True) -> Check:
    """Check whether a is not below b by more than the margin."""
    mean, low, high = interval(a - b)
    return Check(what, mean, low, high, _says(low > -MARGIN, high <= -MARGIN), counts)


def equal(what: str, a: Array, b: Array, counts: bool = True) -> Check:
    """Check whether a and b differ by less than the margin."""
    mean, low, high = interval(a - b)
    return Check(what, mean, low, high, _says(_near(low, high), _apart(low, high)), counts)


def unequal(what: str, a: Array, b: Array) -> Check:
    """Check whether a and b differ by more than the margin, in either direction."""
    mean, low, high = interval(a - b)
    return Check(what, mean, low, high, _says(_apart(low, high), _near(low, high)))


def _near(low: float, high: float) -> bool:
    return max(-low, high) < MARGIN


def _apart(low: float, high: float) -> bool:
    return low >= MARGIN or high <= -MARGIN


def reaches(what: str, values: Array, level: float, counts: bool = True) -> Check:
    """Check whether the mean is at least a level."""
    mean, low, high = interval(values)
    return Check(what, mean, low, high, _says(low >= level, high < level), counts)


def best_of(groups: Mapping[str, Array]) -> tuple[str, Array]:
    """Return the name and values of the group with the highest mean."""
    name = max(groups, key=lambda name: float(groups[name].mean()))
    return name, groups[name]


def _says(yes: bool, no: bool) -> Says:
    return "yes" if yes else "no" if no else "cannot tell"
