"""Errors measured on items drawn at random: means with a range, by Student's t."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from askgraph.types import Array

LEVEL = 0.9  # of the ranges
MEASURED = 8  # random answers from which on an error is measured on them
T = TypeVar("T")


def random_items(audited: Sequence[T], checks: Sequence[T]) -> list[T]:
    """Return the items drawn at random that count: the audited ones alone where they are enough, else spot checks, too."""
    return list(audited) if len(audited) >= MEASURED else [*audited, *checks]


def mean_of(errors: Sequence[float], expected: float) -> tuple[float, float, float]:
    """Return the mean of errors of items drawn at random, and its range; what is expected counts as one item more.

    >>> [round(x, 2) for x in mean_of([0.0, 1.0, 0.0, 2.0, 0.0, 0.0, 1.0, 0.0], 0.5)]
    [0.5, 0.06, 0.94]
    """
    every = np.array([*errors, expected], dtype=float)
    half = quantile((1 + LEVEL) / 2, every.size - 1) * every.std(ddof=1) / every.size**0.5
    return float(every.mean()), max(float(every.mean() - half), 0.0), float(every.mean() + half)


def ratio_of(above: Array, below: Array) -> tuple[float, float, float]:
    """Return the ratio of two means over items drawn at random, and its range, by Fieller's theorem.

    >>> [round(x, 2) for x in ratio_of(np.array([1.0, 0.0, 1.0, 0.0, 2.0]), np.full(5, 2.0))]
    [0.4, 0.0, 0.8]
    """
    n, t = above.size, quantile((1 + LEVEL) / 2, above.size - 1)
    a, b = above.mean(), below.mean()
    if b <= 0:
        return 0.0, 0.0, 1.0
    r = a / b
    half = t * np.std(above - r * below, ddof=1) / (n**0.5 * b)
    return float(r), max(float(r - half), 0.0), min(float(r + half), 1.0)


def quantile(share: float, degrees: float) -> float:
    """Return the quantile of Student's t."""
    from scipy.special import stdtrit

    return float(stdtrit(degrees, share))
