"""Several classes per node: how likely each is, by votes that leave-one-out calibrates, and which ones a node has.

The vote for a class is h_c, and where answers do not reach, the share q_c of answers with the class. How much votes and shares tell
is the same for all classes: logit p = a + b logit h + c logit q, with a, b and c by leave-one-out, drawn to p = h.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import expit, logit

from askgraph.field import Field, once_per_field
from askgraph.field.leave_one_out import left_out
from askgraph.types import Array, BoolArray, IntArray

FAINT = 1e-3  # votes are read between this and one less this
USUAL = (0.0, 1.0, 0.0)  # a, b and c before any label
PULL = 16.0  # the precision with which they are drawn there
ROUNDS, CLOSE = 50, 1e-8  # steps of Newton's method, at most; a step that ends it


class Calibrated(NamedTuple):
    """How votes become probabilities, and the share of each class."""

    weights: Array  # a, b and c
    shares: Array  # of each class

    def chances(self, votes: Array) -> Array:
        """Return the probability of each class at nodes with these votes, one row per node."""
        return np.clip(expit(_signs(votes, self.shares) @ self.weights), FAINT, 1 - FAINT)


@once_per_field
def calibrated(field: Field) -> Calibrated:
    """Return how the votes of a field become probabilities, by leave-one-out of its labels."""
    left = left_out(field)
    rows = field.coding.rows(left.said.tolist())[:, 1:]
    counts, n = field.coding.totals([x.said for x in field.known])[1:], field.held
    shares = (counts + 0.5) / (n + 1)
    without = (counts - rows + 0.5) / n if n else rows
    weights = _fitted(_signs(left.votes, without).reshape(-1, 3), rows.ravel())
    return Calibrated(weights, shares)


def chances_of_each(field: Field, votes: Array | None = None) -> Array:
    """Return the probability of each class, one row per node or per row of votes; labels stand at their nodes."""
    found = calibrated(field).chances(field.space.to_numpy(field.votes if votes is None else votes))
    p: Array = field.space.asarray(found)
    if votes is not None or not field.held:
        return p
    nodes, rows = np.array([x.node for x in field.known]), field.coding.rows([x.said for x in field.known])
    return field.space.put(p, nodes, rows[:, 1:])


def cut_as_expected(p: Array, labeled: BoolArray, counts: Array) -> BoolArray:
    """Return which classes nodes have: of the nodes without a label the likeliest, as many as the probabilities add up to.

    A class without any label is predicted nowhere.

    >>> p = np.array([[0.9, 0.2], [0.3, 0.1], [0.1, 0.3], [1.0, 0.0]])
    >>> cut_as_expected(p, np.array([False, False, False, True]), np.array([1, 0])).tolist()
    [[True, False], [False, False], [False, False], [True, False]]
    """
    has: BoolArray = p > 0.5
    rest = np.flatnonzero(~labeled)
    has[rest] = False
    order = np.argsort(-p[rest], axis=0, kind="stable")
    for c, many in enumerate(_expected(p[rest], counts).tolist()):
        has[rest[order[:many, c]], c] = True
    return has


def thresholds(field: Field, p: Array) -> Array:
    """Return above which probability a node outside the graph has each class, p being those of all nodes.

    As many nodes are above as their probabilities add up to; of a labeled node, what all others say of it counts. A class without
    any label is predicted nowhere.
    """
    left, found = left_out(field), calibrated(field)
    rest = field.space.gather(~field.labeled)
    every = np.sort(np.concatenate([p[rest], found.chances(left.votes)]), axis=0)[::-1]
    many = _expected(every, field.coding.totals([x.said for x in field.known])[1:])
    ends = np.concatenate([np.full_like(every[:1], np.inf), every, np.full_like(every[:1], -np.inf)])
    columns = np.arange(many.size)
    return np.asarray((ends[many, columns] + ends[many + 1, columns]) / 2)


def _expected(p: Array, counts: Array) -> IntArray:
    """Return how many rows are expected to have each class; none of a class without any label."""
    return np.where(counts > 0, np.round(p.sum(axis=0)), 0).astype(np.int64)


def _signs(votes: Array, shares: Array) -> Array:
    """Return (1, logit h, logit q) of each row and class; what answers do not reach counts as the share."""
    reach = np.clip(votes[:, :1], 0.0, 1.0)
    h = np.clip(votes[:, 1:] + (1 - reach) * shares, FAINT, 1 - FAINT)
    q = np.broadcast_to(np.clip(shares, FAINT, 1 - FAINT), h.shape)
    return np.stack([np.ones_like(h), logit(h), logit(q)], axis=-1)


def _fitted(signs: Array, said: Array) -> Array:
    """Return the weights of a logistic regression, drawn to the usual ones: by Newton's method, with shorter steps where needed."""
    start = np.array(USUAL)

    def cost(weights: Array) -> float:
        z = signs @ weights
        return float((np.logaddexp(0.0, z) - said * z).sum() + PULL / 2 * ((weights - start) ** 2).sum())

    weights, now = start.copy(), cost(start)
    for _ in range(ROUNDS):
        p = expit(signs @ weights)
        slope = signs.T @ (said - p) - PULL * (weights - start)
        curve = (signs * (p * (1 - p))[:, None]).T @ signs + PULL * np.eye(3)
        step = np.linalg.solve(curve, slope)
        while np.abs(step).max() > CLOSE and (then := cost(weights + step)) > now:
            step = step / 2
        if np.abs(step).max() <= CLOSE:
            break
        weights, now = weights + step, then
    return weights
