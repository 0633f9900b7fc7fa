"""Whether neighbors share labels: how often labeled nodes next to each other have the same one, beside chance.

A graph is of use as far as neighbors agree. Two labeled nodes that are neighbors show whether they do; as long as few labeled nodes
are neighbors little is known, and the graph is trusted.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from askgraph.answers import coding
from askgraph.field import Field, nodes_of, once_per_field
from askgraph.readouts.temperature import from_others
from askgraph.types import Array, IntArray

USELESS = 0.05  # the probability, before any label is known, that neighbors agree no more often than any two nodes do

STEPS = (np.arange(10_000) + 0.5) / 10_000  # of rates that are averaged over: fine enough for a million trials


class Agreement(NamedTuple):
    """Trials, those that hit, and the rate of hits that chance alone gives."""

    trials: float
    hits: float
    chance: float

    @property
    def doubt(self) -> float:
        """How much these trials speak for a rate of hits that is no higher than by chance, from 0 (not at all) to 1.

        The rate is taken to be uniform below or above chance, below it with the probability ``USELESS`` before the first
        trial; what trials add to this probability is the doubt, as a share of what they could add.
        """
        if not self.trials or not 0 < self.chance < 1:
            return 0.0
        below, above = self.chance * STEPS, self.chance + (1 - self.chance) * STEPS
        logs = self.hits * np.log([below, above]) + (self.trials - self.hits) * np.log1p([-below, -above])
        useless, useful = np.exp(logs - logs.max()).mean(axis=1) * (USELESS, 1 - USELESS)
        return max(float(useless / (useless + useful) - USELESS) / (1 - USELESS), 0.0)


@once_per_field
def shares_preferred(field: Field) -> float:
    """Return the weight of the class shares beside predictions along the graph, from 0 to 1, computed once per field.

    With features, predictions may be good though neighbors differ: there leave-one-out has to speak for the shares, too, also where
    labels speak for the graph alone. Labels that are asked for lie where classes meet, and their neighbors differ more than others.
    """
    weight = neighbors_agree(field).doubt
    return weight * others_agree(field).doubt if weight and field.origin.described else weight


def neighbors_agree(field: Field) -> Agreement:
    """Return how often the labeled neighbors of a labeled node share its label.

    A trial is a labeled node with labeled neighbors, and hits by the share of their weight that has the same label. Two neighbors
    see each other, so each counts as half a trial. A label that is alone in its class cannot be shared, and is left out.
    """
    nodes, labels = _known(field)
    counts = np.bincount(labels, minlength=field.coding.width)
    same, around = _weights_around(field, nodes, labels)
    some = (counts[labels] > 1) & (around > 0)
    if not some.any():
        return Agreement(0.0, 0.0, 0.0)
    chance = (counts[labels[some]] - 1) / (nodes.size - 1)
    return Agreement(some.sum() / 2, float((same[some] / around[some]).sum()) / 2, float(chance.mean()))


def _known(field: Field) -> tuple[IntArray, IntArray]:
    """Return the nodes and the classes of the labels that name one class."""
    known = [x for x in field.known if coding.is_class(x.said)]
    return nodes_of(known), np.array([x.said for x in known], dtype=np.int64)


def _weights_around(field: Field, nodes: IntArray, labels: IntArray) -> tuple[Array, Array]:
    """Return the weights that tie each labeled node to labeled nodes of its class, and to all labeled nodes."""
    same, around, space, classes = np.zeros(nodes.size), np.zeros(nodes.size), field.space, np.unique(labels)
    for part in coding.parts(space.most_rows, classes.size):
        own = labels[:, None] == classes[part]
        told = space.put(space.zeros(own.shape[1]), nodes, 1.0 * own)
        weights = space.pick(field.origin.neighbors(told), nodes)
        same += (weights * own).sum(axis=1)
        around += weights.sum(axis=1)
    return same, around


def others_agree(field: Field) -> Agreement:
    """Return how often all other labels predict a label, beside the share of the commonest class."""
    left, p = from_others(field)
    counts = np.bincount(left.said, minlength=field.coding.width)
    some = counts[left.said] > 1
    if not some.any():
        return Agreement(0.0, 0.0, 0.0)
    hits = coding.decide(p[some]) == left.said[some]
    return Agreement(float(some.sum()), float(hits.sum()), float(counts.max() / some.sum()))
