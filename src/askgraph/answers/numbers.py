"""Numbers as rows, as they are and by their logarithms."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from askgraph.types import Array, IntArray


@dataclass(frozen=True)
class Values:
    """One number per answer: a column of 1, one of the numbers, and with ``logs`` one of their logarithms.

    The field of the first column is how far answers reach a node, so that a reader may take any mean off the numbers afterwards.
    The logarithm of a number that is not positive stands as 0: who reads logarithms looks first whether all are positive.

    >>> Values().rows([2.5]).tolist(), Values(logs=True).rows([1.0, -1.0]).tolist()
    ([[1.0, 2.5]], [[1.0, 1.0, 0.0], [1.0, -1.0, 0.0]])
    """

    logs: bool = False

    @property
    def width(self) -> int:
        """The number of columns."""
        return 3 if self.logs else 2

    def rows(self, said: Sequence[float]) -> Array:
        """Return one row per answer."""
        columns = [np.ones(len(said)), np.array(said, dtype=float)]
        if self.logs:
            columns.append(np.array([math.log(y) if y > 0 else 0.0 for y in said]))
        return np.column_stack(columns)

    def touched(self, said: Sequence[float]) -> IntArray:
        """Return all columns, or none without an answer."""
        return np.arange(self.width if len(said) else 0)

    def totals(self, said: Sequence[float], weights: Array | None = None) -> Array:
        """Return the sum of the rows, each times its weight."""
        rows = self.rows(said)
        return np.asarray(rows.sum(axis=0) if weights is None else weights @ rows)

    def widened(self, said: Sequence[float]) -> Values:
        """Return the coding itself: any number fits."""
        return self

    def arranged(self, columns: Sequence[int]) -> Values:
        """Return the coding itself: all of its columns belong together."""
        return self

    def renumbered(self, said: float, columns: Sequence[int]) -> float:
        """Return the number."""
        return said

    def answer(self, row: Array) -> float:
        """Return the number of a row."""
        return float(row[1])

    def openness(self, votes: Array, signed: bool) -> Array:
        """Return 1 everywhere: how surprising a number will be is its variance, whatever the numbers so far."""
        return np.ones_like(votes[:, 0])
