"""Labels that models guess, as evidence: what each source says of each class is estimated, and weighed against the graph.

A source is described by its confusion matrix T, T_cg the chance that it says g of a node of class c. Nobody knows T: it is
counted from what labels of people and the graph say of the nodes with a guess. Given T, a node's probabilities by the
labels of people are multiplied by T_cg, averaged over neighbors as in a consensus, and multiplied by T_cg again: so a wrong
guess among right ones is outvoted by its neighbors. A source at chance has the same T_cg for all classes, which changes
nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from askgraph.answers import coding
from askgraph.field import Field, nodes_of, rows_of
from askgraph.readouts.readout import Readout
from askgraph.readouts.view import ByBlock, View
from askgraph.types import AnyArray, Array

PASSES = (
    2  # how often T is counted anew; more passes believe the guesses more than the graph where whole regions are wrong
)
PEOPLE = 5.0  # how many predicted nodes a label of a person counts for in T
SMOOTHING = 2.0  # nodes per class and row of T that are as if one accuracy held for all classes
OTHER, SILENT = -1, -2  # what a column of a witness stands for, if not a class
MOST = 0.99  # the highest accuracy that is believed at first sight


class Witness(NamedTuple):
    """What one source says of each node.

    Attributes
    ----------
    said : array
        One row per node, one column per thing that the source can say: a 1 for what it says of the node, else 0.
    columns : array of int
        The class that each column stands for; ``OTHER`` for a label that is not a class, ``SILENT`` for saying nothing.
    """

    said: AnyArray
    columns: AnyArray


@dataclass(frozen=True, eq=False)
class WithGuesses(Readout):
    """The class probabilities of nodes by the labels of people and by what witnesses say, beside another readout.

    Where that readout listens to neighbors, guesses about neighbors count too; with any other readout, only a node's own. Samples
    outside the graph have no guesses, and are read as without.
    """

    readout: Readout
    witnesses: Sequence[Witness]

    @property
    def whole(self) -> bool:
        """Whether all classes must be read at once: yes, what a source takes for what is counted over all of them."""
        return True

    def by_block(self, view: View) -> ByBlock:
        """Return what the other readout says, with what the witnesses say."""
        if view.outside:
            return self.readout.by_block(view)
        p = _with_witnesses(view, self.readout, self.witnesses)
        return lambda block: p[:, block.columns]


def _with_witnesses(view: View, readout: Readout, witnesses: Sequence[Witness]) -> Array:
    field = view.field
    own, hear = readout.steps(field)
    own = _open_to_all(view, own)
    told = field.space.put(
        field.space.zeros(field.coding.width), nodes_of(view.given), rows_of(field.coding, view.given)
    )
    known = (told.sum(axis=1) > 0)[:, None]

    def posterior(confusions: Sequence[Array]) -> Array:
        said = _likelihood(field, witnesses, confusions)
        alone = np.where(known, told, _normal(own * said))
        return np.where(known, told, _normal(hear(own, alone) * said))

    def counted(p: Array) -> list[Array]:
        weighted = np.where(known, PEOPLE * told, p)
        return [field.space.inner(weighted, witness.said) for witness in witnesses]

    first = [np.ones((field.coding.width, witness.columns.size)) for witness in witnesses]
    pairs = zip(counted(posterior(first)), witnesses, strict=True)
    pooled = [_pooled(counts, witness.columns) for counts, witness in pairs]
    confusions = pooled
    for _ in range(PASSES):
        pairs_of_counts = zip(counted(posterior(confusions)), pooled, strict=True)
        confusions = [_rows(counts + SMOOTHING * len(counts) * start) for counts, start in pairs_of_counts]
    return posterior(confusions)


def _open_to_all(view: View, p: Array) -> Array:
    """Return probabilities that rule no class out: a class without labels has the share that a next label would give it."""
    counts, space = view.counts, view.field.space
    unseen = counts == 0
    shares = np.where(unseen, coding.frequencies(counts, counts.size), 0.0)
    seen = _normal((1 - coding.ODD) * p * space.asarray(~unseen) + coding.ODD / counts.size * space.asarray(~unseen))
    return seen * float(1 - shares.sum()) + space.asarray(shares)


def _likelihood(field: Field, witnesses: Sequence[Witness], confusions: Sequence[Array]) -> Array:
    """Return the chance of all that is said of a node under each class; 1 where nothing is said."""
    logs = field.space.zeros(field.coding.width)
    for witness, confusion in zip(witnesses, confusions, strict=True):
        logs = logs + witness.said @ field.space.asarray(np.log(confusion).T)
    return np.exp(logs - logs.max(axis=1, keepdims=True))


def _pooled(counts: Array, columns: AnyArray) -> Array:
    """Return T with one accuracy for all classes: who speaks says the class, or with the rest of the chance anything."""
    said, shares = (counts.sum(axis=0) + 1) / (counts.sum() + columns.size), counts.sum(axis=1) / counts.sum()
    spoken = said * (columns != SILENT)
    own = spoken * (columns == np.arange(len(counts))[:, None])  # what stands for a class, by how often it is said
    agreed = (counts * (own > 0)).sum() / max((counts * (spoken > 0)).sum(), 1.0)
    by_chance = shares @ own.sum(axis=1) / spoken.sum()
    accuracy = float(np.clip((agreed - by_chance) / max(1 - by_chance, 1 - MOST), 0.0, MOST))
    right = spoken.sum() * coding.ratio(own, own.sum(axis=1, keepdims=True), spoken / spoken.sum())
    return _rows(said - spoken + accuracy * right + (1 - accuracy) * spoken)


def _rows(counts: Array) -> Array:
    return counts / counts.sum(axis=1, keepdims=True)


def _normal(p: Array) -> Array:
    return p / coding.row_sums(p)
