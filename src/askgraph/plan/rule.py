"""A rule about questions: whose turn it is, who may be asked for, what the answers change."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from askgraph.answers.history import History
from askgraph.field import Field
from askgraph.plan.turn import Question, Turn
from askgraph.priors.base import Prior
from askgraph.types import IntArray


class Rule:
    """A rule of a plan; inherit from it, as a frozen dataclass, and write the methods that the rule is about.

    At every turn the rules are gone through in order. Each may leave candidates out (`narrows`) and then take the turn
    (`takes`); if none takes it, the sampler chooses among the candidates that are left. A rule reads the `Turn`; nodes are
    numbers there, not names. With a rule of the user's own, questions asked together are chosen one after another, so that the
    rule sees each, and a learner cannot be saved.

    Attributes
    ----------
    now_and_then : bool
        Whether the rule is about single turns only: where several questions are chosen at the same time, it is passed over.
    ends : bool
        Whether the rule takes every turn that it can, so that no sampler is needed after it.

    Examples
    --------
    Never two items of one patient in a row:

    >>> import askgraph as ag
    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class OtherPatient(ag.Rule):
    ...     patients: tuple[str, ...]  # of each node
    ...
    ...     def narrows(self, turn):
    ...         if turn.last is None:
    ...             return turn.rows
    ...         others = [self.patients[node] != self.patients[turn.last] for node in turn.nodes]
    ...         return turn.rather(turn.rows[others])
    >>> patients = ("ann", "ann", "ann", "bob", "bob", "bob")
    >>> plan = ag.Plan.of("influence").with_rule(OtherPatient(patients))
    >>> learner = ag.Learner(ag.chain(6), plan, rng=0)
    >>> steps = learner.run(lambda node: "left" if node < 2 else "right", budget=4)
    >>> asked = [patients[step.node] for step in steps]
    >>> all(one != other for one, other in zip(asked, asked[1:]))
    True
    """

    now_and_then: ClassVar[bool] = False
    ends: ClassVar[bool] = False

    def starts(self) -> Prior | None:
        """Return the engine to begin with, where the rule chooses one.

        Returns
        -------
        Prior or None
            The engine; None by default.
        """
        return None

    def narrows(self, turn: Turn) -> IntArray:
        """Return the rows that may be asked for.

        Parameters
        ----------
        turn : Turn
            The turn.

        Returns
        -------
        array of int
            All or some of ``turn.rows``; by default all.
        """
        return turn.rows

    def takes(self, turn: Turn, n: int) -> Sequence[Question]:
        """Return the questions of this turn if it is the rule's own.

        Parameters
        ----------
        turn : Turn
            The turn, which has at least one candidate.
        n : int
            The number of questions wanted at the same time; 1 unless several people are asked at once.

        Returns
        -------
        sequence of Question
            Up to n questions, by the indices of nodes; by default none, which leaves the turn to the next rule.
        """
        return ()

    def reviews(self, field: Field, history: History, together: bool = False) -> Field:
        """Return the field that the answers so far speak for.

        Parameters
        ----------
        field : Field
            The field after an answer.
        history : History
            Everything told.
        together : bool
            Whether answers were told together, so that a new field may take them in at once.

        Returns
        -------
        Field
            The field to go on with; by default the same. A field has one discount: a rule that sets one sets it in place of
            any other.
        """
        return field
