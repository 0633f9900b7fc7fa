"""Rows that repeat: which rows are copies of each other, and the pairs that tie copies and join them to their neighbors.

Neighbors are looked for among distinct rows, one for each set of copies. The copies of a set form a ring with chords: the one at
place r is tied to those at r + 1, r + 2, r + 4, … up to half way around. So any two of m copies are a few ties apart, none is a
hub, and there are at most m log₂ m ties, where all pairs would be m². Two neighboring sets are joined copy by copy: each copy
of the larger set once, but no copy of the smaller one more than SEVERAL times.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from askgraph.types import AnyArray, Array, BoolArray, IntArray

SEVERAL = 3  # copies of a neighbor that a row is joined to: with one a set hears little, with all there are hubs
NUMBERS_PER_BLOCK = 100_000  # numbers hashed or compared at a time (800 kB, which stay in cache)
SPREAD = np.uint64(0x9E3779B97F4A7C15)  # an odd factor that carries each bit of a number into many of its product


@dataclass(frozen=True)
class Copies:
    """The first row of each set of copies, in the order of rows, and for each row the number of its set."""

    first: IntArray
    of: IntArray

    @property
    def note(self) -> str:
        """A sentence that says which share of the rows equals an earlier one."""
        share, distinct = 100 * (1 - self.first.size / self.of.size), f"{self.first.size:,} distinct"
        return (
            f"{share:.3g}% of the rows repeat an earlier one: copies are tied, and neighbors are among {distinct} rows"
        )

    def joined(self, i: IntArray, j: IntArray, weights: Array) -> tuple[IntArray, IntArray, Array]:
        """Return pairs of rows for pairs (i, j) of sets with these weights, and ties of weight 1 between copies."""
        a, b, pairs = self._between(i, j)
        one, other = self._ties()
        return np.append(a, one), np.append(b, other), np.append(weights[pairs], np.ones(one.size))

    def some(self, sets: IntArray) -> tuple[IntArray, IntArray]:
        """Return up to SEVERAL rows of each of these sets, evenly spaced, and for each row the place of its set."""
        counts = np.minimum(self._sizes[sets], SEVERAL)
        at, steps = _counted_up(counts)
        return self._rows_at(sets[at], steps * self._sizes[sets[at]] // counts[at]), at

    def means(self, values: Array) -> Array:
        """Return the mean of the rows of each set, one row of values per row of the table."""
        members = csr_array((np.ones(self.of.size), (self.of, np.arange(self.of.size))))
        return np.asarray(members @ values / self._sizes[:, None])

    @cached_property
    def _sizes(self) -> IntArray:
        return np.bincount(self.of)

    @cached_property
    def _starts(self) -> IntArray:
        return np.cumsum(self._sizes) - self._sizes

    @cached_property
    def _rows(self) -> IntArray:
        """The rows, one set after the other."""
        return np.argsort(self.of, kind="stable")

    def _rows_at(self, sets: IntArray, places: IntArray) -> IntArray:
        """Return the rows at some places of sets, counted around."""
        return self._rows[self._starts[sets] + places % self._sizes[sets]]

    def _ties(self) -> tuple[IntArray, IntArray]:
        """Return pairs of copies: each with those 1, 2, 4, … places on, up to half way around."""
        sets, places = _counted_up(self._sizes)
        steps = 1 << np.arange(int(self._sizes.max()).bit_length() - 1)
        some = [np.flatnonzero(self._sizes[sets] >= 2 * step) for step in steps]
        other = [self._rows_at(sets[at], places[at] + step) for at, step in zip(some, steps, strict=True)]
        return self._rows[np.concatenate(some)], np.concatenate(other)

    def _between(self, i: IntArray, j: IntArray) -> tuple[IntArray, IntArray, IntArray]:
        """Return pairs of rows of the sets i and j, and for each the place of its pair of sets.

        Different neighbors of a set begin at different places of it, so that its copies have about as many of them.
        """
        here, there = self._sizes[i], self._sizes[j]
        pairs, steps = _counted_up(np.minimum(np.maximum(here, there), SEVERAL * np.minimum(here, there)))
        a, b = i[pairs], j[pairs]
        return self._rows_at(a, steps + b), self._rows_at(b, steps + a), pairs


def find_copies(points: Any) -> Copies:
    """Return the sets of equal rows of a table, dense or csr, told by hashes first and then number by number.

    >>> find_copies(np.array([[1.0, 2.0], [0.0, 3.0], [1.0, 2.0], [-0.0, 3.0]]))
    Copies(first=array([0, 1]), of=array([0, 1, 0, 1]))
    """
    hashes, rest = _hashes(points), np.arange(points.shape[0])
    if (np.diff(np.sort(hashes)) > 0).all():
        return Copies(rest, rest)
    leader = rest.copy()
    while rest.size:  # more than once only where rows that differ have the same hash
        _, start, of = np.unique(hashes[rest], return_index=True, return_inverse=True)
        other = rest[start[of]]
        later = other < rest
        rest, other = rest[later], other[later]
        same = _equal(points, rest, other)
        leader[rest[same]] = other[same]
        rest = rest[~same]
    return Copies(*np.unique(leader, return_inverse=True))


def _counted_up(counts: IntArray) -> tuple[IntArray, IntArray]:
    """Return each place of ``counts`` as often as it says, and beside it 0, 1, 2, …

    >>> _counted_up(np.array([2, 0, 3]))
    (array([0, 0, 2, 2, 2]), array([0, 1, 0, 1, 2]))
    """
    places = np.repeat(np.arange(counts.size), counts)
    return places, np.arange(places.size) - np.repeat(np.cumsum(counts) - counts, counts)


def _hashes(points: Any) -> AnyArray:
    """Return one hash per row: the sum, modulo 2⁶⁴, of the mixed bits of each number times a factor of its column."""
    factors = np.random.default_rng(0).integers(2**63, size=points.shape[1], dtype=np.uint64) * 2 + 1
    if issparse(points):
        sums = np.append(np.uint64(0), np.cumsum(_mixed(points.data) * factors[points.indices]))
        return np.asarray(sums[points.indptr[1:]] - sums[points.indptr[:-1]])
    return np.concatenate([_mixed(points[rows]) @ factors for rows in _blocks(*points.shape)])


def _mixed(values: Array) -> AnyArray:
    """Return the bits of numbers, mixed, since small whole numbers differ in few of them; 0 for 0 and −0."""
    bits: AnyArray = np.add(values, 0.0, order="C").view(np.uint64)
    bits ^= bits >> np.uint64(32)
    bits *= SPREAD
    bits ^= bits >> np.uint64(29)
    return bits


def _equal(points: Any, rows: IntArray, others: IntArray) -> BoolArray:
    """Return whether rows equal other rows, number by number."""
    if issparse(points):
        gaps = points[rows] - points[others]
        gaps.eliminate_zeros()
        return np.asarray(np.diff(gaps.indptr) == 0)
    same = np.empty(rows.size, dtype=bool)
    for some in _blocks(rows.size, points.shape[1]):
        same[some] = (points[rows[some]] == points[others[some]]).all(axis=1)
    return same


def _blocks(rows: int, columns: int) -> list[slice]:
    """Return slices of rows, NUMBERS_PER_BLOCK numbers each."""
    step = max(1, NUMBERS_PER_BLOCK // columns)
    return [slice(start, start + step) for start in range(0, rows, step)]
