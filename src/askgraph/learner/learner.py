"""Algorithm 1 as an object: ask for a label, tell it, predict the rest."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

import numpy as np

from askgraph.answers.plain import as_seed, declared_classes
from askgraph.distributed.sharded_graph import ShardedGraph
from askgraph.errors import SettingError
from askgraph.field import Field
from askgraph.graph import Graph
from askgraph.learner import saving
from askgraph.learner.events import Event, Step, replay
from askgraph.learner.features import Features, check_sampler
from askgraph.learner.history import History
from askgraph.learner.hubs import HubRule
from askgraph.learner.rehearsal import rehearse
from askgraph.learner.settings import Schedule, Settings
from askgraph.learner.showing import Shown
from askgraph.learner.state import State
from askgraph.learner.suggestions import Suggestions
from askgraph.learner.tuning import Tuner, chooses, joined_graphs
from askgraph.priors import prior as choose_prior
from askgraph.priors.base import Prior
from askgraph.readouts import Readout
from askgraph.support.arguments import flag, is_missing, whole_number
from askgraph.support.files import reading
from askgraph.support.turns import Turn, in_turn
from askgraph.utilities import Criterion, Utility
from askgraph.utilities.closed import Form


class Learner(Shown):
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
        The ridge of the field, in the unit of the weights; None for a thousandth of the mean degree.
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

    Notes
    -----
    Several threads may call one learner. Each call happens as a whole, one after another, so no label is lost, and who reads
    sees all of a change or nothing of it. Two threads that ask get the same question until one of them answers; the second
    label of a node is a ``LabelError``. A call that is interrupted, by Ctrl-C or an error, leaves the learner as it was or as it
    would be. A sampler of your own must not call the learner it scores for, since :meth:`prefetch` runs it in a thread.
    Pickling is no call: pickle or copy a learner while no other thread uses it, or :meth:`save` it.

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
    settings: Settings
    seed: int

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
        graphs, linear = joined_graphs(graph, features, tune)
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
        self._suggestions, self._turn, history = Suggestions(), Turn(), History(declared)
        start = field or Field.start(self._prior(engine), len(declared), settings.noise, settings.squares)
        self._state = State(start if field else self._tuned(start, history), history)

    def _prior(self, engine: str | Prior) -> Prior:
        if self._tuner is not None:
            return self._tuner.prior()
        if isinstance(engine, Prior):
            return engine
        prior = choose_prior(self.graph, self.settings.delta, engine, self.settings.criterion.columns)
        rehearse(Learner, self.settings, prior)
        return prior

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_state": self._state._replace(prefetch=None)}  # a thread cannot be pickled

    def __setstate__(self, known: dict[str, Any]) -> None:
        if "_state" not in known:  # a pickle of version 0.2.0
            parts = {"_field", "_history", "_questions", "_prefetch"}
            state = State(known["_field"], known["_history"])
            known = {"_state": state, "_turn": Turn(), **{name: known[name] for name in known.keys() - parts}}
        self.__dict__.update(known)

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
                field = self._field
            yield Step(node, label, field, asked, time.perf_counter() - start)
            budget -= 1

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
        state = flag(state, "state")
        engine = self._field.prior.name if self._tuner is None else self._tuner.engine
        log, declared = tuple(map(tuple, self._history.log)), tuple(self._history.declared)
        told = saving.Saved(self._graphs, self.settings, self.seed, engine, declared, log)
        told = told._replace(suggestions=self._suggestions.to_rows(), features=self._features)
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
        learner._suggestions = Suggestions.from_rows(saved.suggestions)
        log = [Event(*event) for event in saved.log]
        if saved.field is None:
            for event in log:
                replay(learner, event)
            return learner
        learner._history.restore(log, saved.orders)
        if learner._tuner is not None:
            learner._tuner.restore(log, learner._history.declared, saved.choice, saved.field.origin)
        return learner
