"""Algorithm 1 as an object: ask for a label, tell it, predict the rest."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Literal, overload

import numpy as np

from askgraph.distributed.sharded_graph import ShardedGraph
from askgraph.errors import SettingError
from askgraph.field import Field, coding
from askgraph.graph import Graph
from askgraph.learner import saving
from askgraph.learner.events import Event, Step, replay
from askgraph.learner.features import Features, check_sampler, join_features
from askgraph.learner.history import History
from askgraph.learner.hubs import HubRule
from askgraph.learner.labels import as_seed, declared_classes
from askgraph.learner.prefetch import Prefetch
from askgraph.learner.questions import alternatives, questions
from askgraph.learner.settings import Schedule, Settings
from askgraph.learner.telling import Told
from askgraph.learner.tuning import ALONE, Tuner, chooses, named_graphs
from askgraph.priors import prior as choose_prior
from askgraph.priors.base import Prior
from askgraph.readouts import Readout
from askgraph.utilities import Criterion, Utility
from askgraph.utilities.closed import Form


class Learner(Told):
    """Which node should I label next, and what are all the others?

    A node is called by its name, or by its index where the graph has no names. A label is any hashable value except None
    and NaN.

    Parameters
    ----------
    graph : Graph, ShardedGraph or {name: Graph}
        The graph, or anything that `Graph` takes; several graphs over the same nodes with ``tune=True``. It may be left out
        where there are features.
    utility : str, Criterion or callable
        A sampler's short name, or a function ``(field, rows, p) -> scores``, larger is better.
    delta : float, optional
        The ridge of the field; None for a thousandth of the mean degree.
    readout : str or Readout
        How votes become probabilities.
    rng : int, Generator or None
        The seed. A question depends on the seed and on what was told, not on how often it was asked.
    engine : str or Prior
        "auto", an engine's name, or an engine.
    classes : iterable of hashable, optional
        Classes known before any label; others may come at any time.
    doubt, class_shares, form, explore, first, noise, expect, ahead, batch, small_components, hubs, spot_checks
        How questions are chosen; see :class:`askgraph.learner.settings.Settings`.
    tune : bool
        Whether to choose among several graphs and their sum, or among ridges of one graph, by leave-one-out, at 8, 16, … 256
        labels; ``choice`` says which and why. With features there is such a choice anyway: with them or without.
    features : array or sparse matrix, optional
        Features of the nodes: one row per node, in the graph's order. Rows are scaled to length 1 and smoothed along the
        edges. Beside a graph, they join alike nodes as :func:`askgraph.with_features` does, and a linear function of them is
        added to the field, as long as leave-one-out does not prefer the graph alone. Without a graph, each node is joined to its
        ten nearest by cosine, and the linear function is added once leave-one-out asks for it.

    Attributes
    ----------
    graph : Graph or ShardedGraph
        The graph; of several graphs, the first; with features, the graph in use.
    settings : Settings
        The options that were given.
    seed : int
        The seed that questions are drawn with.

    Examples
    --------
    >>> import askgraph as ag
    >>> learner = ag.Learner(ag.chain(5), rng=0)
    >>> learner.tell(0, "left")
    >>> learner.ask()
    4
    >>> learner.tell(4, "right")
    >>> [str(label) for label in learner.predict()]
    ['left', 'left', 'left', 'right', 'right']
    """

    def __init__(
        self,
        graph: Graph | ShardedGraph | Mapping[str, Graph] | None = None,
        utility: str | Criterion | Utility = "influence",
        doubt: Schedule = "sqrt",
        form: Form = "printed",
        delta: float | None = None,
        readout: str | Readout = "cautious",
        rng: int | np.random.Generator | None = None,
        *,
        engine: str | Prior = "auto",
        classes: Iterable[Hashable] | None = None,
        explore: Schedule = 0.0,
        first: Literal["random", "utility"] = "random",
        noise: float = 0.0,
        expect: Literal["mean", "min"] = "mean",
        ahead: int = 64,
        batch: Literal["sequence", "local"] = "sequence",
        tune: bool = False,
        class_shares: Sequence[float] | None = None,
        small_components: Literal["wait", "ask"] = "wait",
        hubs: Literal["discount", "skip", "ask"] | None = None,
        spot_checks: int = 0,
        features: Any = None,
    ) -> None:
        settings = Settings(
            utility=utility,
            doubt=doubt,
            form=form,
            delta=delta,
            readout=readout,
            explore=explore,
            first=first,
            noise=noise,
            expect=expect,
            ahead=ahead,
            batch=batch,
            tune=tune,
            class_shares=class_shares,
            small_components=small_components,
            hubs=hubs,
            spot_checks=spot_checks,
        )
        graphs, linear = _joined(graph, features, tune)
        self._begin(graphs, settings, engine, as_seed(rng), declared_classes(classes), features=linear)

    def _begin(
        self,
        graphs: dict[str, Graph],
        settings: Settings,
        engine: str | Prior,
        seed: int,
        declared: list[Hashable],
        field: Field | None = None,
        features: Features | None = None,
    ) -> None:
        if features is not None:
            check_sampler(settings)
        self._graphs, self._features, self.settings, self.seed = graphs, features, settings, seed
        self.graph, self._readout = next(iter(graphs.values())), settings.decide
        self._tuner = Tuner.of(graphs, settings, engine, features) if chooses(settings, features) else None
        self._hub_rule = HubRule() if settings.about_hubs == "discount" else None
        self._history = History(declared)
        start = field or Field.start(self._prior(engine), len(declared), settings.noise, settings.squares)
        self._field = start if field else self._tuned(start, [])
        self._questions: list[int] = []
        self._prefetch: Prefetch[Field, tuple[Field, list[int]]] | None = None

    def _prior(self, engine: str | Prior) -> Prior:
        if self._tuner is not None:
            return self._tuner.prior()
        if isinstance(engine, str):
            return choose_prior(self.graph, self.settings.delta, engine, self.settings.criterion.columns)
        return engine

    def __repr__(self) -> str:
        labels, engine = len(self.labels), self._field.prior.name
        return f"Learner({self.graph.n_nodes} nodes, {labels} labels, {len(self.classes)} classes, engine={engine!r})"

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_prefetch": None}  # a thread cannot be pickled

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

    def run(self, oracle: Callable[[Any], Hashable], budget: int) -> Iterator[Step]:
        """Ask for labels and tell them until a budget is spent, or until there is nothing left to ask.

        Parameters
        ----------
        oracle : callable
            A function that takes a node and returns its label, or None to set the node aside, which spends no budget.
        budget : int
            The number of labels.

        Yields
        ------
        Step
            One step per label, after the label was told.

        Examples
        --------
        >>> import askgraph as ag
        >>> learner = ag.Learner(ag.chain(6), rng=0)
        >>> for step in learner.run(lambda node: "left" if node < 3 else "right", budget=4):
        ...     pass
        >>> len(learner.labels), step.label == learner.labels[step.node]
        (4, True)
        """
        while budget > 0:
            start = time.perf_counter()
            node = self.ask()
            asked = time.perf_counter() - start
            if node is None:
                return
            label = oracle(node)
            if label is None:
                self.skip(node)
                continue
            start = time.perf_counter()
            self.tell(node, label)
            yield Step(node, label, self._field, asked, time.perf_counter() - start)
            budget -= 1

    def save(self, path: str | os.PathLike[str], state: bool = False) -> None:
        """Write the graph, the settings and everything told to one npz file; nothing is pickled.

        Parameters
        ----------
        path : str or path
            The file; an existing one is replaced.
        state : bool
            Whether to add what was computed (the factor or the probes, and one column per label: a gigabyte or two at a
            million nodes). :meth:`load` then reads the result from the file instead of computing it again. An engine on a
            GPU or in several processes cannot save its state.

        Examples
        --------
        >>> import askgraph as ag
        >>> from tempfile import TemporaryDirectory
        >>> learner = ag.Learner(ag.chain(5), rng=0)
        >>> learner.tell(0, "left")
        >>> with TemporaryDirectory() as folder:
        ...     learner.save(f"{folder}/work.npz")
        ...     again = ag.Learner.load(f"{folder}/work.npz")
        >>> again.labels, again.ask() == learner.ask()
        ({0: 'left'}, True)
        """
        engine = self._field.prior.name if self._tuner is None else self._tuner.engine
        log, declared = tuple(map(tuple, self._history.log)), tuple(self._history.declared)
        told = saving.Saved(self._graphs, self.settings, self.seed, engine, declared, log, features=self._features)
        whole = told._replace(orders=self._history.orders, field=self._field, choice=self.choice) if state else told
        saving.write(path, whole, self._field.space.writes)
        self._field.space.barrier()

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Learner:
        """Read a learner that :meth:`save` wrote; its next question is the same as before.

        Parameters
        ----------
        path : str or path
            The file. Large arrays stay in the file and are read as they are used, so do not change the file meanwhile.

        Returns
        -------
        Learner
            The learner. Where the file has no state, everything that was told is told again.
        """
        saved = saving.read(path)
        learner = cls.__new__(cls)
        begun = (
            saved.graphs,
            saved.settings,
            saved.engine,
            saved.seed,
            list(saved.declared),
            saved.field,
            saved.features,
        )
        learner._begin(*begun)
        log = [Event(*event) for event in saved.log]
        if saved.field is None:
            for event in log:
                replay(learner, event)
            return learner
        learner._history.restore(log, saved.orders)
        if learner._tuner is not None:
            learner._tuner.restore(log, learner._history.declared, saved.choice, saved.field.origin)
        return learner

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
        return self.settings.checks(self._answered + ahead)

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


def _joined(graph: Any, features: Any, tune: bool) -> tuple[dict[str, Graph], Features | None]:
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
