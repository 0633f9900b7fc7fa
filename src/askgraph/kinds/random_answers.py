"""What answers about items drawn at random prove: a range of the share of wrong predictions that holds whatever the graph.

Of N items, a share is predicted wrong; m of them are drawn without replacement. For each share, numbers of wrong ones are accepted
until 90 % of draws have an accepted one; the range is all shares that accept the number found. So at least 90 % of ranges hold the
true share, however wrong the model is. The model decides which numbers are accepted first: those likelier under the share than by
what was expected. Of all ranges with this proof, these are the shortest on average where the model is right (Pratt 1961, Length of
confidence intervals).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from askgraph.types import AnyArray, Array, BoolArray

LEVEL = 0.9  # the share of draws in which a range holds, at least
RARE = 0.05  # the share of draws below which what was found is held to contradict an estimate
PRIOR = 4.0  # random answers that the expected share counts as
TRUST = 0.1  # how likely the model is to be right; else any share is as likely
FINE = 400  # steps between 0 and 1 that shares are tried in, where there are more items


class Drawn(NamedTuple):
    """Items drawn at random: how many, and how many of them were predicted wrong."""

    items: int
    wrong: int

    def value(self, expected: float) -> float:
        """Return the share wrong, between what was found and what a model expects."""
        return (PRIOR * expected + self.wrong) / (PRIOR + self.items)

    def least(self) -> float:
        """Return the least share wrong at which at least as many wrong ones as here come up in one draw of twenty.

        >>> round(Drawn(3, 3).least(), 2), round(Drawn(7, 1).least(), 3), Drawn(5, 0).least()
        (0.37, 0.007, 0.0)
        """
        from scipy.special import betaincinv

        return float(betaincinv(self.wrong, self.items - self.wrong + 1, RARE)) if self.wrong else 0.0

    def range(self, population: int, expected: float) -> tuple[float, float]:
        """Return the lowest and the highest share of wrong ones in the population that accept what was found."""
        tried = np.unique(
            np.round(np.append(np.linspace(0, population, FINE + 1), population * self.wrong / self.items))
        )
        found = np.arange(self.items + 1)
        ways = _ways(tried[:, None], found) + _ways(population - tried[:, None], self.items - found)
        chances = np.exp(ways - ways.max(axis=1, keepdims=True))
        chances /= chances.sum(axis=1, keepdims=True)
        accepted = _accepted(chances, chances / self._expectation(expected))[:, self.wrong]
        accepted[np.abs(tried - population * self.wrong / self.items).argmin()] = True
        at = np.flatnonzero(accepted)
        step = int(tried.size <= population)  # shares between those tried belong to the range, too
        low, high = tried[max(at[0] - step, 0)], tried[min(at[-1] + step, tried.size - 1)]
        return float(low / population), float(high / population)

    def _expectation(self, expected: float) -> Array:
        """Return how likely each number of wrong ones is, by the model and by a share that may be anything."""
        from scipy.special import betaln

        found = np.arange(self.items + 1)
        a, b = PRIOR * expected + 0.5, PRIOR * (1 - expected) + 0.5
        modelled = np.exp(_ways(self.items, found) + betaln(found + a, self.items - found + b) - betaln(a, b))
        return np.asarray(TRUST * modelled + (1 - TRUST) / (self.items + 1))


def drawn(wrong: Sequence[bool]) -> Drawn:
    """Return the items drawn, given of each whether it was predicted wrong."""
    return Drawn(len(wrong), sum(map(bool, wrong)))


def _ways(of: float | AnyArray, chosen: AnyArray) -> Array:
    """Return the logarithm of the number of ways to choose ``chosen`` items of ``of``; -inf where there is none."""
    from scipy.special import gammaln

    possible = chosen <= of
    some = np.where(possible, chosen, 0)
    return np.asarray(np.where(possible, gammaln(of + 1.0) - gammaln(some + 1.0) - gammaln(of - some + 1.0), -np.inf))


def _accepted(chances: Array, preferred: Array) -> BoolArray:
    """Return which numbers each share accepts: the preferred ones first, until they come up often enough."""
    order = np.argsort(-preferred, axis=1, kind="stable")
    sorted_chances = np.take_along_axis(chances, order, axis=1)
    needed = np.cumsum(sorted_chances, axis=1) - sorted_chances < LEVEL
    accepted: BoolArray = np.zeros(chances.shape, dtype=bool)
    np.put_along_axis(accepted, order, needed, axis=1)
    return np.logical_and(accepted, chances > 0)
