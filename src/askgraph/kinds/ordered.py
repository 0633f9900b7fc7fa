"""Classes in an order, such as stars or severities: predicted by the median, judged by how many steps it is off."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from askgraph.answers import coding
from askgraph.answers.plain import declared_classes, label_array, plain_number
from askgraph.answers.shares import OneOf, Shares
from askgraph.answers.sought import AtLeast
from askgraph.errors import LabelError, SettingError
from askgraph.field.leave_one_out import left_out
from askgraph.graph import Graph
from askgraph.kinds.by_likelihood import mixed
from askgraph.kinds.diagnostics import Suspect
from askgraph.kinds.kind import Making, Moment
from askgraph.kinds.measured import MEASURED, mean_of, random_items
from askgraph.kinds.one_class import OneClass
from askgraph.kinds.random_answers import Drawn
from askgraph.kinds.stopping import EARLY, ErrorEstimate
from askgraph.plan import Plan
from askgraph.priors.features import join_kernels
from askgraph.readouts.number import cost
from askgraph.types import AnyArray, Array, IntArray

TIMES = 1.5  # the range by the model goes from the estimate over this to the estimate times this
OFF = 2  # steps between a label and what the others say of it from which it is a suspect


@dataclass(frozen=True)
class Ordered(OneClass):
    """One of several classes that have an order; ``answers="ordered"`` where the classes are numbers.

    What is predicted is the median of the votes: half of them are for that step or a lower one.

    Parameters
    ----------
    steps : iterable of hashable
        The classes, the lowest first; by default numbers, in the order of their size, as they are told.

    Examples
    --------
    >>> import askgraph as ag
    >>> learner = ag.Learner(ag.chain(9), answers=ag.Ordered(["bad", "fair", "good"]), rng=0)
    >>> learner.tell_all({0: "bad", 8: "good"})
    >>> learner.predict([1, 4, 7]).tolist()
    ['bad', 'fair', 'good']
    >>> value, low, high = learner.predict([2], interval=0.8)
    >>> value.tolist(), low.tolist(), high.tolist()
    (['bad'], ['bad'], ['good'])
    """

    steps: tuple[Hashable, ...] = ()

    name: ClassVar[str] = "ordered"
    stop_at: ClassVar[float | None] = None
    ranged: ClassVar[bool] = True
    judges_anew: ClassVar[bool] = True
    usual_readout: ClassVar[str | None] = "votes"

    def __post_init__(self) -> None:
        if isinstance(self.steps, str):
            raise SettingError(f"Ordered({self.steps!r}): give a list of classes, the lowest first")
        steps = declared_classes(self.steps)
        if len(steps) == 1:
            raise SettingError(f"Ordered({steps!r}): give two or more classes, the lowest first, or none for numbers")
        object.__setattr__(self, "steps", tuple(steps))

    def join(self, graph: Graph | None, X: Any) -> tuple[Graph, Any]:
        """Return the graph, and kernels of the features."""
        return join_kernels(graph, X)

    def usual_sampler(self, features: bool, exact: Callable[[], bool]) -> str:
        """Return vm with features where the engine knows the norms that it reads; else influence."""
        return "vm" if features and exact() else "influence"

    def with_rules(self, plan: Plan, making: Making) -> Plan:
        """Return the plan, which chooses the noise, and how much the graph and the features count, as if steps were numbers."""
        return mixed(plan, making, self.values, cost, self)

    def values(self, answers: Sequence[Any]) -> Array:
        """Return the numbers of steps from 0, or the numbers themselves; of several steps, their mean.

        Parameters
        ----------
        answers : sequence of hashable
            Answers, checked.

        Returns
        -------
        array
            One row per answer, one column.
        """
        return np.array([[self._value(answer)] for answer in answers])

    def _value(self, answer: Any) -> float:
        if not isinstance(answer, OneOf | Shares):
            return float(self._height(answer))
        shares = np.array([share for _, share in answer.shares])
        return float(shares @ [self._height(name) for name in answer.names] / shares.sum())

    def checked(self, answer: Any, classes: Sequence[Hashable]) -> Hashable:
        """Return a step, one of several, or shares, as a plain value."""
        found = super().checked(answer, classes)
        for name in self.named(found):
            self._check_step(name)
        return found

    def _check_step(self, name: Any) -> None:
        if self.steps and name not in self.steps:
            raise LabelError(f"{name!r} is no step: choose one of {', '.join(map(repr, self.steps))}")
        if not self.steps:
            try:
                plain_number(name)
            except LabelError as error:
                raise LabelError(f"{error}; or name the steps: answers=ag.Ordered([...])") from None

    def declared(self, classes: Iterable[Hashable] | None) -> list[Hashable]:
        """Return the steps."""
        if self.steps and classes is not None:
            raise SettingError(f"classes={classes!r}: the steps of answers=Ordered(...) are the classes")
        found = list(self.steps) or super().declared(classes)
        for name in found:
            self._check_step(name)
        return found

    def ranks(self, classes: Sequence[Hashable]) -> IntArray:
        """Return the step of each class, from 0.

        Parameters
        ----------
        classes : sequence of hashable
            The classes, in the order of the columns.

        Returns
        -------
        array of int
            One step per class.
        """
        order = self.steps or sorted(classes)  # type: ignore[type-var]  # numbers
        place = {name: k for k, name in enumerate(order)}
        return np.array([place[name] for name in classes], dtype=np.int64)

    def below(self, p: Array, classes: Sequence[Hashable]) -> Array:
        """Return the probability of each step or a lower one, one column per step.

        Parameters
        ----------
        p : array
            Class probabilities, one row per node.
        classes : sequence of hashable
            The classes, in the order of the columns.

        Returns
        -------
        array
            One row per node, one column per step, the last one 1.
        """
        return np.cumsum(p[:, np.argsort(self.ranks(classes))], axis=1)

    def decide(self, p: Array, classes: Sequence[Hashable]) -> IntArray:
        """Return the index of the median class of each row: the lowest step with half of the probability at or below it."""
        return np.argsort(self.ranks(classes))[_first(self.below(p, classes), 0.5)]

    def interval(self, moment: Moment, share: float) -> tuple[AnyArray, AnyArray]:
        """Return the lowest and the highest step of the shortest range with this probability, or more: steps are whole."""
        classes = moment.history.classes
        if not classes:
            none = np.full(moment.field.prior.n_nodes, None, dtype=object)
            return none, none
        named = label_array(classes)[np.argsort(self.ranks(classes))]
        low, high = _shortest(self.below(moment.chances, classes), share)
        return named[low], named[high]

    def check_sought(self, sought: Any) -> Hashable:
        """Return a step, or all from one on."""
        if isinstance(sought, AtLeast):
            return AtLeast(self.check_sought(sought.value))
        found = super().check_sought(sought)
        self._check_step(found)
        return found

    def likely(self, moment: Moment, sought: Hashable) -> Array | None:
        """Return the probability of a step, or of all from one on."""
        if not isinstance(sought, AtLeast):
            return super().likely(moment, sought)
        here = [self.is_found(name, sought) for name in moment.history.classes]
        return moment.read()[:, here].sum(axis=1) if any(here) else None

    def is_found(self, answer: Any, sought: Any) -> bool:
        """Return whether an answer is the step that is sought, or as high."""
        if not isinstance(sought, AtLeast) or isinstance(answer, OneOf | Shares):
            return super().is_found(answer, sought)
        return self._height(answer) >= self._height(sought.value)

    def expected_error(self, moment: Moment) -> ErrorEstimate:
        """Return the expected number of steps that a prediction is off."""
        rest, classes = moment.rest, moment.history.classes
        if not rest.any() or not classes:
            most = math.inf if rest.any() else 0.0
            return ErrorEstimate(most, 0.0, most, 0, unit="steps")
        below = self.below(moment.chances[rest], classes)
        by_model = float(np.minimum(below, 1 - below).clip(0.0).sum(axis=1).mean())
        _, _, off = self._left_out(moment)
        early = off[: EARLY * len(classes)]
        value = (by_model + float(early.mean())) / 2 if early.size else by_model
        audited, checks = self._audited_off(moment), self._checked_off(moment)
        drawn = random_items(audited, checks)
        if len(drawn) < MEASURED:
            wrong = Drawn(len(drawn), sum(one > 0 for one in drawn))
            value = max(value, wrong.least())  # what is wrong is a step off at least
            return ErrorEstimate(value, value / TIMES, value * TIMES, len(audited), unit="steps")
        return ErrorEstimate(*mean_of(drawn, value), len(audited), len(drawn), unit="steps")

    def suspects(self, moment: Moment, every: bool) -> list[Suspect]:
        """Return the labels that the median of all others misses by two steps or more, the least likely first."""
        classes = moment.history.classes
        nodes, votes, off = self._left_out(moment, every=True)
        told, instead = moment.history.told, self.decide(votes, classes) if nodes.size else nodes
        some = np.flatnonzero(off >= (1 if every else OFF)).tolist()
        found = [(votes[at, classes.index(told[nodes[at]])], int(nodes[at]), classes[instead[at]]) for at in some]
        return [Suspect(node, told[node], other, float(p)) for p, node, other in sorted(found, key=lambda one: one[:2])]

    def checks_wrong(self, moment: Moment) -> list[bool]:
        """Return of each spot check whether it is predicted wrong: by all other labels now, or by those before it."""
        return [off > 0 for off in self._checked_off(moment)]

    def _height(self, name: Any) -> Any:
        return self.steps.index(name) if self.steps else name

    def _left_out(self, moment: Moment, every: bool = False) -> tuple[IntArray, Array, Array]:
        """Return labeled nodes, the class probabilities by all other labels, and how many steps their median is off."""
        left, classes = left_out(moment.field, every).of_one_class, moment.history.classes
        votes = coding.shares(left.votes) if left.nodes.size else left.votes
        ranks = self.ranks(classes)
        off = np.abs(ranks[self.decide(votes, classes)] - ranks[left.said]) if left.nodes.size else left.variance
        return left.nodes, votes, off.astype(float)

    def _audited_off(self, moment: Moment) -> list[float]:
        """Return how many steps each audited label is off its prediction; a step that is not known yet is as far as any."""
        pairs = self._audited(moment, moment.chances) if moment.history.audited else []
        ranks = self.ranks(moment.history.classes)
        return [float(abs(ranks[made] - ranks[told])) if told >= 0 else float(ranks.size) for made, told in pairs]

    def _checked_off(self, moment: Moment) -> list[float]:
        """Return how many steps each spot check is off: its label by all others now, or what was predicted before."""
        nodes, _, off = self._left_out(moment)
        now, classes = dict(zip(nodes.tolist(), off.tolist(), strict=True)), moment.history.classes
        place = dict(zip(classes, self.ranks(classes).tolist(), strict=True))
        known = {node: both for node, both in moment.drawn.items() if place.keys() >= set(both)}
        return [now.get(node, float(abs(place[before] - place[told]))) for node, (before, told) in known.items()]


def _first(below: Array, at: float) -> IntArray:
    """Return the first column with this much of the probability of each row."""
    return np.argmax(below >= at * below[:, -1:] - coding.TIE, axis=1)


def _shortest(below: Array, share: float) -> tuple[IntArray, IntArray]:
    """Return the first and the last step of the shortest range with this probability in each row; of several, the likeliest.

    >>> _shortest(np.array([[0.1, 0.5, 0.9, 1.0], [0.85, 0.9, 0.95, 1.0]]), 0.8)
    (array([1, 0]), array([2, 0]))
    """
    n, steps = below.shape
    low, high = np.zeros(n, dtype=np.int64), np.full(n, steps - 1)
    before = np.hstack([np.zeros((n, 1)), below / np.maximum(below[:, -1:], np.finfo(float).tiny)])
    open_ = np.ones(n, dtype=bool)
    for many in range(1, steps):
        held = before[:, many:] - before[:, : steps + 1 - many]
        likeliest = held.argmax(axis=1)
        fits = open_ & (held.max(axis=1) >= share - coding.TIE)
        low[fits], high[fits] = likeliest[fits], likeliest[fits] + many - 1
        open_ &= ~fits
    return low, high
