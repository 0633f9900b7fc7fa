"""Whether to average a node's probabilities with its neighbors': by exact leave-one-out of both.

On a graph alone the mean over neighbors is nearly always the better prediction. With features a node's own votes may know more
than its neighbors do, above all where neighbors are often of another class. So each label is left out in turn, its neighbors are
read without it, and what they say together is priced beside what the node's own votes say.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from askgraph.answers import coding
from askgraph.answers.coding import Coding
from askgraph.field import Field, Observation, once_per_field
from askgraph.field.leave_one_out import Told, supposed_in
from askgraph.priors.base import Prior
from askgraph.readouts.temperature import FAINT, Evidence, not_alone
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


def surprise_heard(prior: Prior, labels: Sequence[Observation], coded: Coding) -> tuple[float, int]:
    """Return -Σ ln p of labels in nats, each from all others, by the node's own votes or with its neighbors: what is less.

    The number is that of the labels that are not alone in their class, which count. The prior has no label yet. This takes one
    solve per label.
    """
    told, counted = supposed_in(prior, labels, coded, around=True), not_alone(labels)
    evidence = Evidence.of(told)
    if evidence is None or evidence.seen.size < 2 or not counted:
        return (evidence.freely[2] if evidence else counted * np.log(coded.width)), counted
    return min(evidence.freely[2], _loss(heard_without(told, evidence), evidence)), counted


def heard_without(told: Told, evidence: Evidence) -> Array:
    """Return what labels left out and their neighbors say together; a neighbor that was told a label says that label."""
    left, own, count = evidence.left, evidence.predicted, evidence.left.nodes.size
    around = told.origin.precision.graph.weights[left.nodes]
    owner, every, weight = np.repeat(np.arange(count), np.diff(around.indptr)), around.indices, around.data
    if not owner.size:
        return own
    gap = np.eye(evidence.classes)[left.said] - left.votes
    votes = np.maximum(told.space.pick(told.votes, every) - np.concatenate(left.moved)[:, None] * gap[owner], 0.0)
    certain = {x.node: x.said for x in told.known if x.exact and coding.is_class(x.said)}
    p, label = _read(votes, evidence, owner), np.array([certain.get(node, -1) for node in every.tolist()])
    p[label >= 0] = np.eye(evidence.classes)[label[label >= 0]]
    heard = np.zeros((count, evidence.classes))
    np.add.at(heard, owner, weight[:, None] * p)
    total = np.asarray(np.bincount(owner, weight, count), dtype=float)
    return np.asarray((1 - HEARD) * own + HEARD * coding.ratio(heard, total[:, None], own))


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
