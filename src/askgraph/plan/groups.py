"""Items that look alike and that are predicted alike: to be confirmed together, in one step."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from askgraph.answers import coding
from askgraph.graph import Graph
from askgraph.plan.rule import Rule
from askgraph.plan.turn import Question, Turn
from askgraph.types import Array, IntArray

SURE = 0.9  # the probability from which a prediction is good enough to be confirmed in a group
STEPS = 3  # of the walk from the first item to the others: its neighbors, theirs, and theirs


class Group(NamedTuple):
    """Nodes that look alike and are predicted alike.

    Attributes
    ----------
    label : hashable
        The label that is predicted for all of them.
    nodes : list of hashable
        The nodes, the most alike first.
    chance : float
        The mean probability of the label.

    Examples
    --------
    >>> import askgraph as ag
    >>> learner = ag.Learner(ag.communities((30, 30), rng=0)[0], rng=0)
    >>> learner.tell_all({0: "left", 1: "left", 40: "right", 41: "right"})
    >>> group = learner.judge.group(6)
    >>> group.label, len(group.nodes), group.chance >= 0.9
    ('left', 6, True)
    """

    label: Hashable
    nodes: list[Hashable]
    chance: float


@dataclass(frozen=True)
class Groups(Rule):
    """Ask for nodes that look alike and are predicted alike, to be confirmed together."""

    graph: Graph
    size: int

    def takes(self, turn: Turn, n: int) -> Sequence[Question]:
        """Return the questions of a group, each with the label predicted; none where there are not two such nodes."""
        if not turn.classes or not turn.field.held:
            return ()
        space = turn.field.space
        mask = space.zeros(dtype=bool)
        mask[turn.rows] = True
        counts = turn.field.coding.totals([x.said for x in turn.field.known])
        label, nodes = alike(self.graph, space.gather(turn.read()), space.gather(mask), counts, self.size)
        return [Question(node, "group", turn.classes[label]) for node in nodes.tolist()] if nodes.size > 1 else ()


def alike(graph: Graph, p: Array, open_: Array, counts: Array, n: int) -> tuple[int, IntArray]:
    """Return a class and up to n open nodes, alike, that are predicted to be in it with a probability of `SURE` or more.

    The class is the one with the fewest labels (``counts``) for its share of the predictions: many labels of one class at once
    would make the class seem more common than it is. The first node is the one with the most doubt around it, where a look
    is worth most. The others are those that a short walk along the edges from it reaches most likely.
    """
    sure, decided = p.max(axis=1), coding.decide(p)
    fit = open_ & (sure >= SURE)
    ready, shares = (np.bincount(decided[some], minlength=p.shape[1]) for some in (fit, slice(None)))
    if ready.max(initial=0) < 2:
        return -1, np.empty(0, dtype=np.int64)
    enough = ready >= min(n, ready.max())
    fit &= decided == int(np.argmin(np.where(enough, counts / np.maximum(shares, 1), np.inf)))
    doubt, degrees = np.where(fit, 1 - sure, 0.0), np.maximum(graph.degrees, np.finfo(float).tiny)
    around = doubt + (graph.weights @ doubt) / degrees
    first = int(np.argmax(np.where(fit, around, -1.0)))
    reached, walk = np.zeros(len(p)), np.zeros(len(p))
    walk[first] = 1.0
    for _ in range(STEPS):
        walk = graph.weights @ (walk / degrees)
        reached += walk
    reached[first] = np.inf
    nodes = np.flatnonzero(fit & (reached > 0))
    return int(decided[first]), nodes[np.argsort(-reached[nodes], kind="stable")][:n]
