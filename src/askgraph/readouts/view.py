"""What a readout reads: votes, a few classes at a time, and the answers that they come from.

What a readout computes across the classes of a row is a sum or a maximum, and both are collected block by block, so that no array
of all rows and all classes need be made. Where such an array is small, all classes are one block. Classes without a label have no
votes, so they are all alike: a few of them stand for the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from askgraph.answers import coding
from askgraph.field import Field, Observation, answer_weights, nodes_of, rows_of
from askgraph.types import Array, IntArray


class Block(NamedTuple):
    """Some classes that are read together.

    Attributes
    ----------
    classes : array of int
        The classes, by their indices.
    columns : slice or list of int
        What takes their columns from an array of all classes.
    repeats : array
        How many classes each of them stands for, as a column.
    """

    classes: IntArray
    columns: Any
    repeats: Array


ByBlock = Callable[[Block], Array]
"""A function from a block of classes to an array: one row per row of the view, one column per class of the block."""


@dataclass(frozen=True, eq=False)
class View:
    """The votes of some rows, and the answers that they come from: a value that readouts read.

    Attributes
    ----------
    field : Field
        The field.
    rows : array
        The votes as they are: one row per node of this process, or per sample outside the graph; one column per class.
    links : scipy.sparse.csr_array, optional
        The weights that tie samples outside the graph to nodes, one row per sample, one column per node.
    outside : bool
        Whether the rows are samples outside the graph.
    blocks : sequence of Block
        The classes, those that are read together in a block.

    Examples
    --------
    >>> import askgraph as ag
    >>> view = View.of(ag.Field.start(ag.prior(ag.chain(5), delta=1e-6), 2).observe(0, 0).observe(4, 1))
    >>> view.votes(view.blocks[0])[1:4].round(2).tolist()
    [[0.75, 0.25], [0.5, 0.5], [0.25, 0.75]]
    >>> view.counts.tolist(), view.masses[0].round(2).tolist()
    ([1.0, 1.0], [1.5, 1.5])
    """

    field: Field
    rows: Array
    links: csr_array | None
    outside: bool
    blocks: Sequence[Block]

    @classmethod
    def of(cls, field: Field, votes: Array | None = None, links: csr_array | None = None) -> View:
        """Return the view of all nodes, or of samples outside the graph, with all classes in one block."""
        every = np.arange(field.coding.width)
        block = Block(every, slice(None), field.space.asarray(np.ones((every.size, 1))))
        return cls(field, field.votes if votes is None else votes, links, votes is not None, [block])

    @classmethod
    def in_parts(cls, field: Field, top: int) -> View:
        """Return the view of all nodes, a block for every few of the classes with labels and of the first ``top`` others."""
        view = cls.of(field)
        with_label, without = np.flatnonzero(view.counts), np.flatnonzero(view.counts == 0)
        if without.size <= top and len(coding.parts(field.space.most_rows, field.coding.width)) <= 1:
            return view
        classes = np.sort(np.concatenate([with_label, without[:top]]))
        repeats = np.ones((classes.size, 1))
        if without.size > top:
            repeats[classes == without[top - 1]] += without.size - top
        parts = coding.parts(field.space.most_rows, classes.size)
        blocks = [Block(classes[part], classes[part].tolist(), field.space.asarray(repeats[part])) for part in parts]
        return replace(view, blocks=blocks)

    @property
    def nodes(self) -> View:
        """The view of the nodes, with the same blocks."""
        return replace(self, rows=self.field.votes, links=None, outside=False) if self.outside else self

    @property
    def whole(self) -> bool:
        """Whether all classes of all nodes are one block."""
        return not self.outside and len(self.blocks) == 1 and self.blocks[0].columns == slice(None)

    @cached_property
    def votes(self) -> ByBlock:
        """The votes, at least 0, by block: on a graph they are, with features they may be below."""
        return self.kept(lambda block: np.maximum(self.rows[:, block.columns], 0.0))

    @property
    def counts(self) -> Array:
        """The number of answers of each class."""
        return self.field.coding.totals([x.said for x in self.field.known])

    @property
    def weighted_counts(self) -> Array:
        """The answers of each class, each counting as much as the discount of the field leaves of it."""
        known, prior = self.field.known, self.field.origin
        return self.field.coding.totals(
            [x.said for x in known], answer_weights(prior, nodes_of(known), self.field.discount)
        )

    @property
    def masses(self) -> tuple[Array, Array]:
        """The sum of each class's votes, where they are above 0, over the unlabeled nodes; and the highest of them, at least 0."""
        field, space = self.field, self.field.space
        rest, some = ~field.labeled[:, None], coding.parts(space.most_rows, field.coding.width)
        above = coding.kept(some, lambda part: np.maximum(field.votes[:, part], 0.0) * rest)
        total = np.concatenate([np.zeros(0), *(space.total(above(part)) for part in some)])
        return total, np.concatenate([np.zeros(0), *(space.highest(above(part)) for part in some)])

    @cached_property
    def exact(self) -> tuple[Observation, ...]:
        """The answers that stand at their nodes as they were given."""
        return tuple(x for x in self.field.known if x.exact)

    @cached_property
    def given(self) -> tuple[Observation, ...]:
        """The answers of which nobody said that they are unsure: exact ones, and those whose label noise a rule chose."""
        noise = self.field.noise if self.field.chosen else 0.0
        return tuple(x for x in self.field.known if x.exact or x.noise == noise) if noise else self.exact

    @cached_property
    def pinned(self) -> tuple[Observation, ...]:
        """Those of them that neighbors hear as they were given.

        With features all of them, since votes at a node are not its label there. On a graph alone those that pin the field: an
        answer that a rule discounts counts for less beyond its node, where it is heard as the votes of the node say.
        """
        if self.field.origin.noise or not self.exact:
            return self.exact
        free = self.field.space.pick(self.field.free, nodes_of(self.exact))
        return tuple(x for x, loose in zip(self.exact, free.tolist(), strict=True) if not loose)

    def standing(self, source: ByBlock, answers: Sequence[Observation] | None = None) -> ByBlock:
        """Return the same with answers as they were given, or these, in place: 1 for the class at its node, 0 for others."""
        answers = self.given if answers is None else answers
        if self.outside or not answers:
            return source
        nodes, told, put = nodes_of(answers), rows_of(self.field.coding, answers), self.field.space.put
        return lambda block: put(source(block), nodes, told[:, block.columns])

    def kept(self, source: ByBlock) -> ByBlock:
        """Return the function; where there is one block, one that computes the array of this block once and keeps it."""
        return coding.kept(self.blocks, source)

    def row_totals(self, source: ByBlock) -> Array:
        """Return the sum over all classes as a column."""
        total = source(self.blocks[0]) @ self.blocks[0].repeats
        for block in self.blocks[1:]:
            total += source(block) @ block.repeats
        return total

    def row_highest(self, source: ByBlock) -> Array:
        """Return the largest value over all classes as a column."""
        highest = source(self.blocks[0]).max(axis=1, keepdims=True)
        for block in self.blocks[1:]:
            highest = np.maximum(highest, source(block).max(axis=1, keepdims=True))
        return highest

    def shares(self, scores: ByBlock) -> ByBlock:
        """Return scores over their sum; where all are 0, all classes are alike."""
        total, even = self.row_totals(scores), 1 / self.field.coding.width
        return lambda block: coding.ratio(scores(block), total, even)

    def blended(self, scores: ByBlock) -> ByBlock:
        """Return H p + (1 − H)/C with p ∝ scores: where no label reaches, all classes are alike."""
        reach, p, classes = np.clip(self.row_totals(self.votes), 0.0, 1.0), self.shares(scores), self.field.coding.width
        return lambda block: reach * p(block) + (1 - reach) / classes
