"""Several classes per answer, as rows of 0 and 1."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from askgraph.types import Array, IntArray

Sets = Sequence[tuple[int, ...]]  # the indices of the classes of each answer


@dataclass(frozen=True)
class ClassSets:
    """Some of the classes per answer, by their indices: a column of 1, then a column per class, 1 where the answer has it.

    The field of the first column is how far answers reach a node: what is missing to 1 is not known there.

    >>> ClassSets(3).rows([(0, 1), ()]).tolist()
    [[1.0, 1.0, 1.0], [1.0, 0.0, 0.0]]
    """

    width: int = 1

    def rows(self, said: Sets) -> Array:
        """Return one row per answer."""
        rows = np.zeros((len(said), self.width))
        rows[:, 0] = 1.0
        for at, classes in enumerate(said):
            rows[at, [label + 1 for label in classes]] = 1.0
        return rows

    def touched(self, said: Sets) -> IntArray:
        """Return the first column, and those of the classes of these answers."""
        return np.unique([0, *(label + 1 for classes in said for label in classes)]) if len(said) else np.arange(0)

    def totals(self, said: Sets, weights: Array | None = None) -> Array:
        """Return the number of answers, and of those with each class, each counting its weight."""
        rows = self.rows(said)
        return np.asarray(rows.sum(axis=0) if weights is None else weights @ rows)

    def widened(self, said: Sets) -> ClassSets:
        """Return the coding with as many classes as the highest index needs."""
        return ClassSets(max([self.width, *(label + 2 for classes in said for label in classes)]))

    def arranged(self, columns: Sequence[int]) -> ClassSets:
        """Return the coding of some of the columns; the first one is always there."""
        return ClassSets(len(columns))

    def renumbered(self, said: tuple[int, ...], columns: Sequence[int]) -> tuple[int, ...]:
        """Return the indices of the classes among those that are kept."""
        places = list(columns)
        return tuple(sorted(places.index(label + 1) - 1 for label in said))

    def answer(self, row: Array) -> tuple[int, ...]:
        """Return the indices of the classes that the row has."""
        return tuple((np.flatnonzero(row[1:])).tolist())

    def openness(self, votes: Array, signed: bool) -> Array:
        r"""Return the mean of :math:`4 h_c (1 - h_c)` over the classes; what no answer reaches counts as half."""
        if self.width < 2:
            return np.ones_like(votes[:, 0])
        h = np.clip(votes[:, 1:] + (1 - votes[:, :1]) / 2, 0.0, 1.0)
        open_: Array = (4 * h * (1 - h)).mean(axis=1)
        return open_
