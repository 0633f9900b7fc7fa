"""What a kind of answer is: what people may say, what the field observes of it, and what is predicted."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from askgraph.answers.coding import Coding
from askgraph.answers.events import checked
from askgraph.answers.history import History
from askgraph.errors import SettingError
from askgraph.field import Field, Observation
from askgraph.field.leave_one_out import Supposed, supposed_in
from askgraph.graph import Graph
from askgraph.kinds.diagnostics import Suspect
from askgraph.kinds.recall import Left, left_to_find
from askgraph.kinds.stopping import ErrorEstimate
from askgraph.plan import Plan
from askgraph.plan.tune import Tune, candidates, usual_margin
from askgraph.priors.base import Prior
from askgraph.priors.features import join_features
from askgraph.readouts import Readout
from askgraph.types import AnyArray, Array, BoolArray


class Moment(NamedTuple):
    """What a kind reads: the field, everything told, and how they are read, at one moment.

    Attributes
    ----------
    field : Field
        The posterior.
    history : History
        Everything told.
    plan : Plan
        How questions are chosen.
    readout : Readout or None
        How votes become class probabilities; None where a kind has one way only.
    read : callable
        A function that returns the class probabilities of all rows of this process.
    guessed : bool
        Whether guesses of models are part of the probabilities.
    """

    field: Field
    history: History
    plan: Plan
    readout: Readout | None
    read: Callable[[], Array]
    guessed: bool = False

    @property
    def chances(self) -> Array:
        """The class probabilities of all nodes."""
        return self.field.space.gather(self.read())

    @property
    def rest(self) -> BoolArray:
        """True at the nodes that are not labeled."""
        return self.field.space.gather(~self.field.labeled)

    @property
    def drawn(self) -> dict[int, tuple[Hashable, Hashable]]:
        """{node: (predicted before, label)} of the spot checks."""
        return checked(self.history.log)


class Making(NamedTuple):
    """What a field is made of, as a learner is given it.

    Attributes
    ----------
    graphs : dict
        {name: graph}.
    delta : float or None
        The ridge.
    engine : str or Prior
        The engine, or its name.
    tune : bool
        Whether to choose among graphs or ridges.
    noise : float or "auto"
        The label noise.
    features : object
        What :meth:`Kind.join` made of features; None without.
    """

    graphs: dict[str, Graph]
    delta: float | None
    engine: str | Prior
    tune: bool
    noise: float | str
    features: Any = None


class Kind(ABC):
    """A kind of answers; pass one to ``Learner(graph, answers=...)``, or its name.

    Attributes
    ----------
    name : str
        The name of the kind.
    stop_at : float or None
        The expected error at which it is enough where nobody says another; None where there is no usual one.
    """

    name: ClassVar[str]
    stop_at: ClassVar[float | None] = None
    by_class: ClassVar[bool] = True  # whether there are class probabilities
    ranged: ClassVar[bool] = False  # whether answers have an order, so that a prediction has a range
    guessed: ClassVar[bool] = False  # whether models may guess answers
    grouped: ClassVar[bool] = False  # whether items can be confirmed in groups
    judges_anew: ClassVar[bool] = False  # whether spot checks are judged by all other labels as they are now
    usual_readout: ClassVar[str | None] = "cautious"
    usual_options: ClassVar[Mapping[str, Any]] = {}  # of a plan, where nobody says another
    samplers: ClassVar[tuple[str, ...] | None] = None  # those that can ask for such answers; None for all

    def to_json(self) -> dict[str, Any]:
        """Return the kind as plain values, its name among them.

        Returns
        -------
        dict
            Plain values by name.
        """
        return {"name": self.name, **vars(self)}

    # What people say

    @abstractmethod
    def checked(self, answer: Any, classes: Sequence[Hashable]) -> Hashable:
        """Return an answer as a plain value; raise `LabelError` for one that is not of this kind.

        Parameters
        ----------
        answer : object
            What somebody said.
        classes : sequence of hashable
            The classes that are known.

        Returns
        -------
        hashable
            The answer.
        """

    def named(self, answer: Any) -> tuple[Hashable, ...]:
        """Return the classes that an answer names.

        Parameters
        ----------
        answer : hashable
            An answer, checked.

        Returns
        -------
        tuple of hashable
            The classes; none for numbers.
        """
        return ()

    def declared(self, classes: Iterable[Hashable] | None) -> list[Hashable]:
        """Return the classes known before any label, checked; raise `SettingError` where there is no such thing.

        Parameters
        ----------
        classes : iterable of hashable or None
            What was given as classes.

        Returns
        -------
        list of hashable
            The classes.
        """
        if classes is not None:
            raise SettingError(f"classes={classes!r}: answers={self.name!r} have no classes")
        return []

    # What the field observes

    @abstractmethod
    def coding(self, classes: Sequence[Hashable]) -> Coding:
        """Return the coding with these classes.

        Parameters
        ----------
        classes : sequence of hashable
            The classes.

        Returns
        -------
        Coding
            How answers become rows of numbers.
        """

    @abstractmethod
    def coded(self, answer: Any, classes: Sequence[Hashable]) -> Any:
        """Return an answer as the coding takes it.

        Parameters
        ----------
        answer : hashable
            An answer, checked.
        classes : sequence of hashable
            The classes, those that the answer names among them.

        Returns
        -------
        object
            The answer.
        """

    def columns(self, places: Sequence[int]) -> list[int]:
        """Return the columns of the field that belong to some of the classes.

        Parameters
        ----------
        places : sequence of int
            The classes, by their indices.

        Returns
        -------
        list of int
            The columns.
        """
        return list(places)

    def foreseen(self, moment: Moment, node: int) -> dict[Any, Hashable]:
        """Return the answers that a node may get and that can be told beforehand, {as coded: answer}, the likeliest first.

        Parameters
        ----------
        moment : Moment
            What is known.
        node : int
            The node.

        Returns
        -------
        dict
            The answers; by default none, so that only what all of them share is computed ahead.
        """
        return {}

    # What is asked for

    def usual_sampler(self, features: bool, exact: Callable[[], bool]) -> str:
        """Return the sampler where nobody says another.

        Parameters
        ----------
        features : bool
            Whether nodes have features.
        exact : callable
            A function that returns whether the engine knows all summaries exactly.

        Returns
        -------
        str
            Its short name.
        """
        return "influence"

    def join(self, graph: Graph | None, X: Any) -> tuple[Graph, Any]:
        """Return the graph to use beside features, and what of the features is added to its field.

        Parameters
        ----------
        graph : Graph or None
            The graph that is given.
        X : array or sparse matrix
            The features, one row per node.

        Returns
        -------
        tuple
            The graph, and the features.
        """
        return join_features(graph, X)

    def with_rules(self, plan: Plan, making: Making) -> Plan:
        """Return the plan with the rules about the field that such answers need, before its own.

        Parameters
        ----------
        plan : Plan
            How questions are chosen.
        making : Making
            What the field is made of.

        Returns
        -------
        Plan
            The plan; by default it chooses among graphs, ridges or features, where there is a choice.
        """
        if not making.tune and making.features is None:
            return plan
        every = candidates(making.graphs, making.delta, making.tune, making.features)
        columns, noise = plan.sampler.criterion.columns, making.noise if isinstance(making.noise, float) else 0.0
        return plan.with_first(Tune(every, making.engine, columns, noise, self))  # type: ignore[arg-type]  # the engine is checked

    def check_noise(self, noise: float | None) -> None:
        """Raise `SettingError` if an answer cannot have this label noise of its own.

        Parameters
        ----------
        noise : float or None
            The label noise; None for that of the learner.
        """
        return

    def check(self, plan: Plan) -> None:
        """Raise `SettingError` if questions cannot be chosen so for such answers.

        Parameters
        ----------
        plan : Plan
            How questions are chosen.
        """
        name = plan.sampler.by
        if self.samplers is None or not isinstance(name, str) or name in self.samplers:
            return
        fit = ", ".join(map(repr, self.samplers))
        raise SettingError(f"sampler={name!r} scores answers of one class, not answers={self.name!r}: take {fit}")

    def price(self, prior: Prior, labels: Sequence[Observation], coding: Any, features: bool) -> tuple[float, int]:
        """Return what labels cost in nats in a prior, each given the others, and how many are counted.

        Parameters
        ----------
        prior : Prior
            An engine without labels.
        labels : sequence of Observation
            The labels.
        coding : Coding
            The coding of the labels.
        features : bool
            Whether features may be compared with a graph alone.

        Returns
        -------
        tuple of float and int
            The loss, summed over the labels counted, and their number.
        """
        return self.loss(supposed_in(prior, labels, coding)), len(labels)

    @abstractmethod
    def loss(self, told: Supposed) -> float:
        """Return what labels cost in nats, each given the others.

        Parameters
        ----------
        told : Supposed
            The labels as if there were no others.

        Returns
        -------
        float
            The loss, summed over the labels.
        """

    def margin(self, loss: float, classes: int) -> float:
        """Return by how many nats features beside a graph, with this loss, must be worse than the graph alone to be dropped.

        Parameters
        ----------
        loss : float
            The loss with features.
        classes : int
            The number of classes.

        Returns
        -------
        float
            The margin.
        """
        return usual_margin(loss, classes)

    # What is predicted

    def probabilities(self, moment: Moment, votes: Array | None = None, links: csr_array | None = None) -> Array:
        """Return the class probabilities of all rows of this process, without guesses, or of samples outside the graph.

        Parameters
        ----------
        moment : Moment
            What is known.
        votes : array, optional
            What the field says of samples outside the graph, one row per sample.
        links : scipy.sparse.csr_array, optional
            The weights that tie these samples to nodes, one row per sample, one column per node.

        Returns
        -------
        array
            One row per row or sample, one column per class.
        """
        assert moment.readout is not None
        return moment.readout(moment.field, votes, links)

    @abstractmethod
    def predict(self, moment: Moment) -> AnyArray:
        """Return what is predicted for all nodes.

        Parameters
        ----------
        moment : Moment
            What is known.

        Returns
        -------
        array
            One answer per node.
        """

    def predicted(self, moment: Moment, node: int) -> Hashable:
        """Return what is predicted for a node; None while nothing is known.

        Parameters
        ----------
        moment : Moment
            What is known.
        node : int
            The node.

        Returns
        -------
        hashable
            The answer.
        """
        return self.predict(moment)[node] if moment.field.held else None

    def interval(self, moment: Moment, share: float) -> tuple[AnyArray, AnyArray]:
        """Return the lowest and the highest answer of a range that holds another answer with this probability.

        Parameters
        ----------
        moment : Moment
            What is known.
        share : float
            The probability, from 0 to 1.

        Returns
        -------
        tuple of array
            The lower ends and the upper ends, one per node.
        """
        raise SettingError(f"interval={share!r}: answers={self.name!r} have no order, so no range; see probabilities()")

    def likely(self, moment: Moment, sought: Hashable) -> Array | None:
        """Return how likely each row of this process is what is sought, larger is likelier; None while nothing is known of it.

        Parameters
        ----------
        moment : Moment
            What is known.
        sought : hashable
            What is sought: a class, or what a kind takes instead.

        Returns
        -------
        array or None
            One number per row; for a probability, that of the row.
        """
        return moment.read()[:, moment.history.classes.index(sought)] if sought in moment.history.classes else None

    def check_sought(self, sought: Any) -> Hashable:
        """Return what is sought as a plain value; raise an error for what cannot be.

        Parameters
        ----------
        sought : object
            What is sought.

        Returns
        -------
        hashable
            The same, plain.
        """
        return self.checked(sought, [sought])

    def check_counted(self, sought: Any) -> Hashable:
        """Return what is sought as a plain value; raise an error where nobody could count how many nodes are that.

        Parameters
        ----------
        sought : object
            What is sought.

        Returns
        -------
        hashable
            What is sought.
        """
        return self.check_sought(sought)

    def is_found(self, answer: Any, sought: Any) -> bool:
        """Return whether an answer is what is sought.

        Parameters
        ----------
        answer : hashable
            An answer, checked.
        sought : hashable
            What is sought.

        Returns
        -------
        bool
            Whether it is.
        """
        return bool(answer == sought)

    # How good that is

    @abstractmethod
    def expected_error(self, moment: Moment) -> ErrorEstimate:
        """Return the expected error of what is predicted for the nodes that are not labeled.

        Parameters
        ----------
        moment : Moment
            What is known.

        Returns
        -------
        ErrorEstimate
            The estimate and its range.
        """

    def checks_wrong(self, moment: Moment) -> list[bool]:
        """Return of each spot check whether it is predicted wrong: by what was predicted before, where a kind says nothing else.

        Parameters
        ----------
        moment : Moment
            What is known.

        Returns
        -------
        list of bool
            One per spot check whose node is labeled.
        """
        return [before != label for before, label in moment.drawn.values()]

    def errors_by_class(self, moment: Moment) -> dict[Hashable, float]:
        """Return the expected 1 − F1 of each class among the nodes that are not labeled.

        Parameters
        ----------
        moment : Moment
            What is known.

        Returns
        -------
        dict
            {class: expected 1 − F1}.
        """
        p, has = moment.chances[moment.rest], self.has(moment)[moment.rest]
        return {name: one_less_f1(p[:, c], has[:, c]) for c, name in enumerate(moment.history.classes)}

    def has(self, moment: Moment) -> BoolArray:
        """Return which classes each node is predicted to have.

        Parameters
        ----------
        moment : Moment
            What is known.

        Returns
        -------
        array of bool
            One row per node, one column per class.
        """
        raise SettingError(f"answers={self.name!r} have no classes")

    @abstractmethod
    def suspects(self, moment: Moment, every: bool) -> list[Suspect]:
        """Return the labels that the others contradict, the worst first; nodes are indices.

        Parameters
        ----------
        moment : Moment
            What is known.
        every : bool
            Whether to list all that the others would have said otherwise.

        Returns
        -------
        list of Suspect
            The labels.
        """

    @abstractmethod
    def advice(self, moment: Moment) -> list[str]:
        """Return what a person should know about the graph, by the labels so far.

        Parameters
        ----------
        moment : Moment
            What is known.

        Returns
        -------
        list of str
            Sentences.
        """

    def left_to_find(self, moment: Moment, sought: Hashable) -> Left:
        """Return how many nodes that are sought are found, and about how many are left.

        Parameters
        ----------
        moment : Moment
            What is known.
        sought : hashable
            What is sought.

        Returns
        -------
        Left
            The number found, an estimate of those left and its range.
        """
        told = moment.history.told
        yes, drawn = (
            [self.is_found(answer, sought) for answer in told.values()],
            [node in moment.drawn for node in told],
        )
        return left_to_find(yes, drawn, moment.field.prior.n_nodes, self._expected(moment, sought))

    def _expected(self, moment: Moment, sought: Hashable) -> float:
        """Return how many of the nodes that are not labeled are expected to be what is sought."""
        likely = self.likely(moment, sought)
        return 0.0 if likely is None else float(moment.field.space.gather(likely)[moment.rest].sum())

    @abstractmethod
    def changes(self, moment: Moment, node: int, after: Field | None = None) -> float:
        """Return how many predictions of other nodes the answer of a node is expected to change.

        Parameters
        ----------
        moment : Moment
            What is known.
        node : int
            The node.
        after : Field, optional
            ``field.awaiting(node)``, where that is known already.

        Returns
        -------
        float
            The number; 0 for a node that is labeled.
        """

    def check_groups(self) -> None:
        """Raise `SettingError` if items with such answers cannot be confirmed in groups."""
        if not self.grouped:
            raise SettingError(f"answers={self.name!r}: no groups of items are confirmed together, only single ones")

    def check_guesses(self) -> None:
        """Raise `SettingError` if models cannot guess such answers."""
        if not self.guessed:
            raise SettingError(f"answers={self.name!r}: models guess single classes only")


def one_less_f1(p: Array, has: BoolArray) -> float:
    """Return 1 − F1 as probabilities of having a class, or several, expect it."""
    both = float(has.sum() + p.sum())
    return 1 - 2 * float(p[has].sum()) / both if both else 0.0


def as_objects(values: Sequence[Any]) -> AnyArray:
    """Return values as an array of objects, one each, whatever they are."""
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array
