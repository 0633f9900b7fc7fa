"""What the labels say of each other and of the graph: which look wrong, and what to do about a graph that does not fit."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np

from askgraph.field import Field
from askgraph.readouts import View
from askgraph.readouts.cautious import ONE_SIDED, doubt
from askgraph.readouts.temperature import from_all_others, from_others
from askgraph.types import Array, IntArray

ENOUGH = 10  # labels, or audited labels, from which advice is given
# the probability of another class, by all other labels, above which a label is on the short list of suspects
SUSPICIOUS = 0.97
AUDIT = 20  # items that are proposed for an audit, if as many are left
REMEDY = "What helps: other features, another graph, or doing without one."
WARN_FROM = (
    18  # labels, from which a person is told that a graph predicts several classes or numbers no better than their mean
)
ERRING = 0.1  # share of labels that look wrong from which a person is told
NUMBERS = 8  # different numbers, and at least half of the answers, from which classes look like numbers
RARE = 0.3  # advice is given above this share of labels alone in their class: about as many items are of unseen classes


class Suspect(NamedTuple):
    """A label that all other labels contradict.

    Attributes
    ----------
    node : hashable
        The labeled node.
    label : hashable
        Its label.
    instead : hashable
        The class that is likeliest by all other labels.
    chance : float
        The probability of ``label`` by all other labels.

    Examples
    --------
    >>> import askgraph as ag
    >>> learner = ag.Learner(ag.chain(9), rng=0)
    >>> learner.tell_all({0: "a", 1: "a", 2: "b", 3: "a", 4: "a", 7: "b", 8: "b"})
    >>> worst = learner.judge.suspects(every=True)[0]
    >>> worst.node, worst.label, worst.instead, worst.chance < 0.5
    (2, 'b', 'a', True)
    """

    node: Hashable
    label: Hashable
    instead: Hashable
    chance: float


def doubtful(field: Field, least: float = 0.0) -> tuple[IntArray, IntArray, IntArray, Array]:
    """Return four arrays on labels that another class beats, with at least this probability, by all other labels; worst first.

    They are the node, the index of the class of the label, the index of the better class, and the probability of the label.
    A short list goes by the field as it is; a list of all takes no discounts, which ranks wrong labels higher but would
    name many right ones.
    """
    left, p = from_others(field, every=True, anywhere=True) if least else from_all_others(field)
    if not left.nodes.size:
        return left.nodes, left.said, left.said, left.variance
    chance, instead = p[np.arange(left.nodes.size), left.said], p.argmax(axis=1)
    against = np.flatnonzero((p.max(axis=1) > chance) & (p.max(axis=1) >= least))
    against = against[np.argsort(chance[against], kind="stable")]
    return left.nodes[against], left.said[against], instead[against], chance[against]


def advice(field: Field, predicted: IntArray, told: IntArray) -> list[str]:
    """Return sentences that a person should know about this graph.

    ``predicted`` and ``told`` are class indices of the audited nodes: as predicted, and as told.
    """
    return list(findings(field, predicted, told).values())


def findings(field: Field, predicted: IntArray, told: IntArray) -> dict[str, str]:
    """Return the sentences of ``advice`` by what they are about: "fit", "rare" classes, parts that are "untold"."""
    counts = View.of(field).counts
    counts = counts[counts > 0]
    found = {"fit": _judged(predicted, told) if told.size >= ENOUGH else _in_doubt(field)}
    if counts.sum() >= ENOUGH:
        found |= {"rare": _rarity(counts), "untold": _untold(field)}
    return {about: sentence for about, sentence in found.items() if sentence}


def said_of_numbers(labels: Sequence[Hashable]) -> list[str]:
    """Return a sentence where classes look like numbers that were measured or rated; else nothing."""
    numbers = [label for label in labels if isinstance(label, int | float) and not isinstance(label, bool)]
    different = len(set(numbers))
    if len(numbers) < len(labels) or different < NUMBERS or 2 * different < len(numbers):
        return []
    return [
        f"{different} different numbers in {len(numbers)} answers, and each counts as a class of its own: if they are "
        "measurements, make a learner with answers='numbers'; if they are steps, with answers='ordered'."
    ]


def said_of_wrong(share: float, labels: int) -> list[str]:
    """Return a sentence where many labels look wrong by the others; else nothing."""
    if share < ERRING:
        return []
    return [
        f"About {share:.0%} of the answers look wrong, by what {labels} labels say of each other; each counts for less, so that "
        "its neighbors can overrule it. To look at them again, the likeliest first: learner.judge.suspects(every=True)."
    ]


def _judged(predicted: IntArray, told: IntArray) -> str:
    """Return a sentence where audits say that guessing the commonest class is as good as predictions."""
    right, commonest = (
        float((predicted == told).mean()),
        float(np.unique(told, return_counts=True)[1].max() / told.size),
    )
    if right > commonest:
        return ""
    return (
        f"Neighbours rarely share labels: of {told.size} audited items {right:.0%} are predicted right, always "
        f"guessing the commonest class would get {commonest:.0%}. {REMEDY}"
    )


def _in_doubt(field: Field) -> str:
    """Return a sentence where the signs are that the graph does not predict the labels."""
    signs, left = doubt(field), int(field.space.total(~field.labeled))
    if not signs.warns or not left:
        return ""
    told = (
        "the commonest class is predicted for nearly every item"
        if signs.one_sided > ONE_SIDED
        else (f"probabilities leave {signs.unsure:.0%} to other classes than the predicted ones")
    )
    return (
        f"The graph hardly predicts these labels: read in two ways, the same {signs.labels} labels decide differently about "
        f"{signs.apart:.0%} of the other items, and {told}. Find out by items drawn at random: "
        f"learner.judge.audit({min(AUDIT, left)}). {REMEDY}"
    )


def _rarity(counts: Array) -> str:
    alone = int((counts == 1).sum())
    if alone <= RARE * counts.sum():
        return ""
    return (
        f"{alone} of {counts.size} classes have a single label, so about {alone / counts.sum():.0%} of the items may be of classes "
        "not seen yet: merge classes, or plan for at least five labels a class."
    )


def _untold(field: Field) -> str:
    prior, nodes = field.origin, np.array([x.node for x in field.observations], dtype=np.int64)
    home, rows = prior.components, np.arange(prior.space.n_rows)
    untold = ~np.isin(home, prior.space.asarray(np.unique(prior.space.pick(home, nodes))))
    first = home == prior.space.asarray(prior.space.nodes_of(rows))
    isolated = untold & (prior.component_sizes == 1)
    alone, dark, parts, single = (int(prior.space.total(some)) for some in (untold, untold & first, first, isolated))
    if not alone:
        return ""
    return (
        f"{dark:,} of {parts:,} components, {alone:,} of {prior.n_nodes:,} items, have no label: no answer elsewhere "
        f"tells anything about them.{_said_of_isolated(single)} Join them (more neighbours), label one of each, or leave them out."
    )


def _said_of_isolated(count: int) -> str:
    """Return what labels of items without a neighbor buy."""
    if not count:
        return ""
    return f" {count:,} of them have no neighbour at all: to label one of these is to know that one item, and nothing more."
