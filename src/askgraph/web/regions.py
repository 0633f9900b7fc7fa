"""The plane of the map: as much of it as shows nearly all items, and its regions, which hold many items.

A region is named by the words that are common there and rare elsewhere.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from askgraph.types import Array, BoolArray, IntArray
from askgraph.workbench.common_words import common_words, words_of

MIN_ITEMS, MAX_REGIONS = 40, 12  # fewest items for which regions are named, and the most regions
OUTSIDE = 0.01  # the share of items at each end of an axis that may be drawn at the edge of the map
AIR = 0.15  # the share of what all others take that is left free around them
FEWEST = 20  # items: of fewer, none is an outlier
ITEMS_OVER_SQUARE = 4  # items over the square of the number of regions
WORDS = 2  # in a name


class Region(NamedTuple):
    """The middle of a region of the map, its number of items, and its name."""

    x: float
    y: float
    items: int
    name: str


class Frame(NamedTuple):
    """The square of the plane that the map shows: its corner with the lowest numbers, and its side."""

    x: float
    y: float
    side: float

    def place(self, positions: Array) -> Array:
        """Return where positions are on the map, each number from 0 to 1; those outside the square are at its edge."""
        return np.clip((positions - (self.x, self.y)) / self.side, 0.0, 1.0)


WHOLE = Frame(0.0, 0.0, 1.0)


def frame(positions: Array) -> Frame:
    """Return the square that shows nearly all positions: one far from all others must not squeeze them into a corner.

    Parameters
    ----------
    positions
        One row (x, y) per item, each number from 0 to 1.

    Returns
    -------
    Frame
        The whole unit square, unless some items are far outside of where the others are.

    Examples
    --------
    >>> far = np.vstack([np.random.default_rng(0).uniform(0.0, 0.1, (99, 2)), [[1.0, 1.0]]])
    >>> found = frame(far)
    >>> round(found.side, 1), found.place(far)[-1].tolist()
    (0.1, [1.0, 1.0])
    """
    if len(positions) < FEWEST:
        return WHOLE
    low = np.quantile(positions, OUTSIDE, axis=0, method="higher")
    high = np.quantile(positions, 1 - OUTSIDE, axis=0, method="lower")
    air = AIR * float((high - low).max())
    least, most = positions.min(axis=0), positions.max(axis=0)
    if air == 0 or ((least >= low - air) & (most <= high + air)).all():
        return WHOLE
    low, high = np.maximum(low - air, least), np.minimum(high + air, most)
    side = float((high - low).max())
    x, y = ((low + high - side) / 2).tolist()
    return Frame(x, y, side)


def name_regions(positions: Array, texts: Sequence[str]) -> list[Region]:
    """Return the regions that have a name, the largest first; no word is in two names. ``positions`` has one row per text."""
    written = np.array([bool(text) for text in texts], dtype=bool)
    n = len(texts)
    if written.sum() < MIN_ITEMS:
        return []
    region = _divide(positions, min(MAX_REGIONS, round((n / ITEMS_OVER_SQUARE) ** 0.5)))
    words = [words_of(text) for text in texts]
    everywhere = Counter(word for found in words for word in found)
    regions, used = [], set[str]()
    for k in np.argsort(-np.bincount(region), kind="stable"):
        members = np.flatnonzero(region == k)
        if chosen := _choose_words([words[i] - used for i in members], everywhere, n):
            x, y = np.median(positions[members], axis=0).tolist()
            regions.append(Region(x, y, int(members.size), ", ".join(chosen)))
            used.update(chosen)
    return regions


def inside(polygon: Array, positions: Array) -> BoolArray:
    """Return which positions lie inside a polygon, by the even-odd rule.

    >>> square = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    >>> inside(square, np.array([[0.5, 0.5], [1.5, 0.5]])).tolist()
    [True, False]
    """
    x, y = positions[:, 0], positions[:, 1]
    found = np.zeros(len(positions), dtype=bool)
    for (x1, y1), (x2, y2) in zip(polygon, np.roll(polygon, -1, axis=0), strict=True):
        crosses = (y1 > y) != (y2 > y)
        found ^= crosses & (x < x1 + (y - y1) / np.where(y2 == y1, 1.0, y2 - y1) * (x2 - x1))
    return found


def _divide(positions: Array, k: int) -> IntArray:
    from sklearn.cluster import MiniBatchKMeans

    found: IntArray = MiniBatchKMeans(k, random_state=0, n_init=3).fit_predict(positions).astype(np.int64)
    return found


def _choose_words(members: list[set[str]], everywhere: Counter[str], n: int) -> list[str]:
    """Return the words that most distinguish some items from all, no two of them forms of one."""
    chosen: list[str] = []
    for word in common_words(members, everywhere, n):
        if not any(word.startswith(other[:4]) for other in chosen):
            chosen.append(word)
        if len(chosen) == WORDS:
            break
    return chosen
