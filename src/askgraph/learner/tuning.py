"""Which graph, or which ridge, the labels speak for: candidates priced by leave-one-out each time the labels have doubled."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Any, NamedTuple

from scipy.sparse import issparse

from askgraph.distributed.sharded_graph import ShardedGraph
from askgraph.errors import GraphError, SettingError
from askgraph.field import Field, Observation
from askgraph.graph import Graph
from askgraph.graph.combine import merge, merging_factor
from askgraph.learner.events import Event, told_when
from askgraph.learner.features import Features, join_features, make_prior
from askgraph.learner.settings import Settings
from askgraph.priors.base import Prior
from askgraph.priors.precision import usual_delta
from askgraph.readouts.hearing import surprise_heard
from askgraph.readouts.temperature import surprise
from askgraph.support.later import with_newest

# numbers of labels at which candidates are compared; with more labels, solves cost more than they tell
POINTS = (8, 16, 32, 64, 128, 256)
MANY_NODES = 100_000  # beyond, graphs with features and without are compared at 8, 16 and 32 labels only
MARGIN = 1.0  # nats, summed over the labels; a candidate that beats the first one by less is not chosen
HARM = 4.0  # nats; features beside a graph are dropped where they cost more than that and half as much again as the graph alone
RIDGES = (1.0, 0.1, 10.0)  # times the ridge that is given or usual; the candidates where there is one graph only
ALONE = "the graph"  # the name of a graph that was given without one


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


class Candidate(NamedTuple):
    """A graph, its ridge (None for the usual one), and features that are added to its field."""

    graph: Graph
    delta: float | None
    features: Features | None = None


@dataclass(eq=False)
class Tuner:
    """The candidates, the one to begin with first, and what was computed for them.

    An engine is made for a candidate once, when the candidate is first compared. A comparison takes one solve per label and
    candidate, at 8, 16, … 256 labels and never after that.
    """

    candidates: Mapping[str, Candidate]
    settings: Settings
    engine: str
    priors: dict[str, Prior] = field(default_factory=dict)
    choices: dict[Hashable, Choice] = field(
        default_factory=dict
    )  # the newest, by what was told: an undo prices nothing again

    @classmethod
    def of(
        cls, graphs: Mapping[str, Graph], settings: Settings, engine: str | Prior, features: Features | None = None
    ) -> Tuner:
        """Return a tuner among these graphs and their sum, among ridges of the only graph, or with features and without them."""
        if not isinstance(engine, str):
            raise SettingError(
                "tune=True and features make an engine for each candidate: give engine by its name, or leave it 'auto'"
            )
        return cls(alternatives(graphs, settings, features), settings, engine)

    @property
    def points(self) -> tuple[int, ...]:
        """The numbers of labels at which candidates are compared: fewer on large graphs with features, where solves are slow."""
        first = next(iter(self.candidates.values()))
        many = any(x.features for x in self.candidates.values()) and first.graph.n_nodes > MANY_NODES
        return POINTS[:3] if many else POINTS

    def due(self, labels: int) -> bool:
        """Return whether candidates are compared right after this number of labels."""
        return len(self.candidates) > 1 and labels in self.points

    def choice(self, log: Sequence[Event], declared: Sequence[Hashable]) -> Choice | None:
        """Return the choice by the labels at the last comparison, as they were then; None before the first comparison."""
        if len(self.candidates) == 1 or not (told := told_when(log, self.points)):
            return None
        key = tuple(told.items()), tuple(declared)
        choice = self.choices.get(key)
        if choice is None:
            choice = self._chosen(told, declared)
            self.choices = with_newest(self.choices, key, choice)
        return choice

    def restore(self, log: Sequence[Event], declared: Sequence[Hashable], choice: Choice | None, prior: Prior) -> None:
        """Take over the choice that this log led to, and its prior, as they were saved."""
        self.priors[choice.name if choice else next(iter(self.candidates))] = prior
        if choice:
            self.choices[tuple(told_when(log, self.points).items()), tuple(declared)] = choice

    def refit(self, now: Field, log: Sequence[Event], declared: Sequence[Hashable], at_once: bool = False) -> Field:
        """Return the field of the candidate that this log speaks for, with the labels of ``now``, one by one or at once."""
        prior = self.prior(self.choice(log, declared))
        if now.origin is prior:
            return now
        if at_once:
            return Field.given(prior, now.observations, now.coding, now.noise, now.squares, now.discount)
        start = Field.start(prior, now.coding, now.noise, now.squares, now.discount)
        return reduce(lambda told, x: told.observe(x.node, x.said, x.noise), now.observations, start)

    def prior(self, choice: Choice | None = None) -> Prior:
        """Return the prior of the chosen candidate; before the first choice, of the first candidate."""
        return self._made(choice.name if choice else next(iter(self.candidates)))

    def _made(self, name: str) -> Prior:
        if name not in self.priors:
            graph, delta, features = self.candidates[name]
            made = make_prior(graph, delta, self.engine, self.settings.criterion.columns, features)
            self.priors.setdefault(name, made)  # the first one counts where a thread that computes ahead makes it, too
        return self.priors[name]

    def _chosen(self, told: Mapping[int, tuple[Hashable, float | None]], declared: Sequence[Hashable]) -> Choice:
        classes = list(dict.fromkeys([*declared, *(label for label, _ in told.values())]))
        labels = [
            Observation(node, classes.index(label), self.settings.noise if noise is None else noise)
            for node, (label, noise) in told.items()
        ]
        price = surprise if all(one.features is None for one in self.candidates.values()) else surprise_heard
        prices = {name: price(self._made(name), labels, len(classes)) for name in self.candidates}
        losses, (first, *_) = {name: loss for name, (loss, _) in prices.items()}, prices
        best = min(losses, key=losses.__getitem__)
        counted = prices[first][1]
        margin = MARGIN if self.candidates[first].features is None else HARM + losses[best] / 2
        chosen = best if losses[best] + margin < losses[first] else first
        return Choice(chosen, len(labels), counted, losses)


def alternatives(
    graphs: Mapping[str, Graph], settings: Settings, features: Features | None = None
) -> dict[str, Candidate]:
    """Return the candidates by name, the one to begin with first.

    They are several graphs and their sum, ridges of the only graph, or the only graph with features and without.
    """
    if len(graphs) > 1:
        every = {name: Candidate(graph, settings.delta) for name, graph in graphs.items()}
        some = list(graphs.values())
        return every | {" + ".join(graphs): Candidate(merge(some), _merged(settings.delta, some))}
    ((name, graph),) = graphs.items()
    if features is not None:
        alone = Candidate(graph if features.given is None else features.given, settings.delta)
        given = [] if features.given is None else [features.given]
        both = {name: alone, f"{name} + features": Candidate(graph, _merged(settings.delta, given), features)}
        return dict(reversed(both.items())) if features.from_start else both
    if not settings.tune:
        return {name: Candidate(graph, settings.delta)}
    delta = usual_delta(graph) if settings.delta is None else settings.delta
    return {f"delta {delta * times:.3g}": Candidate(graph, delta * times) for times in RIDGES}


def _merged(delta: float | None, graphs: Sequence[Graph]) -> float | None:
    """Return a ridge in the unit of the weights of these graphs as it is once they are merged: the mean over the graphs."""
    if delta is None or not graphs:
        return delta
    return delta * sum(map(merging_factor, graphs)) / len(graphs)


def chooses(settings: Settings, features: Features | None) -> bool:
    """Return whether there is a choice: with ``tune``, and with features."""
    return settings.tune or features is not None


def named_graphs(given: Any, tune: bool) -> dict[str, Graph]:
    """Return {name: graph} for a graph, or for several over the same nodes."""
    if not isinstance(given, Mapping) or issparse(given):  # a dok matrix is a mapping too
        return {ALONE: _graph(given)}
    if not tune:
        raise SettingError(
            f"{len(given)} graphs by name: give one of them, or tune=True to have one chosen as labels come"
        )
    if not given or not all(isinstance(name, str) for name in given):
        raise GraphError(f"graphs called {list(given)}: give at least one, as {{name: graph}}, its name a text")
    graphs = {name: _graph(graph) for name, graph in given.items()}
    first = next(iter(graphs))
    for name, graph in graphs.items():
        _check_alike(first, graphs[first], name, graph)
    return graphs


def _graph(given: Any) -> Graph:
    return given if isinstance(given, Graph | ShardedGraph) else Graph(given)  # type: ignore[return-value]  # it has what a learner reads


def _check_alike(one: str, a: Graph, other: str, b: Graph) -> None:
    if a.n_nodes != b.n_nodes:
        raise GraphError(f"{one!r} has {a.n_nodes} nodes, {other!r} {b.n_nodes}: give graphs over the same nodes")
    if a.names != b.names:
        at = next(i for i in range(a.n_nodes) if a.name(i) != b.name(i))
        raise GraphError(
            f"node {at} is {a.name(at)!r} in {one!r} and {b.name(at)!r} in {other!r}: give both the same names, in the same order"
        )


def joined_graphs(graph: Any, features: Any, tune: bool) -> tuple[dict[str, Graph], Features | None]:
    """Return {name: graph} and the linear part of the field, of a graph, of a graph and features, or of features alone."""
    if features is None:
        if graph is None:
            raise SettingError("what joins the nodes? give a graph, features, or both")
        return named_graphs(graph, tune), None
    if isinstance(features, Features):
        return named_graphs(graph, tune), features
    given = {} if graph is None else named_graphs(graph, tune)
    if len(given) > 1:
        raise SettingError(f"features and {len(given)} graphs: give one graph beside features")
    joined, linear = join_features(next(iter(given.values()), None), features)
    return {next(iter(given), ALONE): joined}, linear
