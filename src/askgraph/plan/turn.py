"""A turn to choose a question, and the question that is chosen."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

import numpy as np

from askgraph.answers import coding
from askgraph.field import Field
from askgraph.types import Array, IntArray


class Question(NamedTuple):
    """A node to label, the rule that asks for it, and what was predicted for it.

    Attributes
    ----------
    node : hashable
        The node.
    by : str
        Who asks: the sampler's name, or a rule's, such as "spot check", "explore", "first" or "find".
    predicted : hashable
        The label that is predicted, where the rule says it, as a spot check does; else None.

    Examples
    --------
    >>> import askgraph as ag
    >>> learner = ag.Learner(ag.chain(5), rng=0)
    >>> learner.question().by
    'first'
    >>> learner.tell_all({0: "left", 4: "right"})
    >>> learner.question()
    Question(node=2, by='influence', predicted=None)
    """

    node: Any
    by: str
    predicted: Any = None


class Reader(Protocol):
    """How a learner reads its field, for rules that go by what is predicted."""

    def probabilities(self) -> Array:
        """Return the class probabilities of all rows."""
        ...

    def predicted(self, node: int) -> Hashable:
        """Return the answer that is predicted for a node; None while nothing is known."""
        ...

    def likely(self, sought: Hashable) -> Array | None:
        """Return how likely each row is what is sought, larger is likelier; None while nothing is known of it."""
        ...


class Votes(NamedTuple):
    """The votes of a field, read as they are."""

    field: Field
    classes: Sequence[Hashable]

    def probabilities(self) -> Array:
        """Return the votes."""
        return self.field.votes

    def predicted(self, node: int) -> Hashable:
        """Return the class with the most votes."""
        if not self.classes:
            return None
        return self.classes[int(coding.decide(self.field.space.pick(self.field.votes, np.array([node])))[0])]

    def likely(self, sought: Hashable) -> Array | None:
        """Return the votes for a class."""
        return self.field.votes[:, list(self.classes).index(sought)] if sought in self.classes else None


@dataclass(frozen=True)
class Turn:
    """What a rule may read when a question is to be chosen.

    Attributes
    ----------
    field : Field
        The field; questions before this one in a batch are observations whose answers are pending.
    rows : array of int
        The rows of the candidates, in the arrays of this process.
    number : int
        The number of the question, from 0: how many nodes were labeled, set aside or asked for before.
    classes : sequence of hashable
        The classes, in the order of the columns of the votes.
    aside : collection of int
        The nodes that are not to be asked for.
    reader : Reader
        What the learner predicts: see :meth:`read` and :meth:`predicted`.
    seed : tuple of int
        The seed of the learner, and what tells its draws from others.
    rng : Generator
        The random numbers of this turn: the same whenever this question is chosen.
    """

    field: Field
    rows: IntArray
    number: int
    classes: Sequence[Hashable]
    aside: Collection[int]
    reader: Reader
    seed: tuple[int, ...]
    rng: np.random.Generator

    @classmethod
    def of(
        cls,
        field: Field,
        number: int,
        seed: int,
        aside: Collection[int] = (),
        classes: Sequence[Hashable] = (),
        reader: Reader | None = None,
        *apart: int,
    ) -> Turn:
        """Return the turn to choose the question of this number; every node without an answer is a candidate.

        Parameters
        ----------
        field : Field
            The field.
        number : int
            The number of the question.
        seed : int
            The seed of the learner.
        aside : collection of int
            The nodes that are not to be asked for.
        classes : sequence of hashable
            The classes.
        reader : Reader, optional
            How the field is read; by default the votes as they are.
        *apart : int
            Numbers that tell these draws from those of other turns.

        Returns
        -------
        Turn
            The turn.
        """
        rows = np.flatnonzero(~field.labeled)
        rng = np.random.default_rng((seed, number, *apart))
        return cls(field, rows, number, classes, aside, reader or Votes(field, classes), (seed, *apart), rng)

    @property
    def nodes(self) -> IntArray:
        """The nodes of the candidates, one per row."""
        return np.asarray(self.field.space.nodes_of(self.rows))

    @property
    def last(self) -> int | None:
        """The node that was labeled or asked for before this turn, or None; one that was skipped is in ``aside`` only."""
        return self.field.observations[-1].node if self.field.observations else None

    @property
    def empty(self) -> bool:
        """Whether there is no candidate."""
        return self.field.space.count(self.rows) == 0

    def rather(self, rows: IntArray) -> IntArray:
        """Return these rows, or all candidates where these are none.

        Parameters
        ----------
        rows : array of int
            Some of the rows of the turn.

        Returns
        -------
        array of int
            The rows to ask among.
        """
        return rows if self.field.space.count(rows) else self.rows

    def narrowed(self, rows: IntArray) -> Turn:
        """Return the turn with fewer candidates.

        Parameters
        ----------
        rows : array of int
            Some of the rows of the turn.

        Returns
        -------
        Turn
            The same turn, with its random numbers, among these candidates.
        """
        return self if rows is self.rows else replace(self, rows=rows)

    def draw(self, n: int = 1) -> list[int]:
        """Draw candidates at random.

        Parameters
        ----------
        n : int
            How many, at most.

        Returns
        -------
        list of int
            The nodes, each candidate as likely as any other.
        """
        space = self.field.space
        if n == 1:
            return [space.draw(self.rows, self.rng)]
        nodes = np.sort(space.allgather(space.nodes_of(self.rows)))
        return [int(node) for node in self.rng.choice(nodes, min(n, nodes.size), replace=False)]

    def read(self) -> Array:
        """Return the class probabilities of all rows, as the learner predicts them.

        Returns
        -------
        array
            One row per row of this process, one column per class.
        """
        return self.reader.probabilities()

    def predicted(self, node: int) -> Hashable:
        """Return the label that is predicted for a node.

        Parameters
        ----------
        node : int
            The node.

        Returns
        -------
        hashable
            The label; None while nothing is known.
        """
        return self.reader.predicted(node)

    def after(self, questions: Sequence[Question], field: Field) -> Turn:
        """Return the turn that follows these questions.

        Parameters
        ----------
        questions : sequence of Question
            What is asked before.
        field : Field
            The field then.

        Returns
        -------
        Turn
            The next turn.
        """
        aside, number = {*self.aside, *(one.node for one in questions)}, self.number + len(questions)
        seed, *apart = self.seed
        return Turn.of(field, number, seed, aside, self.classes, self.reader, *apart)


def each_once(questions: Iterable[Question]) -> list[Question]:
    """Return the questions without those for a node that an earlier one asks for."""
    found: dict[Any, Question] = {}
    for one in questions:
        found.setdefault(one.node, one)
    return list(found.values())
