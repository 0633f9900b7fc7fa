"""The second reading: a random share of answered items is read by another person, who sees nothing of the first answer.

Whether an item is drawn depends on the seed of the project and the id of the item alone, so anybody can draw again, and a larger
share holds the items of a smaller one.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import numpy as np

from askgraph.types import Array

if TYPE_CHECKING:
    from askgraph.workbench.answers import Answers
    from askgraph.workbench.store import Store


def drawn_below(seed: int, ids: Iterable[str]) -> Array:
    """Return for each id the share from which on its item is drawn: uniform from 0 to 1.

    It is the first eight bytes of the SHA-256 of the seed, a colon and the id, as a number, divided by 2 to the power of 64.

    >>> drawn_below(0, ["17", "18"]).round(3).tolist()
    [0.427, 0.138]
    """
    digests = (sha256(f"{seed}:{id}".encode()).digest()[:8] for id in ids)
    return np.array([int.from_bytes(digest) / 2**64 for digest in digests], dtype=np.float64)


class SecondReading:
    """Which items another person is to read, by the share that people chose; nothing is kept beside the logs."""

    def __init__(self, store: Store, about: dict[str, Any], answers: Answers) -> None:
        self._store, self._about, self._answers = store, about, answers

    @property
    def share(self) -> float:
        """The share of answered items that a second person is to read."""
        return self._answers.naming.second

    def due(self, who: str | None = None) -> list[int]:
        """Return the items that one person has read and another is to read: this one, or anybody.

        Those that this person put off come last.
        """
        if not self.share:
            return []
        answers = self._answers
        answered = [*answers.labels, *(item for item, kind in answers.aside.items() if kind != "later")]
        found = [item for item in answered if self.is_due(item, who)]
        return sorted(found, key=lambda item: who in answers.of(item))

    def is_due(self, item: int, who: str | None = None) -> bool:
        """Return whether an item is one of :meth:`due`."""
        if not self.share or self._from[item] >= self.share:
            return False
        mine = None if who is None else self._answers.of(item).get(who)
        return (mine is None or mine.kind == "later") and len(self._answers.readers(item)) == 1

    @cached_property
    def _from(self) -> Array:
        return drawn_below(self._about["seed"], self._store.ids())
