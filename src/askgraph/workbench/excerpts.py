"""What lists show of an item beside its name: the start of what items are compared by, and what some of them have in common."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from askgraph.types import Array, BoolArray, IntArray
from askgraph.workbench.cells import number, readable
from askgraph.workbench.common_words import common_words, words_of
from askgraph.workbench.store import Item, Store

CHARACTERS = 240  # of a text in a list; longer texts are cut
MOST_NUMBERS = 4  # columns of numbers shown in a list
MOST_LINKED = 6  # neighbors named of an item that has nothing but them
SAMPLE = 2_000  # items that are read to know what is common everywhere
READ = 2_000  # characters of an item that are read for its words
FEWEST = 3  # items from which on it is said what they have in common
MOST_WORDS = 12  # that items have in common
CLOSE = (
    0.5  # numbers whose spread among some items is at most this share of that among all are what these have in common
)


class Part(NamedTuple):
    """The start of one column, or the names of an item's neighbors, which stand in no column."""

    name: str | None
    text: str


class Common(NamedTuple):
    """What some items have in common: words, the most telling first, and columns of numbers that are close."""

    words: list[str]
    columns: list[str]


NOTHING = Common([], [])


class Excerpts:
    """What lists show of items beside their names.

    Parameters
    ----------
    store
        The file of the project.
    texts
        The columns of texts that items are compared by, or that are shown where no text is compared; without names.
    numbers
        The columns of numbers that items are compared by.
    """

    def __init__(self, store: Store, texts: Sequence[str], numbers: Sequence[str]) -> None:
        self._store, self._texts, self._numbers = store, texts, numbers[:MOST_NUMBERS]

    def of(self, item: Item) -> list[Part]:
        """Return the start of each column of an item that holds something; for a bare node of a graph, its neighbors."""
        parts = [Part(name, _start(item, name)) for name in (*self._texts, *self._numbers)]
        if found := [part for part in parts if part.text]:
            return found
        return [] if item.fields or item.image else self._linked(item.place)

    def common(self, items: Iterable[Item]) -> Common:
        """Return what some items have in common that is rarer, or farther apart, among all."""
        some = list(items)
        words, numbers = [self._words(item) for item in some], self._values(some)
        everywhere = self._everywhere + Counter(word for found in words for word in found)
        return self._said(words, numbers, everywhere, len(self._sampled) + len(some))

    def common_in_sample(self, chosen: BoolArray) -> Common:
        """Return what those items of the ``sample`` have in common that are chosen, one bool for each."""
        words = [found for found, one in zip(self._sampled, chosen.tolist(), strict=True) if one]
        return self._said(words, self._spread[chosen], self._everywhere, len(self._sampled))

    @cached_property
    def sample(self) -> IntArray:
        """The places of some items drawn at random, by which is known what is common everywhere."""
        n = self._store.n_items
        return np.sort(np.random.default_rng(0).permutation(n)[:SAMPLE])

    @cached_property
    def _read(self) -> list[Item]:
        return self._store.items(self.sample.tolist())

    @cached_property
    def _sampled(self) -> list[set[str]]:
        return [self._words(item) for item in self._read]

    @cached_property
    def _everywhere(self) -> Counter[str]:
        return Counter(word for found in self._sampled for word in found)

    @cached_property
    def _spread(self) -> Array:
        return self._values(self._read)

    def _said(self, words: list[set[str]], numbers: Array, everywhere: Counter[str], n: int) -> Common:
        if len(words) < FEWEST:
            return NOTHING
        close = [name for k, name in enumerate(self._numbers) if _is_close(numbers[:, k], self._spread[:, k])]
        return Common(common_words(words, everywhere, n)[:MOST_WORDS], close)

    def _words(self, item: Item) -> set[str]:
        return words_of(readable(" ".join(str(item.fields.get(name, "")) for name in self._texts))[:READ])

    def _values(self, items: Sequence[Item]) -> Array:
        """Return the numbers of items, one row per item; NaN where there is none."""
        rows = [[number(item.fields.get(name)) for name in self._numbers] for item in items]
        return np.array(rows, dtype=np.float64).reshape(len(items), len(self._numbers))

    def _linked(self, place: int) -> list[Part]:
        """Return the nearest neighbors of an item by their names, the nearest first."""
        start, end = self._links.indptr[place : place + 2]
        near = self._links.indices[start:end][np.argsort(-self._links.data[start:end], kind="stable")][:MOST_LINKED]
        names = [item.id for item in self._store.items(near.tolist())]
        return [Part(None, ", ".join(names))] if names else []

    @cached_property
    def _links(self):  # type: ignore[no-untyped-def]  # a sparse matrix, which has no type of its own
        return self._store.graph().weights


def _start(item: Item, name: str) -> str:
    line = " ".join(readable(str(item.fields.get(name, ""))[: 2 * CHARACTERS]).split())
    return line if len(line) <= CHARACTERS else f"{line[: CHARACTERS - 1].rstrip()}…"


def _is_close(some: Array, everywhere: Array) -> bool:
    """Return whether some numbers lie much closer together than all."""
    here, all_ = some[np.isfinite(some)], everywhere[np.isfinite(everywhere)]
    return here.size == some.size and all_.size > 1 and bool(here.std() <= CLOSE * all_.std() and all_.std() > 0)
