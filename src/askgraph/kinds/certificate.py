"""Certify what share of a class is found, by a random sample of what is left.

Of N nodes without an answer, n are drawn at random and all of these are answered; k of them are in the class. If K of the N are,
then k has the hypergeometric distribution. U is the largest K with which k or fewer turn up with a probability of 5 % or more
(Clopper and Pearson). Whatever K is, it exceeds U in less than 5 % of all samples. So with a confidence of 95 %, at least
F / (F + U − k) of the class is found, where F counts all that are found, the k of the sample among them.

Three things are needed, and kept to: the sample is drawn before anybody sees it, its size does not depend on its answers, and
nothing is said before all of it is answered. Answers to other nodes do no harm, whoever chose them: U bounds the whole rest, and
what is found there is found. Who draws again because the first sample did not prove enough has two chances to be misled: with j
samples the confidence is 1 − 0.05 j.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Mapping
from typing import NamedTuple

from askgraph.kinds.recall import largest

ALPHA = 0.05  # the probability with which a sample may mislead
ROUNDING = 1e-6  # of a probability: an error of arithmetic must not make a range too short
SHARES = (0.8, 0.9, 0.95)  # of a class, to be proven found
MOST = 0.5  # of what is left: beyond it a sample saves little, and reading all of it leaves nothing open


class Sample(NamedTuple):
    """Nodes drawn at random from those that had no answer, to certify what share of a class is found.

    Attributes
    ----------
    label : hashable
        The class, or what else is sought.
    nodes : tuple of hashable
        The nodes, to be answered all.
    left : int
        The number of nodes that had no answer.
    answered : frozenset of hashable
        The nodes that had one, or were set aside.
    """

    label: Hashable
    nodes: tuple[Hashable, ...]
    left: int
    answered: frozenset[Hashable]


class Certificate(NamedTuple):
    """What a random sample proves of the share of a class that is found.

    Attributes
    ----------
    found : int
        How many nodes of the class are found, those of the sample among them.
    missed : int or None
        How many may be left at most; None until the whole sample is answered.
    share : float or None
        The share that is found at least; None until the whole sample is answered.
    confidence : float
        The probability with which the share is at least that: 0.95, and 0.05 less for each sample read before.
    sample : int
        The size of the sample.
    read : int
        How many of it are answered.
    hits : int
        How many of it are in the class.
    left : int
        How many nodes it was drawn from.
    """

    found: int
    missed: int | None
    share: float | None
    confidence: float
    sample: int
    read: int
    hits: int
    left: int

    def __str__(self) -> str:
        """Return the certificate as a sentence."""
        if self.share is None:
            return (
                f"{self.read:,} of {self.sample:,} items of the random sample are read; no certificate before all are"
            )
        return (
            f"at least {percent(self.share)} found, with {self.confidence:.0%} confidence ({self.found:,} found; "
            f"{self.sample:,} items drawn at random of the {self.left:,} left were read, {self.hits:,} of them in the class)"
        )


def percent(share: float) -> str:
    """Return a share that is proven as a percentage, rounded down.

    >>> percent(0.9599), percent(1.0)
    ('95%', '100%')
    """
    return f"{int(100 * share + ROUNDING)}%"


def most_in_rest(left: int, read: int, hits: int, alpha: float = ALPHA) -> int:
    """Return how many of the nodes that are left may be in the class, by a random sample of them.

    Parameters
    ----------
    left : int
        The number of nodes that the sample was drawn from.
    read : int
        The size of the sample.
    hits : int
        How many of the sample are in the class.
    alpha : float
        The probability with which the number may be too small.

    Returns
    -------
    int
        The upper end of the exact one-sided range of the number, the sample counted.

    Examples
    --------
    >>> most_in_rest(1000, 100, 0)  # about the rule of three: 3 / 100
    28
    >>> most_in_rest(1000, 1000, 2)
    2
    """
    rest = left - read
    return hits + largest(lambda more: _chance(left, hits + more, read, hits) > alpha * (1 - ROUNDING), rest)


def _chance(left: int, wanted: int, read: int, hits: int) -> float:
    """Return the probability that at most ``hits`` of ``read`` drawn nodes are in the class, if ``wanted`` of ``left`` are."""
    if hits >= min(read, wanted):
        return 1.0
    all_ways = _log_ways(left, read)
    least = max(0, read - (left - wanted))
    tail = (_log_ways(wanted, k) + _log_ways(left - wanted, read - k) - all_ways for k in range(least, hits + 1))
    return math.fsum(map(math.exp, tail))


def _log_ways(n: int, k: int) -> float:
    """Return the logarithm of the number of ways to choose k of n."""
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def proven(found: int, left: int, read: int, hits: int) -> float:
    """Return the share of a class that is proven found once a sample of ``read`` nodes is labeled, ``hits`` of them in the class.

    >>> round(proven(60, 1000, 400, 0), 3), round(proven(60, 1000, 400, 2), 3)
    (0.923, 0.849)
    """
    most = most_in_rest(left, read, hits)
    return (found + hits) / (found + most) if found + most else 1.0


def to_read(found: int, left: int, share: float) -> int:
    """Return how many nodes to draw at random so that a share of the class is proven found if none of them is in the class.

    Parameters
    ----------
    found : int
        The number found so far.
    left : int
        The number of nodes without an answer.
    share : float
        The share to be proven.

    Returns
    -------
    int
        The number; 0 where it is proven whatever is left, and nearly all that are left where nothing is found.

    Examples
    --------
    >>> [to_read(60, 1000, share) for share in (0.8, 0.9, 0.95)]
    [170, 348, 527]
    """
    allowed = int(found / share - found + ROUNDING) if share else left
    if allowed >= left:
        return 0
    return left - largest(lambda fewer: most_in_rest(left, left - fewer, 0) <= allowed, left)


def confidence(samples: int) -> float:
    """Return the confidence of a certificate after a number of samples: each of them may mislead.

    >>> round(confidence(2), 2)
    0.9
    """
    return max(0.0, 1 - ALPHA * samples)


def certify(
    sample: Sample, told: Mapping[Hashable, bool], aside: Collection[Hashable] = (), samples: int = 1
) -> Certificate:
    """Return what a sample proves.

    Parameters
    ----------
    sample : Sample
        The sample.
    told : mapping
        Whether each node that has an answer is in the class, for the nodes that there were when the sample was drawn.
    aside : collection of hashable
        The nodes that were set aside for good: nobody calls them a member of the class.
    samples : int
        How many samples were read for this class, this one among them.

    Returns
    -------
    Certificate
        What is proven.
    """
    known = told.keys() | set(aside)
    found, before = sum(told.values()), sum(told.get(node, False) for node in sample.answered)
    read, hits = sum(node in known for node in sample.nodes), sum(told.get(node, False) for node in sample.nodes)
    counts = (confidence(samples), len(sample.nodes), read, hits, sample.left)
    if read < len(sample.nodes):
        return Certificate(found, None, None, *counts)
    most, unread = most_in_rest(sample.left, read, hits), sample.left - len(known - sample.answered)
    more = most - (found - before)
    missed = (unread if more < 0 else min(more, unread)) + len(sample.answered - known)  # below 0 the sample misled
    return Certificate(found, missed, found / (found + missed) if found + missed else 1.0, *counts)
