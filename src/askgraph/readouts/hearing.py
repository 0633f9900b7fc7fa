"""Whether to average a node's probabilities with its neighbors': by exact leave-one-out of both.

On a graph alone the mean over neighbors is nearly always the better prediction. With features a node's own votes may know more
than its neighbors do, above all where neighbors are often of another class. So each label is left out in turn, its neighbors are
read without it, and what they say together is priced beside what the node's own votes say.
"""

from __future__ import annotations

import numpy as np

from askgraph.field import Field, coding
from askgraph.field.leave_one_out import pulls
from askgraph.readouts.temperature import FAINT, ODD, Evidence
from askgraph.types import Array, IntArray

HEARD = 0.9  # the share of the neighbors in a consensus; the rest is the node's own
EXPONENTS = (1.0, 1.5, 2.0, 3.0, 4.0, 6.0)  # that make up for the mean being less sure
MARGIN = 1.0  # nats, summed over the labels: neighbors are left out where that is better by more


def hears(field: Field) -> bool:
    """Return whether the neighbors are heard: always on a graph alone, and with features unless labels speak against it."""
    if not field.origin.signed:
        return True
    found: bool = field.once("hears", lambda: _better_heard(field))
    return found


def _better_heard(field: Field) -> bool:
    evidence = Evidence.of(field)
    if evidence is None or evidence.seen.size < 2 or not evidence.counted.any():
        return True
    own = evidence.freely[2]
    return not own + MARGIN < _loss(heard_without(field, evidence), evidence)


def heard_without(field: Field, evidence: Evidence) -> Array:
    """Return what each label left out and its neighbors say together without it, one row per label."""
    left, W = evidence.left, field.origin.precision.graph.weights
    spans = [slice(W.indptr[node], W.indptr[node + 1]) for node in left.nodes.tolist()]
    ends = [W.indices[span] for span in spans]
    owner = np.repeat(np.arange(left.nodes.size), [some.size for some in ends])
    if not owner.size:
        return evidence.predicted
    every, weight = np.concatenate(ends), np.concatenate([W.data[span] for span in spans])
    gap = np.eye(evidence.classes)[left.labels] - left.votes
    moved = np.concatenate(pulls(field, left.nodes, ends))[:, None] * gap[owner]
    votes = np.maximum(field.space.pick(field.votes, every) - moved, 0.0)
    told = field.space.pick(field.certain, every)
    p = np.where(told[:, None], field.space.pick(field.certain_votes, every), _read(votes, evidence, owner))
    around = np.zeros((left.nodes.size, evidence.classes))
    np.add.at(around, owner, weight[:, None] * p)
    total = np.asarray(np.bincount(owner, weight, left.nodes.size), dtype=float)
    return np.asarray(
        (1 - HEARD) * evidence.predicted + HEARD * coding.ratio(around, total[:, None], evidence.predicted)
    )


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
    q, labels = q[evidence.counted], evidence.left.labels[evidence.counted]
    powers = [q**power for power in EXPONENTS]
    chances = [x[np.arange(labels.size), labels] / x.sum(axis=1) for x in powers]
    return float(min(-np.log((1 - ODD) * p + ODD / evidence.classes).sum() for p in chances))
