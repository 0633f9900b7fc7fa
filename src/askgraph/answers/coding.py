"""Codings: how what people say becomes rows of numbers, which a field observes; and classes: votes, means, probabilities.

Classes are one-vs-rest columns, and an answer is the index of a class, or shares of several: ((index, share), ...). Votes h (n × C)
are the field in 0/1 coding; H = Σ_c h_c is how far labels reach a node. The paper's ±1 mean is μ_c = 2 h_c − H.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self, TypeGuard

import numpy as np

from askgraph.types import Array, BoolArray, IntArray

Said = int | tuple[tuple[int, float], ...]  # the index of a class, or the indices of several and the share of each

TIE = 1e-9  # scores that differ by less count as equal
# votes: where a labeled node screens a class from all others, solves leave up to 1e-8 instead of 0, and a class whose highest
# vote is below FLOOR fades out as its square does; of a class below NIL nothing more is told
FLOOR, NIL = 1e-6, 1e-12
ODD = 0.02  # the share of answers that count as drawn at random in their price, so that none costs too much
PART_BYTES = 32_000_000  # of an array of all rows and some classes, where all classes are not needed at a time


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

    def answer(self, row: Array) -> Any:
        """Return the answer that has this row."""
        ...

    def openness(self, votes: Array, signed: bool) -> Array:
        """Return how open the answers at some nodes are, by their votes: 0 where they are known, larger where they are not."""
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

    def rows(self, said: Sequence[Said]) -> Array:
        """Return one row per answer: 1 in the column of its class, or the share of each."""
        if all(map(is_class, said)):
            return np.asarray(np.array(said, dtype=np.int64)[:, None] == np.arange(self.width), dtype=float)
        at, classes, shares = _entries(said)
        rows = np.zeros((len(said), self.width))
        rows[at, classes] = shares
        return rows

    def touched(self, said: Sequence[Said]) -> IntArray:
        """Return the classes of these answers."""
        return np.unique(_entries(said)[1])

    def totals(self, said: Sequence[Said], weights: Array | None = None) -> Array:
        """Return the labels of each class, each counting its weight, and its share of the class."""
        at, classes, shares = _entries(said)
        counted = np.bincount(classes, shares if weights is None else shares * weights[at], minlength=self.width)
        return np.asarray(counted, dtype=float)

    def widened(self, said: Sequence[Said]) -> Classes:
        """Return the coding with as many classes as the highest index needs."""
        return Classes(max([self.width, *(label + 1 for one in said for label, _ in parts_of(one))]))

    def arranged(self, columns: Sequence[int]) -> Classes:
        """Return the coding of some of the classes."""
        return Classes(len(columns))

    def renumbered(self, said: Said, columns: Sequence[int]) -> Said:
        """Return the index of a class among those that are kept, or the shares by such indices."""
        places = list(columns)
        if is_class(said):
            return places.index(said)
        return tuple(sorted((places.index(label), share) for label, share in parts_of(said)))

    def answer(self, row: Array) -> Said:
        """Return the index of the class that has all of the row, or the shares."""
        shares = tuple((int(label), float(row[label])) for label in np.flatnonzero(row))
        return shares[0][0] if len(shares) == 1 and shares[0][1] == 1 else shares

    def openness(self, votes: Array, signed: bool) -> Array:
        r"""Return :math:`1 - \sum_c (h_c + (1-H)/C)^2`, the probability that two draws from the votes differ."""
        votes = at_least_two(votes)
        shared = shares(votes) if signed else votes + (1 - row_sums(votes)) / votes.shape[1]
        return 1 - np.einsum("ic,ic->i", shared, shared)


def is_class(said: Any) -> TypeGuard[int]:
    """Return whether an answer is one class; else it is shares of several."""
    return not isinstance(said, tuple)


def parts_of(said: Said) -> tuple[tuple[int, float], ...]:
    """Return the indices of the classes of an answer, and the share of each."""
    return ((said, 1.0),) if is_class(said) else said  # type: ignore[return-value]  # TypeGuard does not narrow the other branch


def _entries(said: Sequence[Said]) -> tuple[IntArray, IntArray, Array]:
    """Return the places of answers, the classes and the shares of all their parts."""
    if all(map(is_class, said)):
        return np.arange(len(said)), np.array(said, dtype=np.int64), np.ones(len(said))
    every = [(at, label, share) for at, one in enumerate(said) for label, share in parts_of(one)]
    at, classes, shares = zip(*every, strict=True)
    return np.array(at), np.array(classes), np.array(shares, dtype=float)


def as_coding(coding: Coding | int) -> Coding:
    """Return a coding; a number means as many classes."""
    return Classes(coding) if isinstance(coding, int) else coding


def at_least_two(votes: Array) -> Array:
    """Return votes with at least two columns: empty ones are added, and stand for classes that are not known yet."""
    missing = 2 - votes.shape[1]
    return np.pad(votes, ((0, 0), (0, missing))) if missing > 0 else votes


def by_class(votes: Array) -> Array:
    """Return votes with each class contiguous in memory."""
    return votes if votes.flags.f_contiguous else votes.copy(order="F")


def parts(rows: int, classes: int) -> list[slice]:
    """Return the classes in parts, so that an array of this many rows and the classes of one part is not large."""
    width = max(1, PART_BYTES // (8 * max(rows, 1)))
    return [slice(at, at + width) for at in range(0, classes, width)]


def kept(parts: Sequence[Any], compute: Callable[[Any], Array]) -> Callable[[Any], Array]:
    """Return the function; where there is one part only, one that computes the array of this part once and keeps it."""
    if len(parts) > 1:
        return compute
    found: list[Array] = []

    def once(part: Any) -> Array:
        if not found:
            found.append(compute(part))
        return found[0]

    return once


def row_sums(rows: Array) -> Array:
    """Return the sum of each row as a column: for few columns a product is faster than ``sum``."""
    return rows @ np.ones_like(rows, shape=(rows.shape[1], 1), order="C")


def ratio(a: Array, b: Array, otherwise: Array | float = 0.0) -> Array:
    """Return a / b where b is above 0, and ``otherwise`` elsewhere."""
    some = b > 0
    if some.all():
        quotient: Array = a / b
        return quotient
    return np.where(some, a / np.where(some, b, 1.0), otherwise)


def divisor(mass: Array, highest: Array) -> Array:
    """Return what the votes of each class are divided by: their mass, and more the further their highest is below FLOOR.

    So a class whose votes are rounding errors counts for nothing, and none that is near FLOOR is switched on or off.
    """
    return np.asarray(np.maximum(mass, NIL) * (1 + (FLOOR / np.maximum(highest, NIL)) ** 2))


def means(votes: Array) -> Array:
    r"""Return the ±1 mean of each one-vs-rest field, :math:`\mu_c = 2 h_c - H`."""
    return 2 * votes - row_sums(votes)


def chances(votes: Array) -> Array:
    r"""Return class probabilities :math:`p_c \propto (1 + \mu_c)/2 = h_c + (1 - H)/2` (6)."""
    odds = votes + (1 - row_sums(votes)) / 2
    np.maximum(odds, 0.0, out=odds)  # roundoff may leave -1e-17
    total = row_sums(odds)
    if len(total) and total.min() <= 0:  # votes that add up to much more than 1, which only features give
        return ratio(odds, total, 1 / votes.shape[1])
    odds /= total
    return odds


def shares(votes: Array) -> Array:
    """Return votes, at least 0, as shares: what is missing to 1 is divided among the classes, and more than 1 is scaled down."""
    votes = np.maximum(votes, 0.0)
    reach = row_sums(votes)
    return votes / np.maximum(reach, 1.0) + np.maximum(1 - reach, 0.0) / votes.shape[1]


def soften(p: Array, alpha: float, shares: Array | None = None) -> Array:
    r"""Return the doubt blend :math:`\alpha\,\pi + (1-\alpha)\,p` (34); without class shares π, each class has 1/C."""
    if alpha == 0:
        return p
    return (alpha / p.shape[1] if shares is None else alpha * shares) + (1 - alpha) * p


def frequencies(counts: Array, classes: int) -> Array:
    """Return (n_c + 1)/(t + C) for each row of counts: the class prior that t labels suggest."""
    return np.asarray((counts + 1) / (counts.sum(axis=-1, keepdims=True) + classes))


def price(chances: Array, classes: int) -> Array:
    """Return what answers cost that had these chances, in nats: −ln of them, a share ODD of all answers drawn at random."""
    return np.asarray(-np.log((1 - ODD) * chances + ODD / classes))


def leading(scores: Array) -> BoolArray:
    """Return which classes have the highest score of their row, within 1e-9."""
    found: BoolArray = scores >= scores.max(axis=1, keepdims=True) - TIE
    return found


def decide(scores: Array) -> IntArray:
    """Return the class with the highest score in each row; a tie (within 1e-9) goes to the class that was named first."""
    return leading(scores).argmax(axis=1)
