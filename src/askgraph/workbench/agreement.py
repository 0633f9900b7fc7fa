"""How far people agree beyond chance: Krippendorff's alpha and Cohen's kappa, with 95 % intervals from resampled items.

How far two answers are apart depends on their kind: see ``Distance``. An answer "one of some classes" is left out: it says
neither that its person agrees with another one nor that they differ.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from askgraph.answers.shares import OneOf
from askgraph.types import AnyArray, Array, IntArray

Distance = Literal["nominal", "ordinal", "interval", "sets"]
DRAWS = 1000  # resamples of the items
LEVEL = 0.95  # of the intervals
FEW = 10  # items: with fewer, samples of them say nothing, and the interval is all there is, from -1 to 1
MAX_SETS = 2000  # different sets that are compared with each other
MAX_NUMBERS = 4_000_000  # resamples × items at a time

Measure = Callable[[AnyArray], Array]  # a value for each row of how often each item comes
Between = Callable[[Any, Any], Array]  # of two tables, the sum of the squared distances of all labels in a row of each


class Agreement(NamedTuple):
    """An agreement from 1 (always) through 0 (as by chance) to below 0, its interval, and the number of items it is from."""

    value: float
    low: float
    high: float
    items: int


def alpha(labels: Iterable[Sequence[Hashable]], distance: Distance = "nominal") -> Agreement | None:
    """Return Krippendorff's alpha of labels given by any number of people to each item; None if it has no value.

    It has none without an item that two people labeled, and where all labels are the same. The square of the distance of two
    labels, which alpha adds up, is by ``distance``:

    ============  =========================================================================================================
    ``nominal``   1 where they differ
    ``ordinal``   the square of how many labels lie between them, half of their own ones included; labels are 0, 1, 2, …
    ``interval``  the square of their difference
    ``sets``      the Jaccard distance of two sets, the share of the classes in either that is not in both. Its root is a
                  distance of points in space, so this is a square as the others are; MASI, which weighs it by whether one set
                  holds the other, is none. Of more than 2000 different sets, items drawn at random are compared.
    ============  =========================================================================================================

    >>> round(alpha([("a", "a"), ("a", "b"), ("b", "b"), ("b", "b")]).value, 3)
    0.533
    >>> round(alpha([(1.0, 1.5), (2.0, 2.5), (7.0, 7.0)], "interval").value, 3)
    0.989
    """
    known = [item for item in map(_sure, labels) if len(item) > 1]
    known = known if distance != "sets" else _sample(known)
    codes = _codes(known)
    if len(codes) < 2:
        return None
    times = Counter(tuple(sorted(codes[label] for label in item)) for item in known)
    table = _counted(list(times), len(codes))
    measure = _ordinal_alpha(table, list(codes)) if distance == "ordinal" else _alpha(table, _BETWEEN[distance](codes))
    return _resampled(measure, np.array(list(times.values())))


def kappa(pairs: Iterable[tuple[Hashable, Hashable]], distance: Distance = "nominal") -> Agreement | None:
    """Return Cohen's kappa of two people, from their labels of the same items; None if it has no value.

    ``distance`` is as in :func:`alpha`, but for ``ordinal``: there it is the square of the steps between (quadratic weights).

    >>> round(kappa([("a", "a"), ("a", "b"), ("b", "b"), ("b", "b")]).value, 3)
    0.5
    """
    known = [pair for pair in pairs if len(_sure(pair)) > 1]
    known = known if distance != "sets" else _sample(known)
    codes = _codes(known)
    if len(codes) < 2:
        return None
    times = Counter((codes[one], codes[other]) for one, other in known)
    one, other = (_counted([(pair[k],) for pair in times], len(codes)) for k in (0, 1))
    return _resampled(_kappa(one, other, _BETWEEN[distance](codes)), np.array(list(times.values())))


def _codes(items: Iterable[Iterable[Any]]) -> dict[Any, int]:
    return {label: k for k, label in enumerate(dict.fromkeys(label for item in items for label in item))}


def _sure(labels: Sequence[Hashable]) -> Sequence[Any]:
    return [label for label in labels if not isinstance(label, OneOf)]


def _sample(items: list[Any]) -> list[Any]:
    """Return items with few enough different sets to compare each with each."""
    if len({one for item in items for one in item}) <= MAX_SETS:
        return items
    drawn = [items[k] for k in np.random.default_rng(0).permutation(len(items))]
    sizes = np.cumsum([len(item) for item in drawn])
    return drawn[: int(np.searchsorted(sizes, MAX_SETS, side="right"))]


def _counted(items: Sequence[Sequence[int]], n_codes: int) -> csr_array:
    """Return how often each item has each label, one row per item."""
    codes = np.array([code for item in items for code in item])
    ends = np.cumsum([0, *(len(item) for item in items)])
    table = csr_array((np.ones(codes.size), codes, ends), shape=(len(items), n_codes))
    table.sum_duplicates()
    return table


def _resampled(measure: Measure, times: IntArray) -> Agreement | None:
    """Return a measure of all items, and its interval over samples of as many items, drawn with replacement."""
    items, value = int(times.sum()), float(measure(times[None])[0])
    if np.isnan(value):
        return None
    if items < FEW:
        return Agreement(value, -1.0, 1.0, items)
    rng, at_once = np.random.default_rng(0), max(MAX_NUMBERS // len(times), 1)
    sizes = [min(at_once, DRAWS - start) for start in range(0, DRAWS, at_once)]
    found = np.concatenate([measure(rng.multinomial(items, times / items, size)) for size in sizes])
    low, high = np.nanquantile(found, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Agreement(value, float(min(low, value)), float(max(high, value)), items)


def _alpha(table: csr_array, between: Between) -> Measure:
    """Return alpha by how often each row of the table, the labels of an item, comes."""
    sizes = table.sum(axis=1)
    within = between(table, table) / (sizes - 1)

    def measure(times: AnyArray) -> Array:
        total, n = times @ table, times @ sizes
        return _beyond_chance((n - 1) * (times @ within), between(total, total))

    return measure


def _ordinal_alpha(table: csr_array, steps: Sequence[int]) -> Measure:
    """Return alpha as :func:`_alpha` does; a step stands at the share of labels below it, so the distances change with them."""
    sizes, order = table.sum(axis=1), np.argsort(steps)
    table = csr_array(table[:, order])

    def measure(times: AnyArray) -> Array:
        total, n = times @ table, times @ sizes
        ranks = (np.cumsum(total, axis=1) - total / 2) / n[:, None]
        first, second = table @ ranks.T, table @ (ranks**2).T
        within = 2 * (sizes[:, None] * second - first**2) / (sizes - 1)[:, None]
        by_chance = 2 * (n * (total * ranks**2).sum(axis=1) - (total * ranks).sum(axis=1) ** 2)
        return _beyond_chance((n - 1) * (times.T * within).sum(axis=0), by_chance)

    return measure


def _kappa(one: csr_array, other: csr_array, between: Between) -> Measure:
    """Return kappa by how often each row of the tables, the labels of two people, comes."""
    apart = between(one, other)
    return lambda times: _beyond_chance(times.sum(axis=1) * (times @ apart), between(times @ one, times @ other))


def _differing(labels: Iterable[Any]) -> Between:
    """Return the number of pairs of labels that differ."""
    return lambda some, others: some.sum(axis=1) * others.sum(axis=1) - (some * others).sum(axis=1)


def _of_numbers(labels: Iterable[Any]) -> Between:
    """Return the sum of squared differences, from sums alone; numbers are brought to -1 … 1, so that no square is too large."""
    numbers = np.array(list(labels), dtype=float)
    numbers = numbers - numbers.mean()
    numbers = numbers / np.abs(numbers).max()
    powers = np.stack([np.ones(numbers.size), numbers, numbers**2], axis=1)

    def between(some: Any, others: Any) -> Array:
        (n, first, second), (m, first_of_others, second_of_others) = (some @ powers).T, (others @ powers).T
        return np.asarray(n * second_of_others + m * second - 2 * first * first_of_others)

    return between


def _of_sets(labels: Iterable[Any]) -> Between:
    """Return the sum of Jaccard distances, from a table of all pairs of sets."""
    sets = list(labels)
    places = _codes(sets)
    has = _counted([[places[name] for name in one] for one in sets], len(places))
    both, sizes = (has @ has.T).toarray(), has.sum(axis=1)
    either = np.maximum(sizes[:, None] + sizes - both, 1)
    apart = 1 - np.where((sizes[:, None] + sizes) == 0, 1, both / either)
    return lambda some, others: np.asarray((others * (some @ apart)).sum(axis=1))


_BETWEEN: dict[Distance, Callable[[Iterable[Any]], Between]] = {
    "nominal": _differing,
    "ordinal": _of_numbers,
    "interval": _of_numbers,
    "sets": _of_sets,
}


def _beyond_chance(differing: Array, by_chance: Array) -> Array:
    """Return 1 - differing / by chance, NaN where chance makes no difference: one label alone says nothing of agreement."""
    share = np.divide(differing, by_chance, out=np.full(np.shape(by_chance), np.nan), where=by_chance > 1e-9)
    return 1 - share
