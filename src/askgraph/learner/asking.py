"""The questions of a learner: which nodes to label next, and what follows each possible answer."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from functools import partial
from typing import overload

import numpy as np

from askgraph.answers import coding
from askgraph.answers.plain import plain_label
from askgraph.errors import SettingError
from askgraph.field import Field
from askgraph.learner.events import Event, checked
from askgraph.learner.grouping import Group, alike
from askgraph.learner.history import History
from askgraph.learner.prefetch import Prefetch
from askgraph.learner.questions import alternatives, candidates, questions, scores
from askgraph.learner.recall import Left, left_to_find
from askgraph.learner.telling import Told
from askgraph.support.arguments import listed, whole_number
from askgraph.support.turns import in_turn
from askgraph.types import Array


class Asker(Told):
    """Choose the next question from what was told; `Learner` adds how to begin, to run and to save."""

    @overload
    def ask(self) -> Hashable | None: ...
    @overload
    def ask(self, n: int) -> list[Hashable]: ...
    @in_turn
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
            field, found = self._batch(self._field, self._history, wanted, self._answered)
            self._state = self._state._replace(field=field, questions=tuple(found))
        names = [self.graph.name(node) for node in self._questions[:wanted]]
        return names if n is not None else (names[0] if names else None)

    @in_turn
    def likeliest(self, label: Hashable, n: int = 1) -> list[Hashable]:
        """Choose the unlabeled nodes that are most likely in a class, to find all of it; spot checks come as in :meth:`ask`.

        Parameters
        ----------
        label : hashable
            The class.
        n : int
            The number of nodes.

        Returns
        -------
        list of hashable
            Up to n nodes, the likeliest first, those whose turn is that of a spot check drawn at random.

        Examples
        --------
        >>> import askgraph as ag
        >>> learner = ag.Learner(ag.chain(9), rng=0)
        >>> learner.tell_all({0: "wanted", 8: "other"})
        >>> learner.likeliest("wanted", 3)
        [1, 2, 3]
        """
        n, label = whole_number(n, "n", 1), plain_label(label)
        if label not in self._history.classes:
            raise SettingError(f"no class {label!r} yet: label a node so first")
        space, rows = self._field.space, candidates(self._field, self._history.set_aside)
        rest = np.sort(space.allgather(space.nodes_of(rows)))
        p = self.probabilities()[rest, self._history.classes.index(label)]
        ranked, chosen = rest[np.argsort(-p, kind="stable")].tolist(), list[int]()
        for k in range(min(n, len(ranked))):
            if self.is_spot_check(k):
                ranked.insert(
                    0, ranked.pop(int(np.random.default_rng([self.seed, self._answered + k]).integers(len(ranked))))
                )
            chosen.append(ranked.pop(0))
        return [self.graph.name(node) for node in chosen]

    @in_turn
    def left_to_find(self, label: Hashable) -> Left:
        """Return how many nodes of a class are found, and about how many are left.

        Parameters
        ----------
        label : hashable
            The class.

        Returns
        -------
        Left
            The number found, an estimate of those left and a 90 % range. The range rests on this: nodes that were asked for
            were in the class at least as often as nodes drawn at random would have been.

        Examples
        --------
        >>> import askgraph as ag
        >>> learner = ag.Learner(ag.communities((40, 40), rng=0)[0], rng=0)
        >>> learner.tell_all({0: "wanted", 50: "other"})
        >>> for _ in range(50):
        ...     (node,) = learner.likeliest("wanted")
        ...     learner.tell(node, "wanted" if node < 40 else "other")
        >>> left = learner.left_to_find("wanted")
        >>> left.found, left.low <= left.value <= left.high
        (40, True)
        """
        label = plain_label(label)
        said = {self.graph.index(node): name == label for node, name in self.labels.items()}
        drawn = checked(self._history.log)
        classes = self._history.classes
        rest = self._field.space.gather(~self._field.labeled)
        expected = float(self.probabilities()[rest, classes.index(label)].sum()) if label in classes else 0.0
        return left_to_find(list(said.values()), [node in drawn for node in said], self.graph.n_nodes, expected)

    @in_turn
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

    @in_turn
    def scores(self, nodes: Sequence[Hashable] | None = None) -> Array:
        """Return the utility of every candidate: what :meth:`ask` compares, larger is better.

        A question follows from more than scores: the first one, spot checks and those of ``explore`` are drawn at random, small
        components wait, and hubs are asked for less often. Where an engine estimates summaries ("iterative", "gpu-sparse",
        "petsc"), scores of given nodes, and of up to 1,500 candidates, are exact, others are estimates; a sampler that looks
        ahead takes one solve per node.

        Parameters
        ----------
        nodes : sequence of hashable, optional
            The nodes; by default all, in the graph's order.

        Returns
        -------
        array
            One score per node; NaN for a node that is labeled or set aside, and 0 for every candidate of
            ``utility="random"``.

        Examples
        --------
        >>> import askgraph as ag
        >>> learner = ag.Learner(ag.chain(5), "sigma", rng=0)
        >>> learner.tell(0, "left")
        >>> scores = learner.scores()
        >>> scores.shape, bool(np.isnan(scores[0])), int(np.nanargmax(scores)) == learner.ask()
        ((5,), True, True)
        """
        wanted = None if nodes is None else self._indices(nodes)
        field, found = scores(self._field, self.settings, self._history.set_aside, wanted)
        self._state = self._state._replace(field=field)
        return found

    @in_turn
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
        if self.ask() is None:
            return
        (field, history, (node, *_), ahead), told = self._state, self._answered + 1
        if ahead and ahead.node == node and not ahead.stopped:
            return
        if ahead:
            ahead.stop()
        votes = field.space.pick(field.votes, np.array([node]))
        likely = np.argsort(-coding.chances(votes)[0], kind="stable") if history.classes else np.arange(1)
        follow = partial(self._follow, history, told)
        ahead = Prefetch(node, lambda: field.awaiting(node), follow, likely.tolist())
        self._state = self._state._replace(prefetch=ahead)

    @property
    def next_questions(self) -> dict[Hashable, Hashable | None]:
        """The question that follows each answer to the next question, {label: node}, as far as :meth:`prefetch` has come."""
        _, history, _, ahead = self._state
        classes, found = history.classes, ahead.found if ahead and history.classes else {}
        return {classes[c]: self.graph.name(nodes[0]) if nodes else None for c, (_, nodes) in found.items()}

    @property
    def prefetching(self) -> bool:
        """Whether :meth:`prefetch` is still at work."""
        ahead = self._prefetch
        return ahead is not None and ahead.running

    @in_turn
    def group(self, n: int = 20, without: Collection[Hashable] = ()) -> Group | None:
        """Return nodes that look alike and are predicted alike with a probability of 0.9 or more, to be confirmed together.

        Parameters
        ----------
        n : int
            The number of nodes, at most.
        without : collection of hashable
            Nodes to leave out.

        Returns
        -------
        Group or None
            The nodes and the label predicted for them; None where there are not two such nodes.

        Examples
        --------
        >>> import askgraph as ag
        >>> learner = ag.Learner(ag.communities((30, 30), rng=0)[0], rng=0)
        >>> learner.tell_all({0: "left", 1: "left", 40: "right", 41: "right"})
        >>> group = learner.group(6)
        >>> for node in group.nodes:
        ...     learner.tell(node, group.label)
        >>> len(learner.labels)
        10
        """
        n, without = whole_number(n, "n", 2), listed(without, "without")
        if not self._history.classes or not self._field.held:
            return None
        open_ = self._field.space.gather(~self._field.labeled)
        open_[[*self._history.set_aside, *(self.graph.index(node) for node in without)]] = False
        p = self.probabilities()
        label, nodes = alike(self.graph, p, open_, self._field.counts, n)
        if nodes.size < 2:
            return None
        chance = float(p[nodes, label].mean())
        return Group(self._history.classes[label], [self.graph.name(node) for node in nodes.tolist()], chance)

    @in_turn
    def stop_prefetch(self) -> None:
        """Stop :meth:`prefetch`, if it is at work, for a learner that is not needed any longer.

        Examples
        --------
        >>> import askgraph as ag
        >>> learner = ag.Learner(ag.chain(5), rng=0)
        >>> learner.prefetch()
        >>> learner.stop_prefetch()
        >>> learner.prefetching
        False
        """
        self._publish(self._field, self._history)

    def _follow(self, history: History, told: int, awaiting: Field, label: int) -> tuple[Field, list[int]]:
        """Return the field after an answer, and the next question; in a thread, which takes no turn: a turn may wait for it."""
        field = awaiting.answered(label)
        if any(rule is not None and rule.due(field.held) for rule in (self._tuner, self._hub_rule)):
            event = Event("tell", field.observations[-1].node, history.classes[label])
            field = self._tuned(field, history.after(event))
        return self._batch(field, history, 1, told)

    def _observed(self, node: int, label: int, noise: float | None) -> tuple[Field, list[int]]:
        """Return the field after a label, and the next question where it was prefetched."""
        if noise is not None:
            return super()._observed(node, label, noise)
        known = self._prefetch is not None and self._prefetch.node == node
        awaiting, after = self._prefetch.take(label) if self._prefetch and known else (None, None)
        return after or ((awaiting or self._field.awaiting(node)).answered(label), [])

    @in_turn
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
        if not self._history.classes or not self.is_spot_check() or self._questions[:1] != (node,):
            return None
        return self._history.classes[int(coding.decide(self.probabilities([self.graph.name(node)]))[0])]

    def _batch(self, field: Field, history: History, n: int, told: int) -> tuple[Field, list[int]]:
        return questions(field, self.settings, history.set_aside, n, (self.seed, told))

    @property
    def _answered(self) -> int:
        """The number of nodes that are labeled or set aside, which is the number of the next question, from 0."""
        return self._field.held + len(self._history.set_aside)
