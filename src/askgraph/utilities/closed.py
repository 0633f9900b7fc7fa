"""Utilities that read the summaries of the field: O(C n) for all nodes.

Each takes the field, the rows of the candidates and the label probabilities p (len(rows) × C) of the expectation; larger is
better. A row is an index into the arrays of this process; ``field.space.nodes_of(rows)`` gives the nodes.
With observation noise γ, at hubs perhaps more, the update divides by g_ii + γ² where the paper divides by g_ii.

‖g_i‖₁ is 1/δ everywhere before labels, so influence ranks by 1/g_ii. On a connected graph g_ii is 1/(nδ), which all nodes share,
plus what is local, about 1/d_i. With δ a thousandth of the mean degree the shared part is as large as the local one at a thousand
nodes and less than a tenth of it beyond LARGE nodes, where the score would grow like the degree. There influence goes on as if
nodes shared 1/d of a node in the middle, so that a hub is hardly more than twice as good as that node with the same ‖g‖₁ and votes.
"""

from __future__ import annotations

import numpy as np

from askgraph.answers import coding
from askgraph.field import Field
from askgraph.options import Form
from askgraph.types import Array, IntArray

LARGE = 10_000  # nodes


def total_variation(field: Field, rows: IntArray, p: Array, form: Form = "printed") -> Array:
    r"""Return the expected change of all label distributions, :math:`u_i \|g_i\|_1 / g_{ii}` (24), (30)."""
    return surprise(field, rows, p, 1, form) * field.spread.influence_l1[rows] / innovation(field, rows)


def mean_square_deviation(field: Field, rows: IntArray, p: Array, form: Form = "printed") -> Array:
    r"""Return the expected squared change of the field, :math:`u_i \|g_i\|_2^2 / g_{ii}^2` (27)."""
    return surprise(field, rows, p, 2, form) * (field.spread.influence_l2[rows] / innovation(field, rows)) ** 2


def field_kl(field: Field, rows: IntArray, p: Array, form: Form = "printed") -> Array:
    r"""Return the expected KL divergence of the Gaussian field, :math:`u_i / (2 g_{ii})` (16)."""
    return surprise(field, rows, p, 2, form) / (2 * innovation(field, rows))


def variance_minimization(field: Field, rows: IntArray, p: Array) -> Array:
    r"""Return the reduction of total variance, :math:`\|g_i\|_2^2 / g_{ii}` (Ji & Han 2012)."""
    norm = field.spread.influence_l2[rows]
    return norm * (norm / innovation(field, rows))  # in this order: the square may overflow


def sigma_optimality(field: Field, rows: IntArray, p: Array) -> Array:
    r"""Return the reduction of total covariance, :math:`\|g_i\|_1^2 / g_{ii}` (Ma et al. 2013)."""
    norm = field.spread.influence_l1[rows]
    return norm * (norm / innovation(field, rows))


def uncertain_influence(field: Field, rows: IntArray, p: Array) -> Array:
    r"""Return Σ-optimality where the label is open: :math:`u_i^2 \|g_i\|_1^2 / g_{ii}`, u the openness that the coding sees.

    For classes that is :math:`1 - \sum_c (h_c + (1-H)/C)^2`. This utility reads the votes themselves, so p plays no part. On a
    graph of more than LARGE nodes 1/d is added to g_ii, with d the median degree.
    """
    signed, norm = field.origin.signed, field.spread.influence_l1[rows]
    if signed:  # votes and sums of covariances may be below 0, and then count as 0
        norm = np.maximum(norm, 0.0)
    open_ = field.coding.openness(field.votes[rows], signed)
    variance = innovation(field, rows)
    if field.space.n_nodes > LARGE:
        variance = variance + 1 / field.origin.middle_degree
    return open_**2 * norm * (norm / variance)  # in this order: the square may overflow


def margin(field: Field, rows: IntArray, p: Array) -> Array:
    r"""Return the minimum margin, :math:`-(\mu_i^{(c_1)} - \mu_i^{(c_2)})` of the best and the second class."""
    votes = coding.at_least_two(field.votes)[rows]
    second, first = np.partition(votes, -2, axis=1)[:, -2:].T
    return -2 * (first - second)  # μ_c − μ_d = 2 (h_c − h_d)


def innovation(field: Field, rows: IntArray) -> Array:
    """Return g_ii + γ², the variance of the coming label."""
    variance = field.spread.variance[rows] + (field.noise**2 + field.origin.noise**2)
    if field.discount is not None:
        variance = variance + field.discount(field.origin, lambda x: x[rows])
    return np.maximum(variance, np.finfo(float).tiny)


def surprise(field: Field, rows: IntArray, p: Array, power: int, form: Form) -> Array:
    r"""Return the uncertainty factor u.

    Derived: :math:`\sum_c p_c (1 - \mu_c)^k + (1 - p_c)(1 + \mu_c)^k`, the exact expectation. Two classes are two mirrored
    fields, so half of it is the binary :math:`1 - \mu^2`, in all forms. Above two classes, printed is
    :math:`\sum_c (1 - p_c^2)`, and means is the same of the fields themselves, :math:`\sum_c (1 - \mu_c^2)`.
    """
    classes = p.shape[1]
    if form == "printed" and classes > 2:
        return classes - np.einsum("ic,ic->i", p, p)
    mu = coding.means(coding.at_least_two(field.votes)[rows])
    if form == "means" and classes > 2:
        return classes - np.einsum("ic,ic->i", mu, mu)
    gaps = p * (1 - mu) ** power + (1 - p) * (1 + mu) ** power
    return coding.row_sums(gaps)[:, 0] / (2 if classes == 2 else 1)
