"""Why this node: which labels speak for what it is, what its answer would change, and the part of the graph around it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from askgraph.errors import LabelError
from askgraph.field import Field, answer_weights
from askgraph.kinds.changes import expected_changes
from askgraph.layout.neighborhood import arrange, neighborhood
from askgraph.readouts import Readout
from askgraph.types import Array, IntArray

VOTERS, HEARD = 12, 0.9  # voters sure of a place in the drawing: at most this number, and this share of all weights
FAINT = 0.02  # a weight too small for that


class Why(NamedTuple):
    """Why a node: all by node index."""

    node: int
    voters: IntArray  # labeled nodes, the weightiest first
    weights: Array  # what each counts in the mean of the node
    changes: float  # how many predictions of other nodes are expected to change with its answer
    counts_for: float  # how much its label counts: 1, and less at a hub where labels of hubs count for less
    nodes: IntArray  # the neighborhood, the node first
    edges: IntArray  # its edges, a row of two nodes each
    strengths: Array  # their weights, the largest 1
    positions: Array  # of the nodes, in the unit square, the node in its middle


def why(field: Field, readout: Readout | None, node: int, after: Field | None = None) -> Why:
    """Return why this node is asked for, by one solve; ``after`` is ``field.awaiting(node)`` where that is known already.

    Of a labeled node: what the other labels say there. Its answer is known, so it changes nothing. Changes take most of the
    time, a readout an answer; without a readout they are nan.

    >>> import askgraph as ag
    >>> field = ag.Field.start(ag.prior(ag.chain(4), delta=1e-9), 2).observe(0, 0).observe(3, 1)
    >>> found = why(field, ag.Map(), 1)
    >>> found.voters.tolist(), found.weights.round(3).tolist(), round(found.changes, 3)
    ([0, 3], [0.667, 0.333], 0.667)
    """
    n = field.prior.n_nodes
    if not 0 <= node < n:
        raise LabelError(f"no node with index {node}: indices run from 0 to {n - 1}")
    labeled = bool(field.space.pick(field.labeled, node))
    after = None if labeled else after or field.awaiting(node)
    g = without_own(field, node) if after is None else field.space.gather(after.factor[:, -1]) * after.recent[-1].scale
    pull = field.origin.precision.graph.weights @ g
    voters, weights = _votes(field, node, g, pull)
    nodes = neighborhood(field, node, g, pull, voters[: weighty(weights)])
    edges, strengths, positions = arrange(field.origin.precision.graph.weights, nodes)
    changes = np.nan if readout is None else expected_changes(field, readout, node, after)
    counts_for = float(answer_weights(field.origin, np.array([node]), field.discount)[0])
    return Why(node, voters, weights, changes, counts_for, nodes, edges, strengths, positions)


def votes(field: Field, node: int) -> tuple[IntArray, Array]:
    r"""Return labeled nodes and what each counts in the node's mean, :math:`h_i = \sum_l w_l Y_l`, the weightiest first.

    :math:`w_l = (W g_i)_l`, or :math:`g_{il} / \gamma_l^2` where the label has noise; what is missing to Σ w = 1 is the
    prior's. The node's own label is left out; answers that are awaited are too, though they have their share.
    """
    g = without_own(field, node)
    return _votes(field, node, g, field.origin.precision.graph.weights @ g)


def without_own(field: Field, node: int) -> Array:
    r"""Return g_i, the node's column of G_t; of a labeled node, as it would be without its label.

    That is :math:`g_i / (1 - g_{ii}/\gamma^2)`, or where G_t has no such row any more, with :math:`x = G_t W_i`,
    :math:`(x + e_i) / (d_i + \delta - W_i^T x)`.
    """
    here = np.array([node])
    if field.space.pick(field.free, node):
        g = field.space.gather(field.columns(here)[:, 0])
        told = float((field.label_noise([x for x in field.observations if x.node == node]) ** -2.0).sum())
        return np.asarray(g / (1 - told * g[node]))
    Q = field.origin.precision
    row = Q.graph.weights[here].toarray()[0]
    x = field.space.gather(field.apply(field.space.asarray(row) * field.free) * field.free)
    x[node] = 1.0
    return np.asarray(x / (Q.graph.degrees[node] + Q.delta - row @ x))


def _votes(field: Field, node: int, g: Array, pull: Array) -> tuple[IntArray, Array]:
    known = [x for x in field.known if x.node != node]
    nodes, noise = np.array([x.node for x in known], dtype=np.int64), field.label_noise(known)
    weights = np.divide(g[nodes], noise**2, out=pull[nodes], where=noise > 0)
    heaviest = np.argsort(-weights, kind="stable")
    return nodes[heaviest], weights[heaviest]


def weighty(weights: Array) -> int:
    """Return how many voters, the weightiest first, make up most of the weights; faint ones do not count.

    >>> weighty(np.array([0.6, 0.3, 0.05, 0.0]))
    2
    """
    enough = int(np.searchsorted(np.cumsum(weights), HEARD * weights.sum())) + 1
    return min(enough, VOTERS, int(np.count_nonzero(weights >= FAINT)))
