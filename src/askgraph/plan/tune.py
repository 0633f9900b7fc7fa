"""Which graph, or which ridge, the labels speak for: candidates priced by leave-one-out each time the labels have doubled."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Any, NamedTuple, Protocol

import numpy as np

from askgraph.answers.coding import Coding
from askgraph.answers.events import Event, told_when
from askgraph.answers.history import History
from askgraph.errors import SettingError
from askgraph.field import Field, Observation
from askgraph.graph import Graph
from askgraph.graph.combine import merge, merging_factor
from askgraph.plan.rule import Rule
from askgraph.priors.base import Prior
from askgraph.priors.features import Features, make_prior
from askgraph.priors.precision import usual_delta
from askgraph.support.later import remember

# numbers of labels at which candidates are compared; with more labels, solves cost more than they tell
POINTS = (8, 16, 32, 64, 128, 256)
MANY_NODES = 100_000  # beyond, graphs with features and without are compared at 8, 16 and 32 labels only
MARGIN = 1.0  # nats, summed over the labels; a candidate that beats the first one by less is not chosen
# labels; features beside a graph are dropped where they cost more than guessing this many labels costs, plus half the root of the
# loss, since a loss is off by about its root
GUESSED = 2.0
ROWS = "features alone"  # the name of the candidate without the given graph, where there is one
RIDGES = (1.0, 0.1, 10.0)  # times the ridge that is given or usual; the candidates where there is one graph only


@dataclass(frozen=True)
class Choice:
    """The graph or ridge that ``Learner(..., tune=True)`` chose, and the losses that it was chosen by.

    Attributes
    ----------
    name : str
        The name of the candidate that was chosen.
    labels : int
        The number of labels at the comparison.
    counted : int
        The number of these labels that are not alone in their class: only they can be predicted from other labels.
    losses : mapping
        {name: loss} of all candidates, the one to begin with first: the leave-one-out loss in nats, summed over the labels
        counted.

    Examples
    --------
    >>> import askgraph as ag
    >>> print(ag.Choice("links", 8, 8, {"links": 2.0, "features": 4.0}))
    links: leave-one-out loss 0.250 a label, over 8 of 8 labels; next features, 0.500
    """

    name: str
    labels: int
    counted: int
    losses: Mapping[str, float]

    def __str__(self) -> str:
        """Return a sentence that says what was chosen, and why."""
        if not self.counted:
            return f"{self.name}: after {self.labels} labels no class has two, so nothing speaks for another"
        share = {name: f"{loss / self.counted:.3f}" for name, loss in self.losses.items()}
        other = min((name for name in self.losses if name != self.name), key=self.losses.__getitem__)
        little = self.losses[other] < self.losses[self.name]
        return (
            f"{self.name}: leave-one-out loss {share[self.name]} a label, over {self.counted} of {self.labels} labels; "
            f"next {other}, {share[other]}{', too small a gain to change' if little else ''}"
        )


class Priced(Protocol):
    """What candidates are compared by: a kind of answers, which prices what each says of the others."""

    def named(self, answer: Any) -> tuple[Hashable, ...]:
        """Return the classes that an answer names."""
        ...

    def coding(self, classes: Sequence[Hashable]) -> Coding:
        """Return the coding with these classes."""
        ...

    def coded(self, answer: Any, classes: Sequence[Hashable]) -> Any:
        """Return an answer as the coding takes it."""
        ...

    def price(self, prior: Prior, labels: Sequence[Observation], coding: Coding, features: bool) -> tuple[float, int]:
        """Return what labels cost in nats, each given the others, and how many are counted; ``features`` may be compared."""
        ...

    def margin(self, loss: float, classes: int) -> float:
        """Return by how many nats features beside a graph, with this loss, must be worse than the graph alone to be dropped."""
        ...


class Candidate(NamedTuple):
    """A graph, its ridge (None for the usual one), and features that are added to its field."""

    graph: Graph
    delta: float | None
    features: Features | None = None


@dataclass(frozen=True, eq=False)
class Tune(Rule):
    """Go on with the graph, the ridge or the features that the labels speak for: candidates, the one to begin with first.

    An engine is made for a candidate once, when the candidate is first compared. A comparison takes one solve per label and
    candidate, at 8, 16, … 256 labels and never after that.
    """

    candidates: Mapping[str, Candidate]
    engine: str
    columns: bool  # whether the sampler looks ahead through columns of the covariance
    noise: float  # of a label that was told without a noise of its own
    answers: Priced
    priors: dict[str, Prior] = field(default_factory=dict)
    choices: dict[Hashable, Choice] = field(
        default_factory=dict
    )  # the newest, by what was told: an undo prices nothing

    def __post_init__(self) -> None:
        if not isinstance(self.engine, str):
            raise SettingError(
                "tune=True and features make an engine for each candidate: give engine by its name, or leave it 'auto'"
            )

    @property
    def points(self) -> tuple[int, ...]:
        """The numbers of labels at which candidates are compared: fewer on large graphs with features, where solves are slow."""
        first = next(iter(self.candidates.values()))
        many = self._features and first.graph.n_nodes > MANY_NODES
        return POINTS[:3] if many else POINTS

    def choice(self, log: Sequence[Event], declared: Sequence[Hashable]) -> Choice | None:
        """Return the choice by the labels at the last comparison, as they were then; None before the first comparison."""
        if len(self.candidates) == 1 or not (told := told_when(log, self.points)):
            return None
        key = tuple(told.items()), tuple(declared)
        choice = self.choices.get(key)
        if choice is None:
            choice = self._chosen(told, declared)
            remember(self.choices, key, choice)
        return choice

    def restore(self, log: Sequence[Event], declared: Sequence[Hashable], choice: Choice | None, prior: Prior) -> None:
        """Take over the choice that this log led to, and its prior, as they were saved."""
        prior.described = self._features
        self.priors[choice.name if choice else next(iter(self.candidates))] = prior
        if choice:
            self.choices[tuple(told_when(log, self.points).items()), tuple(declared)] = choice

    def reviews(self, field: Field, history: History, together: bool = False) -> Field:
        """Return the field of the candidate that this history speaks for, with the labels of the field."""
        prior, now = self.prior(self.choice(history.log, history.declared)), field
        if now.origin is prior:
            return now
        if together:
            return Field.given(prior, now.observations, now.coding, now.noise, now.squares, now.discount)
        start = Field.start(prior, now.coding, now.noise, now.squares, now.discount)
        return reduce(lambda told, x: told.observe(x.node, x.said, x.noise), now.observations, start)

    def starts(self) -> Prior:
        """Return the prior of the first candidate."""
        return self.prior()

    def prior(self, choice: Choice | None = None) -> Prior:
        """Return the prior of the chosen candidate; before the first choice, of the first candidate."""
        return self._made(choice.name if choice else next(iter(self.candidates)))

    def _made(self, name: str) -> Prior:
        if name not in self.priors:
            graph, delta, features = self.candidates[name]
            made = make_prior(graph, delta, self.engine, self.columns, features)
            made.described = self._features
            self.priors.setdefault(name, made)  # the first one counts where a thread that computes ahead makes it, too
        return self.priors[name]

    @property
    def _features(self) -> bool:
        """Whether any candidate has features."""
        return any(one.features is not None for one in self.candidates.values())

    def _chosen(self, told: Mapping[int, tuple[Hashable, float | None]], declared: Sequence[Hashable]) -> Choice:
        kind, named = self.answers, (name for label, _ in told.values() for name in self.answers.named(label))
        classes = list(dict.fromkeys([*declared, *named]))
        labels = [
            Observation(node, kind.coded(label, classes), self.noise if noise is None else noise)
            for node, (label, noise) in told.items()
        ]
        coding = kind.coding(classes)
        prices = {name: kind.price(self._made(name), labels, coding, self._features) for name in self.candidates}
        losses, (first, *_) = {name: loss for name, (loss, _) in prices.items()}, prices
        best = min(losses, key=losses.__getitem__)
        counted = prices[first][1]
        margin = MARGIN if self.candidates[first].features is None else kind.margin(losses[first], len(classes))
        chosen = best if losses[best] + margin < losses[first] else first
        return Choice(chosen, len(labels), counted, losses)


def usual_margin(loss: float, classes: int) -> float:
    """Return the margin for answers that are classes."""
    return float(GUESSED * np.log(classes) + loss**0.5 / 2)


def candidates(
    graphs: Mapping[str, Graph], delta: float | None, ridges: bool, features: Features | None = None
) -> dict[str, Candidate]:
    """Return the candidates by name, the one to begin with first.

    They are several graphs and their sum, ridges of the only graph, or the only graph with features and without, and the features
    alone where the graph has nothing to do with them; without ``ridges``, the only graph alone.
    """
    if len(graphs) > 1:
        every = {name: Candidate(graph, delta) for name, graph in graphs.items()}
        some = list(graphs.values())
        return every | {" + ".join(graphs): Candidate(merge(some), _merged(delta, some))}
    ((name, graph),) = graphs.items()
    if features is not None:
        alone = Candidate(graph if features.given is None else features.given, delta)
        given = [] if features.given is None else [features.given]
        rows = {} if features.rows is None else {ROWS: Candidate(features.rows, None)}
        both = {f"{name} + features": Candidate(graph, _merged(delta, given), features)}
        return {**both, name: alone, **rows} if features.from_start else {name: alone, **both, **rows}
    if not ridges:
        return {name: Candidate(graph, delta)}
    ridge = usual_delta(graph) if delta is None else delta
    return {f"delta {ridge * times:.3g}": Candidate(graph, ridge * times) for times in RIDGES}


def _merged(delta: float | None, graphs: Sequence[Graph]) -> float | None:
    """Return a ridge in the unit of the weights of these graphs as it is once they are merged: the mean over the graphs."""
    if delta is None or not graphs:
        return delta
    return delta * sum(map(merging_factor, graphs)) / len(graphs)
