"""Find all nodes of a class: how many are still to be found, with a range that holds.

Before each answer, R of the N unlabeled nodes belong to the class. A node drawn at random does so with probability R/N; one that
was asked for because it is likely does so at least as often, unless the ranking is worse than chance. So a number of nodes
in the class is too high if answers would then have said "yes" more often than they did. How much too high is measured by
betting: if the number is true, whoever bets on fewer at fair odds multiplies their stake by 1/α or more with a probability of
at most α (Markov's inequality). The numbers against which a stake grows beyond that are not in the range.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from askgraph.types import Array, BoolArray

WIDEST = 2  # times the fewest that there may be: if there may be more, nobody knows how many are left
LARGEST = 500.0  # of a logarithm of a stake: beyond it, nothing changes
ALPHA = 0.05  # on each side of the range
FEWER = (0.01, 0.1, 0.25, 0.5, 0.75)  # stakes after a "yes", in bets that there are fewer in the class
MORE = (2.0, 5.0, 20.0, 100.0)  # and in bets that there are more
SINCE = (
    0.0,
    0.5,
    0.75,
    0.875,
)  # share of the answers after which a bet begins: early ones say little about what is left


class Left(NamedTuple):
    """How many nodes of a class are found, about how many are left to find, and a 90 % range of these."""

    found: int
    value: float
    low: int
    high: int

    @property
    def known(self) -> bool:
        """Whether it can be said how many are left: the most that there may be are at most twice the fewest.

        >>> Left(21, 223.0, 0, 1525).known, Left(50, 12.0, 5, 30).known
        (False, True)
        """
        return self.found + self.high <= WIDEST * (self.found + self.low)

    def __str__(self) -> str:
        """Return the figures in a line."""
        if not self.known:
            return f"{self.found:,} found, too early to say how many are left ({self.low:,} to {self.high:,})"
        return f"{self.found:,} found, about {self.value:,.0f} left ({self.low:,} to {self.high:,})"


def left_to_find(answers: Sequence[bool], drawn: Sequence[bool], n: int, expected: float) -> Left:
    """Return how many nodes of a class are left to find.

    Parameters
    ----------
    answers : sequence of bool
        Whether each labeled node is in the class, in the order of the answers.
    drawn : sequence of bool
        Whether each of them was drawn at random.
    n : int
        The number of all nodes.
    expected : float
        The sum of the probabilities of the class over the unlabeled nodes.

    Returns
    -------
    Left
        The number found, an estimate of those left, and its range.

    Examples
    --------
    >>> left = left_to_find([True] * 20 + [False] * 80, [False] * 100, 1000, expected=3.5)
    >>> left.found, left.value, left.low
    (20, 3.5, 0)
    >>> left.high < 200
    True
    """
    yes, at_random = np.array(answers, dtype=bool), np.array(drawn, dtype=bool)
    found, rest = int(yes.sum()), n - yes.size
    before = np.cumsum(yes) - yes
    pool = n - np.arange(yes.size)

    def grown(total: int, stakes: Sequence[float], counts: BoolArray) -> float:
        """Return what a stake of 1, spread over all bets that ``total`` is not the number of the class, has become."""
        share = np.clip((total - before) / pool, 0.0, 1.0)
        return float(np.mean([_stake(yes, share, counts, stake, since) for stake in stakes for since in SINCE]))

    everything = np.ones(yes.size, dtype=bool)
    high = largest(lambda left: grown(found + left, FEWER, everything) < 1 / ALPHA, rest)
    low = rest - largest(lambda more: grown(found + rest - more, MORE, at_random) < 1 / ALPHA, rest)
    low = min(low, high)
    return Left(found, float(np.clip(expected, low, high)), low, high)


def _stake(yes: BoolArray, share: Array, counts: BoolArray, stake: float, since: float) -> float:
    """Return what a stake of 1 has become: after a "yes" it is multiplied by ``stake``, and always by what makes that fair."""
    late = counts & (np.arange(yes.size) >= since * yes.size)
    gains = np.where(yes, np.log(stake), 0.0) - np.log(1 - share * (1 - stake))
    return float(np.exp(min(gains[late].sum(), LARGEST)))


def largest(holds: Callable[[int], bool], most: int) -> int:
    """Return the largest number from 0 to ``most`` for which a condition holds that holds up to some number, or 0."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if holds(middle) else (low, middle - 1)
    return low
