"""Where the graph does not predict the labels, the class shares do: signs of it, and a readout that mixes the shares in.

A person is warned by signs. Labels that were asked for are not a random sample, so their leave-one-out error alone says little.
But where a graph says nothing, two ways to read the same votes decide differently, the probabilities are low, and the labels are
hardly less surprising to each other than to the class shares. Together these three are a sign. The thresholds were chosen on 36
graphs. The readout goes by less, and step by step: by whether neighbors share labels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from askgraph.answers import coding
from askgraph.field import Field
from askgraph.readouts.agreement import shares_preferred
from askgraph.readouts.by_class import Block, ByClass, blocks_of, first_highest
from askgraph.readouts.readouts import Consensus, Mass
from askgraph.readouts.temperature import from_others
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


def doubt(field: Field) -> Doubt:
    """Return the signs that the graph does not predict the labels, computed once per field."""
    found: Doubt = field.once("doubt", lambda: _doubt(field))
    return found


def _doubt(field: Field) -> Doubt:
    rest, total = ~field.labeled, field.space.total
    unlabeled, counts = int(total(rest)), field.counts
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
    blocks = blocks_of(field, top=1)
    if len(blocks) > 1:  # too many classes for an array of all of them
        consensus, mass = Consensus()._by_class(field, blocks), Mass()._by_class(field, blocks)
        return *first_highest(field, blocks, consensus), first_highest(field, blocks, mass)[0]
    p = Consensus.of_nodes(field)
    return coding.decide(p), p.max(axis=1), coding.decide(Mass()(field))


def _surprising(field: Field) -> float:
    """Return the loss of labels by all others over their loss by the class shares, over labels not alone in their class."""
    (left, p), counts = from_others(field), field.counts
    here = counts[left.said] > 1
    chances = p[np.arange(left.said.size), left.said][here]
    shares = (counts[left.said] - 0.5)[here] / (field.held - 1 + np.count_nonzero(counts) / 2)
    by_shares = -np.log(shares).sum()
    by_others = coding.price(chances, field.coding.width).sum()
    return float(by_others / by_shares) if by_shares > 0 else 0.0


@dataclass(frozen=True)
class Cautious:
    """Consensus, mixed with the class shares as far as neighbors do not share labels. This is the readout of a learner by default.

    The weight of the shares is what the labels add to the probability that labeled neighbors agree no more often than by chance,
    which is 5 % before. It grows and falls step by step with each pair of labeled neighbors, and is 0 as long as there is none.
    With features it is multiplied by the same doubt about leave-one-out.

    Examples
    --------
    Where neighbors share labels, this is the consensus.

    >>> import askgraph as ag
    >>> field = ag.Field.start(ag.prior(ag.chain(6)), 2).observe(0, 0).observe(5, 1)
    >>> bool((ag.Cautious()(field) == ag.Consensus()(field)).all())
    True
    """

    def __call__(self, field: Field, votes: Array | None = None, links: csr_array | None = None) -> Array:
        """Return probabilities of all nodes; with ``votes`` and ``links``, of samples that links tie to nodes."""
        p, weight = Consensus()(field, votes, links), shares_preferred(field)
        if not weight:
            return p
        p = (1 - weight) * p + weight * field.space.asarray(class_shares(field))
        if votes is not None:
            return p
        return np.where(field.certain[:, None], field.certain_votes(), p)

    def _by_class(self, field: Field, blocks: Sequence[Block]) -> ByClass:
        """Return the same probabilities of the nodes as a function of a block of classes."""
        consensus, weight = Consensus()._by_class(field, blocks), shares_preferred(field)
        if not weight:
            return consensus
        shares, certain = class_shares(field), field.certain[:, None]

        def mixed(block: Block) -> Array:
            p = (1 - weight) * consensus(block) + weight * field.space.asarray(shares[block.classes])
            return np.where(certain, field.certain_votes(block.classes), p)

        return mixed


def class_shares(field: Field) -> Array:
    """Return the share of each class among the labels, 0 for a class without any."""
    shares = np.where(field.counts > 0, coding.frequencies(field.weighted_counts, field.coding.width), 0.0)
    return np.asarray(shares / shares.sum())
