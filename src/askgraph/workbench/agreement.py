"""How far people agree beyond chance: Krippendorff's alpha and Cohen's kappa, with 95 % intervals from resampled items."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import NamedTuple

import numpy as np

from askgraph.types import AnyArray, Array, IntArray

DRAWS = 1000  # resamples of the items
LEVEL = 0.95  # of the intervals
FEW = 10  # items: with fewer, samples of them say nothing, and the interval is all there is, from -1 to 1


class Agreement(NamedTuple):
    """An agreement from 1 (always) through 0 (as by chance) to below 0, its interval, and the number of items it is from."""

    value: float
    low: float
    high: float
    items: int


def alpha(labels: Sequence[Sequence[Hashable]]) -> Agreement | None:
    """Return Krippendorff's alpha of nominal labels, given by any number of people to each item; None if it has no value.

    It has none without an item that two people labeled, and where all labels are the same.

    >>> round(alpha([("a", "a"), ("a", "b"), ("b", "b"), ("b", "b")]).value, 3)
    0.533
    """
    known = [item for item in labels if len(item) > 1]
    codes: dict[Hashable, int] = {}
    for label in (label for item in known for label in item):
        codes.setdefault(label, len(codes))
    counts = np.zeros((len(known), len(codes)), dtype=np.int64)
    for row, item in zip(counts, known, strict=True):
        np.add.at(row, [codes[label] for label in item], 1)
    return _resampled(counts, _alpha)


def kappa(pairs: Sequence[tuple[Hashable, Hashable]]) -> Agreement | None:
    """Return Cohen's kappa of two people, from their labels of the same items; None if it has no value.

    >>> round(kappa([("a", "a"), ("a", "b"), ("b", "b"), ("b", "b")]).value, 3)
    0.5
    """
    codes = {label: k for k, label in enumerate(dict.fromkeys(label for pair in pairs for label in pair))}
    both = np.zeros((len(pairs), len(codes) ** 2), dtype=np.int64)
    both[np.arange(len(pairs)), [codes[one] * len(codes) + codes[other] for one, other in pairs]] = 1
    return _resampled(both, _kappa)


def _resampled(items: IntArray, measure: Callable[[AnyArray, AnyArray], Array]) -> Agreement | None:
    """Return a measure of all items, and its interval over samples of as many items, drawn with replacement."""
    if not items.size:
        return None
    kinds, times = np.unique(items, axis=0, return_counts=True)
    value = float(measure(kinds, times[None])[0])
    if np.isnan(value):
        return None
    if len(items) < FEW:
        return Agreement(value, -1.0, 1.0, len(items))
    draws = np.random.default_rng(0).multinomial(len(items), times / len(items), DRAWS)
    found = measure(kinds, draws)
    low, high = np.nanquantile(found, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Agreement(value, float(min(low, value)), float(max(high, value)), len(items))


def _alpha(counts: AnyArray, times: AnyArray) -> Array:
    """Return alpha for each row of ``times``, how often each row of ``counts`` (labels of an item by class) comes."""
    per_item, total = counts.sum(axis=1), times @ counts
    differing = times @ ((per_item**2 - (counts**2).sum(axis=1)) / (per_item - 1))
    n = total.sum(axis=1)
    by_chance = (n**2 - (total**2).sum(axis=1)) / (n - 1)
    return _ratio(by_chance - differing, by_chance)


def _kappa(both: AnyArray, times: AnyArray) -> Array:
    """Return kappa for each row of ``times``, how often each row of ``both`` (one cell of the table of two people) comes."""
    k = round(both.shape[1] ** 0.5)
    table = (times @ both).reshape(-1, k, k) / times.sum(axis=1)[:, None, None]
    agreed = np.trace(table, axis1=1, axis2=2)
    by_chance = (table.sum(axis=1) * table.sum(axis=2)).sum(axis=1)
    return _ratio(agreed - by_chance, 1 - by_chance)


def _ratio(top: Array, bottom: Array) -> Array:
    """Return top / bottom, NaN where bottom is 0: one label alone says nothing of agreement."""
    return np.divide(top, bottom, out=np.full(np.shape(bottom), np.nan), where=bottom > 1e-12)
