"""Algorithm 1 as an object: ask for a label, tell it, predict the rest."""

from __future__ import annotations

import inspect
import os
import time
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Unpack, overload

import numpy as np

from askgraph.answers.events import Event, own_noise
from askgraph.answers.history import History
from askgraph.answers.plain import as_seed, label_array
from askgraph.answers.shares import OneOf, Shares
from askgraph.distributed.sharded_graph import ShardedGraph
from askgraph.errors import LabelError, SettingError
from askgraph.field import Field, Observation, once_per_field
from askgraph.graph import Graph
from askgraph.kinds import Kind, Making, Moment, as_kind
from askgraph.learner import saving
from askgraph.learner.graphs import joined_graphs
from askgraph.learner.guesses import Guesses
from askgraph.learner.judge import Judge
from askgraph.learner.old_names import OLD_KEYWORDS, OLD_NAMES
from askgraph.learner.prefetch import Ahead, Prefetch
from askgraph.learner.rehearsal import rehearse
from askgraph.learner.settings import Settings, checked_noise
from askgraph.learner.showing import Shown
from askgraph.learner.state import State
from askgraph.learner.steps import Step, replay
from askgraph.options import OptionKeywords, check_names
from askgraph.plan import Plan, Question, Turn
from askgraph.plan.chance import SPOT_CHECK
from askgraph.plan.mixture import Mixture
from askgraph.plan.plan import Batch
from askgraph.plan.tune import Tune
from askgraph.priors import is_exact
from askgraph.priors import prior as choose_prior
from askgraph.priors.base import Prior
from askgraph.priors.features import Features, Kernels
from askgraph.readouts import Readout, ReadoutFunction, WithGuesses
from askgraph.readouts.by_class import best_classes, ranked
from askgraph.support.arguments import flag, is_missing, listed, node_mapping, one_of, share, whole_number
from askgraph.support.files import reading
from askgraph.support.moved import finds_old_names, with_new_names
from askgraph.support.turns import Turn as Lock
from askgraph.support.turns import in_turn
from askgraph.types import AnyArray, Array, IntArray
from askgraph.utilities import Criterion, Utility


class Learner(Shown):
    """Which node should I label next, and what are all the others?

    A node is called by its name, or by its index where the graph has no names. A label is any hashable value except None
    and NaN.

    Parameters
    ----------
    graph : Graph, ShardedGraph or {name: Graph}
        The graph, or anything that `Graph` takes; several graphs over the same nodes with ``tune=True``. It may be left out
        where there are features.
    sampler : str, Criterion, callable or Plan, optional
        How questions are chosen: a sampler's short name, a function ``(field, rows, p) -> scores``, larger is better, or a
        plan, which has rules of its own. By default "influence"; for numbers "sigma"; for numbers and
        ordered classes with features "vm", where the engine knows the norms that it reads.
    readout : str, Readout or callable, optional
        How votes become class probabilities; by default "cautious", and for ordered classes "votes".
    answers : {"classes", "ordered", "several", "numbers"} or Kind
        What people say of a node: one class; one of ordered classes, such as stars; any of several classes; or a number. It is
        declared, never inferred, and does not change.
    classes : iterable of hashable, optional
        Classes known before any label; others may come at any time.
    features : array or sparse matrix, optional
        Features of the nodes: one row per node, in the graph's order. Rows are scaled to length 1 and smoothed along the
        edges. Beside a graph, they join alike nodes as :func:`askgraph.with_features` does, and a linear function of them is
        added to the field, as long as leave-one-out does not prefer the graph alone. Where the graph has nothing to do with them,
        it counts alone until leave-one-out asks for both, or for the features alone. Without a graph, each node is joined to its
        ten nearest by cosine, and the linear function is added once leave-one-out asks for it.
        For ordered classes, several classes and numbers, features are columns of any unit instead: three kernels of them are
        added, and the answers say how much each counts, and the graph; without a graph, by the ten nearest by distance.
    tune : bool
        Whether to choose among several graphs and their sum, or among ridges of one graph, by leave-one-out, at 8, 16, … 256
        labels; ``judge.choice`` says which and why. With features there is such a choice anyway: with them or without.
    delta : float, optional
        The ridge of the field, in the unit of the weights; None for a thousandth of the mean degree.
    noise : float or "auto"
        The standard deviation of a label; 0 is the paper. "auto": the one at which the labels so far predict each other best,
        chosen again as labels come, for people who err; ``judge.advice()`` says how many labels look wrong. Numbers take
        "auto" only.
    engine : str or Prior
        "auto", an engine's name, or an engine.
    rng : int, Generator or None
        The seed. A question depends on the seed and on what was told, not on how often it was asked.
    **options
        A short way to write a plan: doubt, class_shares, form, expect, ahead, explore, first, batch, small_components, hubs and
        spot_checks; see :class:`askgraph.Options`.

    Attributes
    ----------
    graph : Graph or ShardedGraph
        The graph; of several graphs, the first; with features, the graph in use.
    plan : Plan
        How questions are chosen.
    readout : Readout or None
        How votes become class probabilities; None for several classes and numbers, which are read in one way only.
    answers : Kind
        What people say of a node.
    judge : Judge
        What the labels say of the predictions: expected errors, when to stop, audits, labels that look wrong.
    guesses : Guesses
        What models guess.
    seed : int
        The seed that questions are drawn with.

    Notes
    -----
    Several threads may call one learner. Each call happens as a whole, one after another, so no label is lost, and who reads
    sees all of a change or nothing of it. Two threads that ask get the same question until one of them answers; the second
    label of a node is a ``LabelError``. A call that is interrupted, by Ctrl-C or an error, leaves the learner as it was or as it
    would be. A sampler of your own must not call the learner it scores for, since :meth:`prefetch` runs it in a thread.
    Pickling is no call: pickle or copy a learner while no other thread uses it. A pickle is read by the version that wrote it;
    :meth:`save` writes a file that later versions read.

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

    graph: Graph
    plan: Plan
    readout: Readout | None
    answers: Kind
    judge: Judge
    guesses: Guesses
    seed: int

    @with_new_names(OLD_KEYWORDS)
    def __init__(
        self,
        graph: Graph | ShardedGraph | Mapping[str, Graph] | None = None,
        sampler: str | Criterion | Utility | Plan | None = None,
        *,
        answers: str | Kind = "classes",
        readout: str | Readout | ReadoutFunction | None = None,
        classes: Iterable[Hashable] | None = None,
        features: Any = None,
        tune: bool = False,
        delta: float | None = None,
        noise: float | Literal["auto"] = "auto",
        engine: str | Prior = "auto",
        rng: int | np.random.Generator | None = None,
        **options: Unpack[OptionKeywords],
    ) -> None:
        check_names(options, KEYWORDS)
        kind = as_kind(answers)
        graphs, linear = joined_graphs(graph, features, tune, kind.join)
        if sampler is None:
            sampler = kind.usual_sampler(
                linear is not None, partial(is_exact, next(iter(graphs.values())), delta, engine)
            )
        options = options if isinstance(sampler, Plan) else {**kind.usual_options, **options}  # type: ignore[typeddict-item]  # options too
        settings = Settings.of(sampler, readout, delta, noise, tune, kind, **options)
        self._begin(graphs, settings, engine, as_seed(rng), kind.declared(classes), features=linear)

    def _begin(
        self,
        graphs: dict[str, Graph],
        settings: Settings,
        engine: str | Prior,
        seed: int,
        declared: list[Hashable],
        field: Field | None = None,
        features: Features | Kernels | None = None,
    ) -> None:
        self.graph, self.seed, self._turn = next(iter(graphs.values())), seed, Lock()
        self._graphs, self._features, self._settings = graphs, features, settings
        self.answers, self.readout = settings.answers, settings.decide
        if features is not None:
            settings.plan.check_signed()
        making = Making(graphs, settings.delta, engine, settings.tune, settings.noise, features)
        self.plan = self.answers.with_rules(settings.plan.fresh(), making)
        self.judge, self.guesses, history = Judge(self), Guesses(self), History(declared, self.answers.named)
        coding = self.answers.coding(declared)
        start = field or Field.start(self._prior(engine), coding, settings.first_noise, self.plan.squares)
        self._state = State(start if field else self._reviewed(start, history), history)

    def _prior(self, engine: str | Prior) -> Prior:
        for rule in self.plan.rules:
            if (started := rule.starts()) is not None:
                return started
        if isinstance(engine, Prior):
            return engine
        prior = choose_prior(self.graph, self._settings.delta, engine, self.plan.sampler.criterion.columns)
        rehearse(Learner, self.plan.sampler, prior)
        return prior

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_state": self._state._replace(prefetch=None)}  # a thread cannot be pickled

    @property
    def field(self) -> Field:
        """The posterior."""
        return self._state.field

    @property
    def history(self) -> History:
        """Everything told so far that was not undone; events call nodes by their indices."""
        return self._state.history

    @property
    def classes(self) -> list[Hashable]:
        """The classes declared, then those seen, in the order of the columns of ``probabilities``."""
        return list(self.history.classes)

    @property
    def labels(self) -> dict[Hashable, Hashable]:
        """The labels told: {node: label}."""
        return {self.graph.name(node): label for node, label in self.history.told.items()}

    @property
    def engine(self) -> str:
        """The engine in use, and why it was chosen."""
        return self.field.prior.reason

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
        found = self.question(n)
        if isinstance(found, list):
            return [question.node for question in found]
        return None if found is None else found.node

    @overload
    def question(self, n: None = None, *, plan: Plan | None = None, batch: Batch | None = None) -> Question | None: ...
    @overload
    def question(self, n: int, *, plan: Plan | None = None, batch: Batch | None = None) -> list[Question]: ...
    @in_turn
    def question(
        self, n: int | None = None, *, plan: Plan | None = None, batch: Batch | None = None
    ) -> Question | list[Question] | None:
        """Choose the next question, or several to ask together, and say who asks and what is predicted.

        Parameters
        ----------
        n : int, optional
            The number of questions.
        plan : Plan, optional
            Another plan than the learner's, such as ``learner.plan.finding("spam")``, for these questions.
        batch : {"sequence", "local", "now"}, optional
            How questions are chosen that are asked together: one after another, each as if the nodes before it were labeled and
            their answers pending; after the first, those whose score no neighbor exceeds; or so from the first on, by one pass
            over the scores as they are, which takes less time, for several people who label at the same time. By default as
            the plan says.

        Returns
        -------
        Question, None or list
            The question, or None when there is nothing to ask; with n, a list of up to n questions.

        Examples
        --------
        >>> import askgraph as ag
        >>> learner = ag.Learner(ag.chain(9), rng=0)
        >>> learner.tell_all({0: "left", 8: "right"})
        >>> learner.question()
        Question(node=4, by='influence', predicted=None)
        >>> len(learner.question(2, batch="now"))
        2
        """
        if n is not None and (not isinstance(n, int | np.integer) or n < 1):
            raise SettingError(f"ask({n!r}): ask for at least one node, in whole numbers")
        wanted = 1 if n is None else int(n)
        if plan is not None or batch is not None:
            one_of(batch, "batch", ("sequence", "local", "now", None))
            found = self._other_questions(self.plan if plan is None else Plan.of(plan), wanted, batch)
        else:
            found = self._next_questions(wanted)
        named = [question._replace(node=self.graph.name(question.node)) for question in found]
        return named if n is not None else (named[0] if named else None)

    def _next_questions(self, n: int) -> Sequence[Question]:
        if len(self._state.questions) < n:
            field, found = self.plan.ask(self._next_turn(self.field, self.history), n)
            self._state = self._state._replace(field=field, questions=tuple(found))
        return self._state.questions[:n]

    def _other_questions(self, plan: Plan, n: int, batch: Batch | None) -> Sequence[Question]:
        if plan.squares and not self.field.squares:
            raise SettingError(f"{plan.sampler.name} reads more than this learner keeps: make a learner with this plan")
        field, found = plan.ask(self._next_turn(self.field, self.history), n, batch)
        self._state = self._state._replace(field=field)
        return found

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
            ``sampler="random"``.

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
        field, found = self.plan.scores(self._next_turn(self.field, self.history), wanted)
        self._state = self._state._replace(field=field)
        return found

    @in_turn
    def tell(
        self, node: Hashable | Question, label: Hashable, noise: float | None = None, predicted: Hashable | None = None
    ) -> None:
        """Tell the label of a node, whether it was asked for or not.

        Parameters
        ----------
        node : hashable or Question
            The node, or the question that it answers. It must not be labeled; :meth:`relabel` changes a label.
        label : hashable
            The label; a new label is a new class.
        noise : float, optional
            The label noise of this label, a standard deviation; by default that of the learner.
        predicted : hashable, optional
            The label that was predicted before, where the node was drawn at random: this makes the answer a spot check. One
            that :meth:`ask` drew, or that the question says, is known as such without it.

        Examples
        --------
        >>> import askgraph as ag
        >>> learner = ag.Learner(ag.chain(5), rng=0)
        >>> learner.tell(0, "left")
        >>> learner.tell(4, "right", noise=0.3)
        >>> learner.labels
        {0: 'left', 4: 'right'}
        """
        asked = node if isinstance(node, Question) else None
        name = asked.node if asked else node
        at, label = self.graph.index(name), self.answers.checked(label, self.history.classes)
        if self._is_labeled(at):
            raise LabelError(
                f"node {name!r} is labeled {self.labels[name]!r} already; change it with relabel({name!r}, ...)"
            )
        self.answers.check_noise(noise)
        noise = None if noise is None else checked_noise(noise)
        before = self._foretold(at, asked) if predicted is None else predicted
        history = self.history.after(Event("tell", at, label, noise=noise, predicted=before))
        field, known = self._observed(at, self.answers.coded(label, history.classes), noise)
        self._publish(self._reviewed(field, history), history, known)

    @in_turn
    def tell_all(
        self,
        labels: Mapping[Any, Hashable],
        predicted: Mapping[Any, Hashable] | None = None,
        noise: Mapping[Any, float] | None = None,
    ) -> None:
        """Tell many labels at once, which takes one factorization instead of one solve per label.

        Parameters
        ----------
        labels : mapping
            {node: label}, for nodes that are not labeled.
        predicted : mapping, optional
            {node: label predicted before}, for those of the nodes that were spot checks.
        noise : mapping, optional
            {node: label noise}, for those of the labels whose noise is not that of the learner; see :meth:`tell`.

        Examples
        --------
        >>> import askgraph as ag
        >>> learner = ag.Learner(ag.chain(5), rng=0)
        >>> learner.tell_all({0: "left", 4: "right"})
        >>> learner.classes
        ['left', 'right']
        """
        index = self.graph.index
        given = node_mapping(labels, "labels", needed=True)
        told = dict(zip(map(index, given), self._checked_all(list(given.values())), strict=True))
        taken = [at for at in told if self._is_labeled(at)]
        if taken:
            raise LabelError(f"node {self.graph.name(taken[0])!r} is labeled already: leave it out, or relabel it")
        for value in node_mapping(noise, "noise").values():
            self.answers.check_noise(value)
        gamma = {index(node): checked_noise(value) for node, value in node_mapping(noise, "noise").items()}
        foretold = node_mapping(predicted, "predicted")
        before = dict(zip(map(index, foretold), self._checked_all(list(foretold.values())), strict=True))
        events = [Event("tell", at, told[at], noise=gamma.get(at), predicted=before.get(at)) for at in told]
        history = self.history.after(*events)
        coded = {label: self.answers.coded(label, history.classes) for label in set(told.values())}
        new = [Observation(at, coded[label], gamma.get(at, self.field.noise)) for at, label in told.items()]
        field = self.field.extended(new, self.answers.coding(history.classes))
        self._publish(self._reviewed(field, history, together=True), history)

    @in_turn
    def relabel(self, node: Hashable, label: Hashable) -> None:
        """Give a labeled node another label.

        Parameters
        ----------
        node : hashable
            The labeled node.
        label : hashable
            The new label; a class that then has no label is dropped, unless it was declared.

        Examples
        --------
        >>> import askgraph as ag
        >>> learner = ag.Learner(ag.chain(5), rng=0)
        >>> learner.tell(0, "lfet")
        >>> learner.relabel(0, "left")
        >>> learner.labels, learner.classes
        ({0: 'left'}, ['left'])
        """
        at, label = self.graph.index(node), self.answers.checked(label, self.history.classes)
        before = self.history.told.get(at)
        if before is None:
            raise LabelError(f"node {node!r} has no label yet: tell({node!r}, {label!r})")
        history = self.history.after(Event("relabel", at, label, before))
        field = self._reviewed(self.field.relabel(at, self.answers.coded(label, history.classes)), history)
        self._publish(*self._with_used_classes(field, history))

    @in_turn
    def skip(self, node: Hashable) -> None:
        """Set a node aside: it is not asked for again, and is predicted like any other node.

        Parameters
        ----------
        node : hashable
            The node, which must not be labeled.

        Examples
        --------
        >>> import askgraph as ag
        >>> learner = ag.Learner(ag.chain(2), rng=0)
        >>> learner.skip(0)
        >>> learner.ask()
        1
        """
        at = self.graph.index(node)
        if self._is_labeled(at):
            raise LabelError(f"node {node!r} is labeled: only an unlabeled node can be skipped")
        self._publish(self.field, self.history.after(Event("skip", at)))

    @in_turn
    def retract(self, node: Hashable) -> None:
        """Take back what was told of a node, however long ago: its label, or that it was set aside.

        Parameters
        ----------
        node : hashable
            A node that is labeled or set aside.

        Examples
        --------
        >>> import askgraph as ag
        >>> learner = ag.Learner(ag.chain(5), rng=0)
        >>> learner.tell_all({0: "left", 4: "right"})
        >>> learner.retract(0)
        >>> learner.labels
        {4: 'right'}
        """
        at = self.graph.index(node)
        if self._is_labeled(at):
            told = next(x for x in self.field.observations if x.node == at)
            history = self.history.after(Event("retract", at, before=self.history.told[at], noise=told.noise))
            self._publish(*self._with_used_classes(self._reviewed(self.field.forget(at), history), history))
        elif at in self.history.set_aside:
            self._publish(self.field, self.history.after(Event("retract", at)))
        else:
            raise LabelError(f"node {node!r} has no label and is not set aside: there is nothing to take back")

    @in_turn
    def undo(self) -> Event | None:
        """Take back the last thing told.

        Returns
        -------
        Event or None
            What was taken back; None where nothing was told.

        Examples
        --------
        >>> import askgraph as ag
        >>> learner = ag.Learner(ag.chain(5), rng=0)
        >>> learner.tell(0, "left")
        >>> learner.undo().label, learner.labels
        ('left', {})
        """
        if not self.history.log:
            return None
        event, before, field, kind = self.history.log[-1], self.history.before_last, self.field, self.answers
        names = self.history.classes if event.before is None else self.history.classes_with(event.before)
        if event.kind == "tell":
            field = field.forget(event.node)
        elif event.kind == "relabel":
            field = field.relabel(event.node, kind.coded(event.before, names))
        elif event.before is not None:
            noise = event.noise if event.node in own_noise(before.log) else None
            field = field.observe(event.node, kind.coded(event.before, names), noise)
        field = field.arranged(kind.columns([names.index(name) for name in before.classes]))
        self._publish(self._reviewed(field, before), before)
        return event

    @in_turn
    def probabilities(self, nodes: Sequence[Hashable] | None = None) -> Array:
        """Return class probabilities.

        Parameters
        ----------
        nodes : sequence of hashable, optional
            The nodes; by default all, in the graph's order.

        Returns
        -------
        array
            One row per node, one column per class in the order of ``classes``.

        Examples
        --------
        >>> import askgraph as ag
        >>> learner = ag.Learner(ag.chain(5), readout="map", rng=0)
        >>> learner.tell_all({0: "left", 4: "right"})
        >>> learner.probabilities([1, 2]).round(2).tolist()
        [[0.75, 0.25], [0.5, 0.5]]
        """
        field, history, *_ = self._state
        self._check_by_class()
        p = field.space.gather(self._read(field, history))
        return p if nodes is None else p[self._indices(nodes)]

    def _check_by_class(self) -> None:
        if not self.answers.by_class:
            raise SettingError(f"answers={self.answers.name!r} have no class probabilities: see predict(interval=0.9)")

    def _read(self, field: Field, history: History) -> Array:
        """Return the probabilities of all rows: by the readout, and by guesses where there are any."""
        guesses = self.guesses
        if not history.classes:
            return field.votes[:, :0]
        if not guesses or not field.held or self.readout is None:
            return self.answers.probabilities(self._moment_of(field, history))
        kept = read_with_guesses(field)
        found = kept.get(guesses.version)
        if found is None:
            found = WithGuesses(self.readout, guesses.witnesses(history.classes, field.space))(field)
            kept.clear()
            kept[guesses.version] = found
        return found.copy()

    @property
    def _moment(self) -> Moment:
        field, history, *_ = self._state
        return self._moment_of(field, history)

    def _moment_of(self, field: Field, history: History) -> Moment:
        read = partial(self._read, field, history)
        return Moment(field, history, self.plan, self.readout, read, bool(self.guesses))

    @overload
    def predict(self, nodes: Sequence[Hashable] | None = None) -> AnyArray: ...
    @overload
    def predict(self, nodes: Sequence[Hashable] | None = None, *, top: int) -> tuple[AnyArray, Array]: ...
    @overload
    def predict(
        self, nodes: Sequence[Hashable] | None = None, *, interval: float
    ) -> tuple[AnyArray, AnyArray, AnyArray]: ...
    @in_turn
    def predict(
        self, nodes: Sequence[Hashable] | None = None, *, top: int | None = None, interval: float | None = None
    ) -> AnyArray | tuple[AnyArray, Array] | tuple[AnyArray, AnyArray, AnyArray]:
        """Predict labels, or the likeliest labels of each node with their probabilities, or a range of ordered labels.

        A tie goes to the class that was named first, in the order of ``classes``. All classes tie at a node that no label
        reaches, such as one without an edge: its label is a guess, and its probabilities are equal.

        Parameters
        ----------
        nodes : sequence of hashable, optional
            The nodes; by default all, in the graph's order.
        top : int, optional
            How many labels of each node. Where there are many classes this takes much less memory than ``probabilities``: an
            array of all nodes and all classes is made only for a readout of your own, "reweighted", and guesses.
        interval : float, optional
            For ordered classes and numbers: the probability with which a range should hold the answer, such as 0.9.

        Returns
        -------
        array, or tuple of two arrays
            One label per node; None for every node while no class is known. With ``top``, the labels and their probabilities:
            one row per node, the likeliest first, and fewer than ``top`` columns where there are fewer classes. With
            ``interval``, the predictions and the lower and upper ends of their ranges.

        Examples
        --------
        >>> import askgraph as ag
        >>> learner = ag.Learner(ag.chain(6), readout="map", rng=0)
        >>> learner.tell_all({0: "left", 5: "right", 3: "middle"})
        >>> learner.predict([1, 2]).tolist()
        ['left', 'middle']
        >>> labels, p = learner.predict([1, 2], top=2)
        >>> labels.tolist(), p.round(2).tolist()
        ([['left', 'middle'], ['middle', 'left']], [[0.67, 0.33], [0.67, 0.33]])
        """
        if top is not None:
            return self._best(nodes, whole_number(top, "top", 1))
        some = slice(None) if nodes is None else self._indices(nodes)
        moment = self._moment
        found = self.answers.predict(moment)[some]
        if interval is None:
            return found
        low, high = self.answers.interval(moment, share(interval, "interval"))
        return found, low[some], high[some]

    def _best(self, nodes: Sequence[Hashable] | None, top: int) -> tuple[AnyArray, Array]:
        """Return the likeliest labels of each node, and their probabilities."""
        self._check_by_class()
        field, classes = self.field, self.history.classes
        top = min(top, len(classes))
        if not top:
            found, best = np.zeros((self.graph.n_nodes, 0), np.int64), np.zeros((self.graph.n_nodes, 0))
        elif (self.guesses and field.held) or self.readout is None:
            found, best = ranked(self.probabilities(), top)
        else:
            found, best = map(field.space.gather, best_classes(field, self.readout, top))
        some = slice(None) if nodes is None else self._indices(nodes)
        return label_array(classes)[found[some]], best[some]

    def run(self, oracle: Callable[[Any], Hashable], budget: int) -> Iterator[Step]:
        """Ask for labels and tell them until a budget is spent, or until there is nothing left to ask.

        Parameters
        ----------
        oracle : callable
            A function that takes a node and returns its label, or None (NaN, NA) to set the node aside, which spends no budget.
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
        budget = whole_number(budget, "budget")
        if not callable(oracle):
            raise SettingError(f"oracle={oracle!r}: give a function that takes a node and returns its label")
        while budget > 0:
            start = time.perf_counter()
            node = self.ask()
            asked = time.perf_counter() - start
            if node is None:
                return
            label = oracle(node)
            if is_missing(label):
                self.skip(node)
                continue
            start = time.perf_counter()
            with self._turn:
                self.tell(node, label)
                field = self.field
            yield Step(node, label, field, asked, time.perf_counter() - start)
            budget -= 1

    @in_turn
    def prefetch(self) -> Ahead:
        """Compute what follows each possible answer to the next question, in a thread, while a person thinks.

        The ``tell`` of that answer and the ``ask`` after it then take milliseconds. Questions are the same with and without
        this call. On the engine "petsc" nothing is prefetched.

        Returns
        -------
        Ahead
            What follows each answer, as far as it is computed.

        Examples
        --------
        >>> import askgraph as ag
        >>> learner = ag.Learner(ag.chain(5), rng=0, first="utility")
        >>> ahead = learner.prefetch()
        >>> learner.tell(learner.ask(), "middle")  # uses what was computed meanwhile
        >>> learner.labels
        {2: 'middle'}
        """
        ahead = self._state.prefetch
        asked = self._next_questions(1) if self.field.space.alone else ()
        if asked and (ahead is None or ahead.node != asked[0].node or ahead.stopped):
            if ahead:
                ahead.stop()
            self._state = self._state._replace(prefetch=self._started(asked[0].node))
        return self._following

    @property
    def _following(self) -> Ahead:
        return Ahead(self._state.prefetch, self.graph.name)

    def _started(self, node: int) -> Prefetch[Field, tuple[Field, list[Question]]]:
        """Return a thread that computes what follows each answer about a node, the likeliest answer first."""
        field, history, *_ = self._state
        answers = self.answers.foreseen(self._moment, node)
        follow = partial(self._follow, history, node, answers)
        return Prefetch(node, lambda: field.awaiting(node), follow, answers)

    def _follow(
        self, history: History, node: int, answers: Mapping[Any, Hashable], awaiting: Field, code: Any
    ) -> tuple[Field, list[Question]]:
        """Return the field after an answer, and the next question; in a thread, which takes no turn: a turn may wait for it."""
        after = history.after(Event("tell", node, answers[code]))
        field = self._reviewed(awaiting.answered(code), after)
        return self.plan.ask(self._next_turn(field, after))

    @in_turn
    def save(self, path: str | os.PathLike[str], state: bool = False) -> None:
        """Write the graph, the settings and everything told to one npz file; nothing is pickled.

        Parameters
        ----------
        path : str or path
            The file; an existing one is replaced.
        state : bool
            Whether to add what was computed (the factor or the probes, and one column per label: a gigabyte or two at a
            million nodes). :meth:`load` then reads the result from the file instead of computing it again. With ``petsc``
            each process writes its own file beside this one (work.rank0.npz, work.rank1.npz, …). An engine on a GPU cannot
            save its state.

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
        state, field = flag(state, "state"), self.field
        tunes = [rule for rule in self.plan.rules if isinstance(rule, Tune)]
        engine = tunes[0].engine if tunes else field.prior.name
        log, declared = tuple(map(tuple, self.history.log)), tuple(self.history.declared)
        told = saving.Saved(self._graphs, self._settings, self.seed, engine, declared, log)
        told = told._replace(guesses=self.guesses.to_rows(), features=self._features)
        whole = told._replace(orders=self.history.orders, field=field, choice=self.judge.choice) if state else told
        saving.write(path, whole, field.space.writes)
        field.space.barrier()

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
            The learner. Where the file has no state, or that of another number of processes, everything that was told is
            told again.

        Examples
        --------
        >>> import askgraph as ag
        >>> from tempfile import TemporaryDirectory
        >>> learner = ag.Learner(ag.chain(5), rng=0)
        >>> learner.tell_all({0: "left", 4: "right"})
        >>> with TemporaryDirectory() as folder:
        ...     learner.save(f"{folder}/work.npz")
        ...     ag.Learner.load(f"{folder}/work.npz").labels
        {0: 'left', 4: 'right'}
        """
        with reading(path, "a saved learner", "restore it from a copy, or save it again"):
            return cls._restored(saving.read(path))

    @classmethod
    def _restored(cls, saved: saving.Saved) -> Learner:
        learner = cls.__new__(cls)
        how = (saved.settings, saved.engine, saved.seed, list(saved.declared))
        learner._begin(saved.graphs, *how, saved.field, saved.features)
        learner.guesses.restore(saved.guesses)
        log = [Event(*event) for event in saved.log]
        if saved.field is None:
            for event in log:
                replay(learner, event)
            return learner
        learner.history.restore(log, saved.orders)
        for rule in learner.plan.rules:
            if isinstance(rule, Tune):
                rule.restore(log, learner.history.declared, saved.choice, saved.field.origin)
            elif isinstance(rule, Mixture):
                rule.restore(learner.history, saved.field)
        return learner

    def _next_turn(self, field: Field, history: History) -> Turn:
        """Return the turn to choose the question that follows this history."""
        aside, reader = history.set_aside, Reader(self.answers, self._moment_of(field, history))
        return Turn.of(field, field.held + len(aside), self.seed, aside, history.classes, reader)

    def _foretold(self, node: int, asked: Question | None) -> Hashable:
        """Return what was predicted for a node where it was asked for as a spot check; else None."""
        questions = (asked,) if asked else [one for one in self._state.questions[:1] if one.node == node]
        return next((one.predicted for one in questions if one.by == SPOT_CHECK), None)

    def _checked_all(self, labels: Sequence[Any]) -> list[Hashable]:
        """Return answers that are told together, checked: classes that one of them names by itself are known to all."""
        kind, known = self.answers, self.history.classes
        plain = [label for label in labels if not isinstance(label, Mapping | OneOf | Shares)]
        names = [*known, *(name for label in plain for name in kind.named(kind.checked(label, known)))]
        return [kind.checked(label, names) for label in labels]

    def _with_used_classes(self, field: Field, history: History) -> tuple[Field, History]:
        """Return both with those of their classes that are declared or in use."""
        used = {*history.declared, *(name for label in history.told.values() for name in self.answers.named(label))}
        kept = [at for at, name in enumerate(history.classes) if name in used]
        return field.arranged(self.answers.columns(kept)), history.with_classes([history.classes[at] for at in kept])

    def _observed(self, node: int, code: Any, noise: float | None) -> tuple[Field, Sequence[Question]]:
        """Return the field after a label, and the next question where it was prefetched."""
        ahead = self._state.prefetch
        if noise is not None:
            return self.field.observe(node, code, noise), ()
        awaiting, after = ahead.take(code) if ahead and ahead.node == node else (None, None)
        return after or ((awaiting or self.field.awaiting(node)).answered(code), [])

    def _reviewed(self, field: Field, history: History, together: bool = False) -> Field:
        """Return the field that this history speaks for, by the rules of the plan."""
        for rule in self.plan.rules:
            field = rule.reviews(field, history, together)
        return field

    def _publish(self, field: Field, history: History, questions: Sequence[Question] = ()) -> None:
        """Set all that changed in one assignment, the last thing that a change does; then end what was computed ahead."""
        ahead = self._state.prefetch
        self._state = State(field, history, tuple(questions))
        if ahead:
            ahead.stop()

    def _is_labeled(self, node: int) -> bool:
        return bool(self.field.space.pick(self.field.labeled, node))

    def _indices(self, nodes: Sequence[Hashable]) -> IntArray:
        return np.array([self.graph.index(node) for node in listed(nodes, "nodes", LabelError)], dtype=np.int64)

    if not TYPE_CHECKING:
        __getattr__ = finds_old_names(OLD_NAMES)


KEYWORDS = list(inspect.signature(Learner).parameters)[:-1]  # without the options of a plan


@once_per_field
def read_with_guesses(field: Field) -> dict[int, Array]:
    """Return where the probabilities by a field and the guesses that were last read are kept, by the version of the guesses."""
    return {}


class Reader(NamedTuple):
    """How a learner reads its field, for the rules of its plan."""

    kind: Kind
    moment: Moment

    def probabilities(self) -> Array:
        """Return the class probabilities of all rows."""
        return self.moment.read()

    def predicted(self, node: int) -> Hashable:
        """Return what is predicted for a node."""
        return self.kind.predicted(self.moment, node)

    def likely(self, sought: Hashable) -> Array | None:
        """Return how likely each row is what is sought."""
        return self.kind.likely(self.moment, self.kind.check_sought(sought))
