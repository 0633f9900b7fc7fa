"""Whether to average a node's probabilities with its neighbors': by exact leave-one-out of both.

On a graph alone the mean over neighbors is nearly always the better prediction. With features a node's own votes may know more
than its neighbors do, above all where neighbors are often of another class. So each label is left out in turn, its neighbors are
read without it, and what they say together is priced beside what the node's own votes say.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from askgraph.answers import coding
from askgraph.field import Field, Observation, once_per_field
from askgraph.field.leave_one_out import pulls
from askgraph.priors.base import Prior
from askgraph.readouts.temperature import FAINT, Evidence, evidence_alone
from askgraph.types import Array, IntArray

HEARD = 0.9  # the share of the neighbors in a consensus; the rest is the node's own
EXPONENTS = (1.0, 1.5, 2.0, 3.0, 4.0, 6.0)  # that make up for the mean being less sure
MARGIN = 1.0  # nats, summed over the labels: neighbors are left out where that is better by more


@once_per_field
def hears(field: Field) -> bool:
    """Return whether the neighbors are heard: always on a graph alone, and with features unless labels speak against it."""
    if not field.origin.signed:
        return True
    evidence = Evidence.of(field)
    if evidence is None or evidence.seen.size < 2 or not evidence.counted.any():
        return True
    own = evidence.freely[2]
    return not own + MARGIN < _loss(heard_without(field, evidence), evidence)


def surprise_heard(prior: Prior, labels: Sequence[Observation], classes: int) -> tuple[float, int]:
    """Return -Σ ln p of labels in nats, each from all others, by the node's own votes or with its neighbors: what is less.

    The number is that of the labels that are not alone in their class, which count. The prior has no label yet. This takes one
    solve per label.
    """
    ends, weights = _around(prior, [x.node for x in labels])
    votes, evidence, moved, counted = evidence_alone(prior, labels, classes, ends)
    if evidence is None or evidence.seen.size < 2 or not counted:
        return (evidence.freely[2] if evidence else counted * np.log(classes)), counted
    told = {x.node: x.said for x in labels}
    q = _heard(evidence, ends, weights, moved, lambda nodes: prior.space.pick(votes, nodes), told)
    return min(evidence.freely[2], _loss(q, evidence)), counted


def heard_without(field: Field, evidence: Evidence) -> Array:
    """Return what each label left out and its neighbors say together without it, one row per label."""
    nodes = evidence.left.nodes
    ends, weights = _around(field.origin, nodes.tolist())
    told = {x.node: x.said for x in field.known if x.exact}
    moved = pulls(field, nodes, ends)
    return _heard(evidence, ends, weights, moved, lambda nodes: field.space.pick(field.votes, nodes), told)


def _around(prior: Prior, nodes: Sequence[int]) -> tuple[list[IntArray], list[Array]]:
    """Return the neighbors of some nodes, and the weights of the edges to them."""
    W = prior.precision.graph.weights
    spans = [slice(W.indptr[node], W.indptr[node + 1]) for node in nodes]
    return [W.indices[span] for span in spans], [W.data[span] for span in spans]


def _heard(
    evidence: Evidence,
    ends: Sequence[IntArray],
    weights: Sequence[Array],
    moved: Sequence[Array],
    votes_at: Callable[[IntArray], Array],
    told: Mapping[int, int],
) -> Array:
    """Return what labels left out and their neighbors say together; a neighbor that was told a label says that label."""
    left, own, count = evidence.left, evidence.predicted, len(ends)
    owner = np.repeat(np.arange(count), [some.size for some in ends])
    if not owner.size:
        return own
    every, weight = np.concatenate(ends), np.concatenate(weights)
    gap = np.eye(evidence.classes)[left.said] - left.votes
    votes = np.maximum(votes_at(every) - np.concatenate(moved)[:, None] * gap[owner], 0.0)
    p, label = _read(votes, evidence, owner), np.array([told.get(node, -1) for node in every.tolist()])
    p[label >= 0] = np.eye(evidence.classes)[label[label >= 0]]
    around = np.zeros((count, evidence.classes))
    np.add.at(around, owner, weight[:, None] * p)
    total = np.asarray(np.bincount(owner, weight, count), dtype=float)
    return np.asarray((1 - HEARD) * own + HEARD * coding.ratio(around, total[:, None], own))


def _read(votes: Array, evidence: Evidence, owner: IntArray) -> Array:
    """Return the probabilities by these votes, each read without the label ``owner``."""
    tau, plain, _ = evidence.freely
    mean, prior = evidence.without(plain)
    logits = tau * np.log(votes[:, evidence.seen] / mean[owner] + FAINT) + np.log(prior[owner])
    scores, p = np.exp(logits - logits.max(axis=1, keepdims=True)), np.zeros_like(votes)
    p[:, evidence.seen] = scores / coding.row_sums(scores)
    reach = np.minimum(coding.row_sums(votes), 1.0)
    return reach * p + (1 - reach) / evidence.classes


def _loss(q: Array, evidence: Evidence) -> float:
    """Return -Σ ln q of the labels that are not alone in their class, at the exponent that is best."""
    q, labels = q[evidence.counted], evidence.left.said[evidence.counted]
    powers = [q**power for power in EXPONENTS]
    chances = [x[np.arange(labels.size), labels] / x.sum(axis=1) for x in powers]
    return float(min(coding.price(p, evidence.classes).sum() for p in chances))
