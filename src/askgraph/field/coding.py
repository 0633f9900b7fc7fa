"""Classes as one-vs-rest columns: votes, means, probabilities.

Votes h (n × C) are the field in 0/1 coding; H = Σ_c h_c is how far labels reach a node. The paper's ±1 mean is μ_c = 2 h_c − H.
"""

from __future__ import annotations

import numpy as np

from askgraph.types import Array, IntArray

TIE = 1e-9


def at_least_two(votes: Array) -> Array:
    """Votes with unseen classes added up to two: with one class seen, the rest is 'something else'."""
    missing = 2 - votes.shape[1]
    return np.pad(votes, ((0, 0), (0, missing))) if missing > 0 else votes


def by_class(votes: Array) -> Array:
    """Votes, each class contiguous."""
    return votes if votes.flags.f_contiguous else votes.copy(order="F")


def summed(rows: Array) -> Array:
    """The sum of each short row, as a column: a product is faster than ``sum`` along so short an axis."""
    return rows @ np.ones_like(rows, shape=(rows.shape[1], 1), order="C")


def ratio(a: Array, b: Array, otherwise: Array | float = 0.0) -> Array:
    """a / b where b is above 0, something else elsewhere."""
    some = b > 0
    return np.where(some, a / np.where(some, b, 1.0), otherwise)


def means(votes: Array) -> Array:
    r"""The ±1 mean of each one-vs-rest field, :math:`\mu_c = 2 h_c - H`."""
    return 2 * votes - summed(votes)


def chances(votes: Array) -> Array:
    r"""Class probabilities :math:`p_c \propto (1 + \mu_c)/2 = h_c + (1 - H)/2` (6)."""
    odds = votes + (1 - summed(votes)) / 2
    np.maximum(odds, 0.0, out=odds)  # roundoff may leave -1e-17
    odds /= summed(odds)
    return odds


def soften(p: Array, alpha: float) -> Array:
    r"""The doubt blend :math:`\alpha/C + (1-\alpha)\,p` (34)."""
    return p if alpha == 0 else alpha / p.shape[1] + (1 - alpha) * p


def frequencies(counts: Array, classes: int) -> Array:
    """(n_c + 1)/(t + C), a row of counts each: the class prior that t labels suggest."""
    return np.asarray((counts + 1) / (counts.sum(axis=-1, keepdims=True) + classes))


def decide(scores: Array) -> IntArray:
    """The class with the highest score in each row; a tie (within 1e-9) goes to the class that was named first."""
    near = scores >= scores.max(axis=1, keepdims=True) - TIE
    return near.argmax(axis=1)
