"""Numbers: their mean and spread at each node, with the trend and the unit that the answers speak for.

With K the covariance of the answers, noise included, y = m + s(ψ + noise) has the trend m = 1ᵀK⁻¹y / 1ᵀK⁻¹1 and the variance
s² = (y − m)ᵀK⁻¹(y − m)/(t − 1); the mean of a node is m + h_y − m h_1, by the fields of the numbers and of ones, and another answer
there has the variance s² (g_ii + γ² + (1 − h_1)²/1ᵀK⁻¹1), by Student's t with t − 1 degrees of freedom. No answer is exact, so
K⁻¹Y is (Y − h)/γ² at the labeled nodes, and all of this takes no solve.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import solve_triangular

from askgraph.answers.numbers import Values
from askgraph.field import Field, nodes_of, once_per_field, rows_of
from askgraph.field.leave_one_out import Supposed, left_out
from askgraph.types import Array, IntArray

ENOUGH, MARGIN = 20, 3.0  # answers, and nats, from which logarithms are read where nobody says


class Fit(NamedTuple):
    """The trend and the unit of numbers, or of their logarithms."""

    mean: float  # m
    variance: float  # s²
    degrees: int  # t − 1
    precision: float  # of the trend, 1ᵀK⁻¹1
    column: int  # of the field: 1 for numbers as they are, 2 for their logarithms

    @property
    def logs(self) -> bool:
        """Whether logarithms are read."""
        return self.column > 1


class Spread(NamedTuple):
    """The mean of another answer at some nodes, and its scale: both of the logarithm where logarithms are read."""

    mean: Array
    scale: Array


@once_per_field
def fit(field: Field, link: str) -> Fit:
    """Return the trend and the unit; ``link`` is "identity", "log", or "auto" for the one that the numbers are likelier by."""
    known = field.known
    Y, noise = rows_of(field.coding, known), field.label_noise(known)
    pull = (Y - field.space.pick(field.votes, nodes_of(known))) / noise[:, None] ** 2  # K⁻¹Y
    products = Y.T @ pull
    plain = _fit(products, Y, 1)
    if link == "identity" or (link == "auto" and Y[:, 1].min() <= 0):
        return plain
    logs = _fit(products, Y, 2)
    return logs if link == "log" or _preferred(logs, plain, Y) else plain


def spread(field: Field, link: str) -> Spread:
    """Return the mean and the scale of another answer at all rows of this process."""
    return spread_of(field, link, field.votes, field.spread.variance)


def spread_of(field: Field, link: str, votes: Array, variance: Array) -> Spread:
    """Return the same of rows with these votes and variances of the field, in the graph or not."""
    found = fit(field, link)
    mean = found.mean + votes[:, found.column] - found.mean * votes[:, 0]
    noise = field.noise**2 + field.origin.noise**2
    whole = variance + noise + (1 - votes[:, 0]) ** 2 / found.precision
    return Spread(mean, np.sqrt(found.variance * np.maximum(whole, 0.0)))


class Others(NamedTuple):
    """What all other answers say at each labeled node, and by how much the answer there differs."""

    nodes: IntArray
    mean: Array
    gap: Array  # the answer less this mean
    scale: Array  # of the gap


def by_others(field: Field, link: str, every: bool = False) -> Others:
    """Return leave-one-out of numbers, or of their logarithms; the trend is that of the other answers.

    With P = K⁻¹ − K⁻¹1 1ᵀK⁻¹ / 1ᵀK⁻¹1, an answer differs from what all others say by (Py)_l / P_ll.
    """
    left, found = left_out(field, every), fit(field, link)
    rows = field.coding.rows(left.said.tolist())
    pull = (rows - left.votes) / left.variance[:, None]  # K⁻¹Y
    centered = pull[:, found.column] - found.mean * pull[:, 0]
    precision = 1 / left.variance - pull[:, 0] ** 2 / found.precision
    gap = centered / precision
    return Others(left.nodes, rows[:, found.column] - gap, gap, np.sqrt(found.variance / precision))


def loss(told: Supposed, link: str) -> float:
    """Return −ln of the likelihood of numbers, the trend and the unit integrated out, up to a constant."""
    columns = told.columns
    y = np.array([x.said for x in told.known], dtype=float)
    return _cost(columns.inverse, y, link)


def cost(covariance: Array, values: Array, link: str = "identity") -> float:
    """Return the same, summed over columns of numbers with this covariance, noise included."""
    inverse = solve_triangular(np.linalg.cholesky(covariance), np.eye(len(values)), lower=True)
    return sum(_cost(inverse, y, link) for y in values.T)


def _cost(inverse: Array, y: Array, link: str) -> float:
    """Return the same, given R⁻¹ of K = R Rᵀ."""
    Y = Values(link != "identity").rows(y.tolist())
    part = inverse @ Y
    products = part.T @ part
    found = _fit(products, Y, 2 if link == "log" else 1)
    if link == "auto" and y.min() > 0 and _preferred(logs := _fit(products, Y, 2), found, Y):
        found = logs
    return float(_costs(found, Y) - np.log(np.diagonal(inverse)).sum() + np.log(products[0, 0]) / 2)


def _fit(products: Array, Y: Array, column: int) -> Fit:
    """Return the fit, given YᵀK⁻¹Y; numbers that are all equal say nothing of how far others are."""
    mean, degrees = products[0, column] / products[0, 0], len(Y) - 1
    left = max(float(products[column, column] - mean * products[0, column]), np.finfo(float).tiny)
    known = degrees and np.ptp(Y[:, column]) > 0
    return Fit(float(mean), left / degrees if known else np.inf, degrees, float(products[0, 0]), column)


def _preferred(logs: Fit, plain: Fit, Y: Array) -> bool:
    """Return whether numbers are so much likelier by their logarithms that these are read."""
    return len(Y) >= ENOUGH and _costs(logs, Y) + MARGIN < _costs(plain, Y)


def _costs(found: Fit, Y: Array) -> float:
    """Return the part of −ln of the likelihood that depends on the unit and on the link."""
    if not np.isfinite(found.variance):
        return 0.0
    stretch = Y[:, 2].mean() if found.logs else 0.0  # d ln y / dy
    return float(found.degrees * (np.log(found.variance) / 2 + stretch))
