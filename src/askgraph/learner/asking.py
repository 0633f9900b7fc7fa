"""The questions of a learner: which nodes to label next, and what follows each possible answer."""

from __future__ import annotations

from collections.abc import Hashable
from functools import partial
from typing import overload

import numpy as np

from askgraph.errors import SettingError
from askgraph.field import Field, coding
from askgraph.learner.events import Event
from askgraph.learner.prefetch import Prefetch
from askgraph.learner.questions import alternatives, questions
from askgraph.learner.telling import Told
from askgraph.support.arguments import whole_number


class Asker(Told):
    """Choose the next question from what was told; `Learner` adds how to begin, to run and to save."""

    _prefetch: Prefetch[Field, tuple[Field, list[int]]] | None

    @overload
    def ask(self) -> Hashable | None: ...
    @overload
    def ask(self, n: int) -> list[Hashable]: ...
    def ask(self, n: int | None = None) -> Hashable | list[Hashable] | None:
        """Choose the next node to label, or several nodes to label together.

        The same question comes again until something is told. Nodes of a batch are chosen one after another, each as if the
        nodes before it were labeled and their answers pending, so a batch is not the n nodes with the highest scores;
        ``batch="local"`` of the learner chooses them otherwise.

        Parameters
        ----------
        n : int, optional
            The number of nodes to label together.

        Returns
        -------
        hashable, None or list
            The node, or None when every node is labeled or set aside; with n, a list of up to n nodes.

        Examples
        --------
        >>> import askgraph as ag
        >>> learner = ag.Learner(ag.chain(9), rng=0, first="utility")
        >>> learner.ask()
        4
        >>> sorted(learner.ask(3))
        [1, 4, 7]
        """
        if n is not None and (not isinstance(n, int | np.integer) or n < 1):
            raise SettingError(f"ask({n!r}): ask for at least one node, in whole numbers")
        wanted = 1 if n is None else n
        if len(self._questions) < wanted:
            self._field, self._questions = self._batch(self._field, wanted, self._answered)
        names = [self.graph.name(node) for node in self._questions[:wanted]]
        return names if n is not None else (names[0] if names else None)

    def alternatives(self, n: int) -> list[Hashable]:
        """Choose nodes for several people who label at the same time, by their scores as they are now.

        One pass over the scores is enough, so this takes less time than ``ask(n)``; the nodes are a little less informative
        together.

        Parameters
        ----------
        n : int
            The number of nodes.

        Returns
        -------
        list of hashable
            Up to n nodes; first the nodes whose score no neighbor exceeds, the highest scores first, then others. Where
            questions are drawn at random, nodes drawn at random.

        Examples
        --------
        >>> import askgraph as ag
        >>> learner = ag.Learner(ag.chain(9), rng=0)
        >>> learner.tell_all({0: "left", 8: "right"})
        >>> len(learner.alternatives(2))
        2
        """
        n = whole_number(n, "n")
        found = alternatives(self._field, self.settings, self._history.set_aside, n, (self.seed, self._answered))
        return [self.graph.name(node) for node in found]

    def prefetch(self) -> None:
        """Compute what follows each possible answer to the next question, in a thread, while a person thinks.

        The ``tell`` of that answer and the ``ask`` after it then take milliseconds. Questions are the same with and without
        this call. On the engine "petsc" nothing is prefetched.

        Examples
        --------
        >>> import askgraph as ag
        >>> learner = ag.Learner(ag.chain(5), rng=0, first="utility")
        >>> learner.prefetch()
        >>> learner.tell(learner.ask(), "middle")  # uses what was computed meanwhile
        >>> learner.labels
        {2: 'middle'}
        """
        if not self._field.space.alone:
            return
        if self.ask() is None or (self._prefetch and self._prefetch.node == self._questions[0]):
            return
        if self._prefetch:
            self._prefetch.stop()
        field, node, told = self._field, self._questions[0], self._answered + 1
        votes = field.space.pick(field.votes, np.array([node]))
        likely = np.argsort(-coding.chances(votes)[0], kind="stable") if self._history.classes else np.arange(1)
        self._prefetch = Prefetch(node, lambda: field.awaiting(node), partial(self._follow, told), likely.tolist())

    @property
    def next_questions(self) -> dict[Hashable, Hashable | None]:
        """The question that follows each answer to the next question, {label: node}, as far as :meth:`prefetch` has come."""
        classes = self._history.classes
        found = self._prefetch.found if self._prefetch and classes else {}
        return {classes[c]: self.graph.name(nodes[0]) if nodes else None for c, (_, nodes) in found.items()}

    @property
    def prefetching(self) -> bool:
        """Whether :meth:`prefetch` is still at work."""
        return self._prefetch is not None and self._prefetch.running

    def _follow(self, told: int, awaiting: Field, label: int) -> tuple[Field, list[int]]:
        field = awaiting.answered(label)
        if any(rule is not None and rule.due(field.held) for rule in (self._tuner, self._hub_rule)):
            event = Event("tell", field.labels[-1].node, self._history.classes[label])
            field = self._tuned(field, [*self._history.log, event])
        return self._batch(field, 1, told)

    def _observed(self, node: int, label: int, noise: float | None) -> tuple[Field, list[int]]:
        """Return the field after a label, and the next question where it was prefetched."""
        if noise is not None:
            return super()._observed(node, label, noise)
        known = self._prefetch is not None and self._prefetch.node == node
        awaiting, after = self._prefetch.take(label) if self._prefetch and known else (None, None)
        return after or ((awaiting or self._field.awaiting(node)).answered(label), [])

    def _forget_questions(self) -> None:
        if self._prefetch:
            self._prefetch.stop()
        self._prefetch, self._questions = None, []

    def is_spot_check(self, ahead: int = 0) -> bool:
        """Return whether the next question of :meth:`ask` is a spot check.

        Parameters
        ----------
        ahead : int
            How many questions after the next one to look at instead.

        Returns
        -------
        bool
            True if it is drawn at random as a spot check.

        Examples
        --------
        >>> import askgraph as ag
        >>> learner = ag.Learner(ag.chain(6), spot_checks=2, rng=0)
        >>> learner.is_spot_check(), learner.is_spot_check(ahead=1)
        (False, True)
        """
        return self.settings.checks(self._answered + whole_number(ahead, "ahead"))

    def _foretold(self, node: int) -> Hashable:
        if not self._history.classes or not self.is_spot_check() or self._questions[:1] != [node]:
            return None
        return self._history.classes[int(coding.decide(self.probabilities([self.graph.name(node)]))[0])]

    def _batch(self, field: Field, n: int, told: int) -> tuple[Field, list[int]]:
        return questions(field, self.settings, self._history.set_aside, n, (self.seed, told))

    @property
    def _answered(self) -> int:
        """The number of nodes that are labeled or set aside, which is the number of the next question, from 0."""
        return self._field.held + len(self._history.set_aside)
