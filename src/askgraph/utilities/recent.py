"""Criteria that came after the paper (Miller, Bertozzi, Calder, Murray 2021–2025).

Each takes the field, candidate nodes and p, which plays no part here; larger is better.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.sparse import csr_array

from askgraph.answers import coding
from askgraph.errors import ConvergenceError
from askgraph.field import Field, nodes_of
from askgraph.graph import Graph
from askgraph.graph.clean import LARGEST_WEIGHT
from askgraph.priors.base import Prior
from askgraph.priors.direct import Direct
from askgraph.priors.iterative import Iterative
from askgraph.priors.precision import Precision
from askgraph.types import Array, IntArray
from askgraph.utilities import closed

CHUNK_BYTES = 64_000_000  # of columns of G₀ held at a time
FAINT = 1e-5  # the least factor w of a node in the reweighted graph
RIDGE, LEAST_RIDGE = 1e-3, 1e-9  # τ before the first label, and once there are twice as many labels as classes


def model_change(field: Field, rows: IntArray, p: Array) -> Array:
    r"""Return the least change of the votes over the answers, :math:`\min_y \|e_y - h_i\|_2 \, \|g_i\|_2 / (g_{ii} + \gamma^2)`.

    (Miller & Bertozzi 2024.) At two classes :math:`\|e_y - h\|^2 = ((y - \mu)^2 + (1 - H)^2) / 2`: where labels reach a node in
    full (H = 1) this is their :math:`\min_y |y - \mu|` over √2, and it is larger the less they do. The ±1 form itself is the root
    of msd with ``expect="min"``.
    """
    votes = coding.at_least_two(field.votes)[rows]
    nearest = votes.argmax(axis=1)
    gap = np.sqrt(sum((votes[:, c] - (nearest == c)) ** 2 for c in range(votes.shape[1])))
    return gap * field.spread.influence_l2[rows] / closed.innovation(field, rows)


def mcvopt(field: Field, rows: IntArray, p: Array) -> Array:
    r"""Return variance minimization at small margins, :math:`(1 - (h_{c_1} - h_{c_2})) \, \|g_i\|_2^2 / (g_{ii} + \gamma^2)`.

    The votes h, not the ±1 means, for the best and the second class, as in the literature (Miller et al. 2022).
    """
    return (1 + closed.margin(field, rows, p) / 2) * closed.variance_minimization(field, rows, p)


def dirichlet(field: Field, rows: IntArray, p: Array, prior: float = 1.0) -> Array:
    r"""Return the variance of a Dirichlet distribution, :math:`(1 - \sum_c \alpha_c^2 / \alpha_0^2) / (1 + \alpha_0)`.

    (DiAL, Miller & Murray 2023.) :math:`\alpha_c` is ``prior``, 1 for the uniform one, plus what each label of class c lends:
    :math:`P_l` with :math:`(L + \delta I) P_l = e_l - 1/n`, shifted to the minimum 0, scaled to 1 at l: one solve per label.
    """
    known, Y = _known(field)
    lent, width = coding.at_least_two(Y), max(1, CHUNK_BYTES // (8 * field.space.most_rows))
    alpha = field.origin.space.zeros(lent.shape[1]) + prior
    for start in range(0, known.size, width):
        chunk = slice(start, start + width)
        alpha += _propagated(field.origin, known[chunk]) @ field.origin.space.asarray(lent[chunk])
    alpha = alpha[rows]
    total = coding.row_sums(alpha)[:, 0]
    return (1 - np.einsum("ic,ic->i", alpha, alpha) / total**2) / (1 + total)


def minimum_norm(field: Field, rows: IntArray, p: Array) -> Array:
    r"""Return how little labels reach a node in the reweighted graph, :math:`1 - \|u_i\|_2` (PWLL-τ, Miller & Calder 2023)."""
    u = reweighted(field)[rows]
    return 1 - np.sqrt((u * u).sum(axis=1))


def reweighted(field: Field) -> Array:
    r"""Return the votes u (n × C) in the graph that Poisson's equation reweights, :math:`W' = \mathrm{diag}(w) W \mathrm{diag}(w)`.

    u is harmonic under :math:`L' + \tau I` and one-hot at the labels, whatever their noise; τ falls with every label held. The
    graph depends on where the labels are, so each question takes a factorization of its own, and one for w. Both are made
    without cancellation: the inverse of the dense engine would lose τ beside the weights.
    """
    known, Y = _known(field)
    origin, tau = field.origin.precision, _ridge(known.size, field.coding.width)
    engine = Direct if field.origin.exact else Iterative
    with np.errstate(over="ignore", invalid="ignore"):  # what comes of these is refused
        graph = _between(origin.graph, _poisson(engine, origin, known))
    prior = engine(Precision.of(graph, tau).folded(known, np.zeros(known.size)))
    u = np.zeros((graph.n_nodes, field.coding.width))
    u[known] = Y
    return field.space.asarray(u + prior.solve(graph.weights @ u))


def _known(field: Field) -> tuple[IntArray, Array]:
    """Return the nodes whose label is known, and their one-hot rows; a pending node has no label."""
    return nodes_of(field.known), field.coding.rows([x.said for x in field.known])


def _propagated(origin: Prior, nodes: IntArray) -> Array:
    """Return P_l, one column per node: (L + δI)⁻¹1 = 1/δ on any graph, so 1/n only shifts G₀[:, l], which the minimum undoes."""
    P = origin.columns(nodes)
    P = P + origin.space.asarray(origin.space.highest(-P))
    return P / origin.space.asarray(origin.space.pick(P, nodes).diagonal())


def _poisson(engine: type[Prior], origin: Precision, nodes: IntArray) -> Array:
    """Return w with Lw = Σ_l (e_l − 1/n), the mean 0 on every component, raised to the least weight.

    A component has its own 1/n: else there is no solution. L is solved with one node of each held at 0.
    """
    part = origin.graph.components()
    told = np.bincount(nodes, minlength=part.size).astype(float)
    first = np.unique(part, return_index=True)[1]
    grounded = engine(replace(origin.folded(first, np.zeros(first.size)), delta=0.0))
    w = _centered(grounded.solve(_centered(told, part)), part)
    return np.asarray(w - w.min() + FAINT)


def _centered(x: Array, part: IntArray) -> Array:
    """Return x less its mean over each component."""
    return np.asarray(x - (np.bincount(part, x) / np.bincount(part))[part])


def _between(graph: Graph, w: Array) -> Graph:
    """Return the graph with weights w_i W_ij w_j."""
    W = graph.weights
    row = np.repeat(np.arange(w.size), np.diff(W.indptr))
    data = W.data * (w[row] * w[W.indices])
    if not (data <= LARGEST_WEIGHT).all():
        raise ConvergenceError(
            "the weights are too small for the reweighted graph, whose least weight has a unit of its own: divide the weights by a "
            "typical one"
        )
    return Graph(csr_array((data, W.indices, W.indptr), shape=W.shape))


def _ridge(held: int, classes: int) -> float:
    """Return τ: the least one is reached in twice as many labels as there are classes."""
    share = min(1.0, held / (2 * max(classes, 2)))
    return float(RIDGE * (LEAST_RIDGE / RIDGE) ** share)
