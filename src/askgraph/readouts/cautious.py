"""Where the graph does not predict the labels, the class shares do: signs of it, and a readout that mixes the shares in.

A person is warned by signs. Labels that were asked for are not a random sample, so their leave-one-out error alone says little.
But where a graph says nothing, two ways to read the same votes decide differently, the probabilities are low, and the labels are
hardly less surprising to each other than to the class shares. Together these three are a sign. The thresholds were chosen on 36
graphs. The readout goes by less, and step by step: by whether neighbors share labels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from askgraph.answers import coding
from askgraph.field import Field, once_per_field
from askgraph.readouts.agreement import shares_preferred
from askgraph.readouts.by_class import first_highest
from askgraph.readouts.readout import Readout, Steps
from askgraph.readouts.readouts import Consensus, Mass
from askgraph.readouts.temperature import from_others
from askgraph.readouts.view import ByBlock, View
from askgraph.types import Array, IntArray

APART = 0.1  # share of unlabeled nodes; in doubt, two readouts decide differently at more than this
ONE_SIDED, FAR_APART = 0.95, 0.2  # the same with one class predicted at more than 95 % of the nodes: in doubt too
UNSURE = 0.25  # in doubt, the mean of 1 − max p is above this
TOGETHER = 0.44  # in doubt, the sum of these two is above this
SURPRISING = 0.8  # in doubt, leave-one-out costs more than this share of what the class shares alone cost
LARGEST = 0.32  # in doubt, the commonest class has more than this share of the labels; else the graph tells something
WARN_FROM = 18  # labels


class Doubt(NamedTuple):
    """Signs that a graph does not predict its labels.

    Attributes
    ----------
    labels : int
        The number of labels.
    apart : float
        The share of unlabeled nodes at which class-mass normalization decides otherwise than consensus.
    unsure : float
        The mean of 1 − max p over the unlabeled nodes.
    surprising : float
        The leave-one-out loss of the labels over the loss by class shares alone: about 1 where the graph says nothing.
    largest : float
        The share of the commonest class among the labels.
    one_sided : float
        The share of unlabeled nodes that are predicted to be of the class predicted most often.
    """

    labels: int
    apart: float
    unsure: float
    surprising: float
    largest: float
    one_sided: float

    @property
    def grave(self) -> bool:
        """Whether all signs are there."""
        hesitant = self.apart > APART and self.unsure > UNSURE and self.apart + self.unsure > TOGETHER
        return bool(hesitant and self.surprising > SURPRISING and self.largest > LARGEST)

    @property
    def warns(self) -> bool:
        """Whether a person should be warned."""
        constant = self.apart > FAR_APART and self.one_sided > ONE_SIDED and LARGEST < self.largest < ONE_SIDED
        return bool(self.labels >= WARN_FROM and (self.grave or constant))


@once_per_field
def doubt(field: Field) -> Doubt:
    """Return the signs that the graph does not predict the labels, computed once per field."""
    rest, total = ~field.labeled, field.space.total
    unlabeled, counts = int(total(rest)), View.of(field).counts
    if not unlabeled or not field.held:
        return Doubt(field.held, 0.0, 0.0, 0.0, float(counts.max(initial=0.0) / max(field.held, 1)), 0.0)
    decided, likely, otherwise = _decisions(field)
    predicted = [total(rest & (decided == c)) for c in range(field.coding.width)]
    return Doubt(
        field.held,
        float(total(rest & (decided != otherwise)) / unlabeled),
        float(1 - total(likely * rest) / unlabeled),
        _surprising(field),
        float(counts.max() / field.held),
        float(max(predicted) / unlabeled),
    )


def _decisions(field: Field) -> tuple[IntArray, Array, IntArray]:
    """Return what consensus decides of each node, how likely that is, and what class-mass normalization decides."""
    few = len(coding.parts(field.space.most_rows, field.coding.width)) <= 1
    view = View.of(field) if few else View.in_parts(field, top=1)
    return *first_highest(view, Consensus().by_block(view)), first_highest(view, Mass().by_block(view))[0]


def _surprising(field: Field) -> float:
    """Return the loss of labels by all others over their loss by the class shares, over labels not alone in their class."""
    (left, p), counts = from_others(field), View.of(field).counts
    here = counts[left.said] > 1
    chances = p[np.arange(left.said.size), left.said][here]
    shares = (counts[left.said] - 0.5)[here] / (field.held - 1 + np.count_nonzero(counts) / 2)
    by_shares = -np.log(shares).sum()
    by_others = coding.price(chances, field.coding.width).sum()
    return float(by_others / by_shares) if by_shares > 0 else 0.0


@dataclass(frozen=True)
class Cautious(Readout):
    """Consensus, mixed with the class shares as far as neighbors do not share labels. This is the readout of a learner by default.

    The weight of the shares is what the labels add to the probability that labeled neighbors agree no more often than by chance,
    which is 5 % before. It grows and falls step by step with each pair of labeled neighbors, and is 0 as long as there is none.
    With features, whether they count or not, it is multiplied by the same doubt about leave-one-out.

    Examples
    --------
    Where neighbors share labels, this is the consensus.

    >>> import askgraph as ag
    >>> field = ag.Field.start(ag.prior(ag.chain(6)), 2).observe(0, 0).observe(5, 1)
    >>> bool((ag.Cautious()(field) == ag.Consensus()(field)).all())
    True
    """

    def by_block(self, view: View) -> ByBlock:
        """Return the consensus, mixed with the class shares."""
        consensus, weight = Consensus().by_block(view), self.weight_of_shares(view.field)
        if not weight:
            return consensus
        shares = view.field.space.asarray(class_shares(view.field))
        return lambda block: (1 - weight) * consensus(block) + weight * shares[block.columns]

    def steps(self, field: Field) -> Steps:
        """Return the steps of the consensus, mixed with the class shares.

        Parameters
        ----------
        field : Field
            The field.

        Returns
        -------
        tuple of array and callable
            The probabilities of nodes by their own votes, and the function of these and of those that the neighbors have.
        """
        (own, hear), weight = Consensus().steps(field), self.weight_of_shares(field)
        if not weight:
            return own, hear
        mixed = (1 - weight) * own + weight * field.space.asarray(class_shares(field))
        return mixed, lambda own, others: (1 - weight) * hear(own, others) + weight * own

    def weight_of_shares(self, field: Field) -> float:
        """Return the weight of the class shares.

        Parameters
        ----------
        field : Field
            The field.

        Returns
        -------
        float
            The weight, from 0 to 1.
        """
        return shares_preferred(field)


def class_shares(field: Field) -> Array:
    """Return the share of each class among the labels, 0 for a class without any."""
    view = View.of(field)
    shares = np.where(view.counts > 0, coding.frequencies(view.weighted_counts, field.coding.width), 0.0)
    return np.asarray(shares / shares.sum())
