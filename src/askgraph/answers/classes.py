"""Codings: how what people say becomes rows of numbers, which a field observes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np

from askgraph.types import Array, IntArray


class Coding(Protocol):
    """How what people say becomes what a field observes: a row of numbers per answer.

    An answer is whatever the coding takes (for `Classes` the index of a class). A field keeps answers as they were given and asks
    its coding for their rows, so a field knows nothing of what its columns mean.
    """

    @property
    def width(self) -> int:
        """The number of columns."""
        ...

    def rows(self, said: Sequence[Any]) -> Array:
        """Return what the field observes, one row per answer, one column per class."""
        ...

    def touched(self, said: Sequence[Any]) -> IntArray:
        """Return the columns in which any of these answers may be other than 0, each once, in order."""
        ...

    def totals(self, said: Sequence[Any], weights: Array | None = None) -> Array:
        """Return the sum of the rows of answers, each times its weight: for classes, how many labels each one has."""
        ...

    def widened(self, said: Sequence[Any]) -> Self:
        """Return the coding that has columns for these answers, too; columns that are there keep their places."""
        ...

    def arranged(self, columns: Sequence[int]) -> Self:
        """Return the coding of some of its columns, in this order."""
        ...

    def renumbered(self, said: Any, columns: Sequence[int]) -> Any:
        """Return an answer as the coding with these columns, in this order, takes it."""
        ...


@dataclass(frozen=True)
class Classes:
    """One class per answer, by its index: a column per class, 1 in that of the answer and 0 in the others.

    >>> Classes(3).rows([2, 0]).tolist()
    [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]
    >>> Classes(2).widened([4]).width, Classes(3).totals([0, 2, 2]).tolist()
    (5, [1.0, 0.0, 2.0])
    """

    width: int = 0

    def rows(self, said: Sequence[int]) -> Array:
        """Return one row per answer, 1 in the column of its class."""
        return np.asarray(np.array(said, dtype=np.int64)[:, None] == np.arange(self.width), dtype=float)

    def touched(self, said: Sequence[int]) -> IntArray:
        """Return the classes of these answers."""
        return np.unique(np.array(said, dtype=np.int64))

    def totals(self, said: Sequence[int], weights: Array | None = None) -> Array:
        """Return the labels of each class, each counting its weight."""
        counted = np.bincount(np.array(said, dtype=np.int64), weights, minlength=self.width)
        return np.asarray(counted, dtype=float)

    def widened(self, said: Sequence[int]) -> Classes:
        """Return the coding with as many classes as the highest index needs."""
        return Classes(max([self.width, *(label + 1 for label in said)]))

    def arranged(self, columns: Sequence[int]) -> Classes:
        """Return the coding of some of the classes."""
        return Classes(len(columns))

    def renumbered(self, said: int, columns: Sequence[int]) -> int:
        """Return the index of a class among those that are kept."""
        return list(columns).index(said)


def as_coding(coding: Coding | int) -> Coding:
    """Return a coding; a number means as many classes."""
    return Classes(coding) if isinstance(coding, int) else coding
