"""Regions of the map: parts of the plane that hold many items, named by the words that are common there and rare elsewhere."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from askgraph.types import Array, BoolArray, IntArray
from askgraph.workbench.common_words import common_words, words_of

MIN_ITEMS, MAX_REGIONS = 40, 14  # fewest items for which regions are named, and the most regions
ITEMS_OVER_SQUARE = 4  # items over the square of the number of regions
WORDS = 2  # in a name


class Region(NamedTuple):
    """The middle of a region of the map, its number of items, and its name."""

    x: float
    y: float
    items: int
    name: str


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
