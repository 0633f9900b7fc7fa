"""Algorithm 1 as an object: ask for a label, tell it, predict the rest."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Literal, overload

import numpy as np

from askgraph.distributed.sharded_graph import ShardedGraph
from askgraph.errors import LabelError, SettingError
from askgraph.field import Field, Label, coding
from askgraph.graph import Graph
from askgraph.learner.diagnostics import Suspect, advice, doubtful
from askgraph.learner.events import Event, Step, declared, kept_apart, seed_of
from askgraph.learner.prefetch import Ahead
from askgraph.learner.questions import alternatives, candidates, finished, questions
from askgraph.learner.saving import Saved, read, write
from askgraph.learner.settings import Schedule, Settings, checked_noise, share
from askgraph.learner.stopping import Error, enough, expected_error, more_labels
from askgraph.learner.tuning import Choice, Tuner, named_graphs
from askgraph.priors.base import Prior
from askgraph.readouts import Readout
from askgraph.types import AnyArray, Array, IntArray
from askgraph.utilities import Criterion, Utility
from askgraph.utilities.closed import Form

AUDIT = 1  # tells the draw of an audit from that of a question


class Learner:
    """Which node should I label next, and what are all the others?

    >>> import askgraph as ag
    >>> learner = ag.Learner(ag.chain(5), rng=0)
    >>> learner.tell(0, "left")
    >>> learner.tell(4, "right")
    >>> [str(label) for label in learner.predict()]
    ['left', 'left', 'left', 'right', 'right']

    - ``utility``: a sampler's short name, a Criterion, or a function (field, nodes, p) -> scores
    - ``doubt``: how much to distrust the field in expectations: "sqrt" (t^(-1/2)), "inverse", a constant, a function of t, or None
    - ``form``: "printed" as in the paper's formulas, or "derived", the exact expectations
    - ``expect``: the "mean" over answers, or the "min" (max–min)
    - ``explore``: the probability of a uniform question, a number or a schedule like doubt's
    - ``first``: the first question, "random" as in Algorithm 1, or by "utility"
    - ``ahead``: where summaries are estimates, samplers that look ahead score so many nodes, the best by tv
    - ``batch``: nodes asked for together come one after another ("sequence"), or are maxima among their neighbours ("local")
    - ``noise``: the standard deviation of a label; ``delta``: the ridge of the field, None for a thousandth of the mean degree
    - ``engine``: "auto", a name, or a prior
    - ``tune``: of several graphs over the same nodes, {name: graph}, and their sum, or of ridges where there is one graph, what
      labels speak for by leave-one-out is chosen again at 8, 16, … 256 labels; ``choice`` says which and why

    A question depends on the seed and on what was told, not on how often it was asked.
    """

    def __init__(
        self,
        graph: Graph | ShardedGraph | Mapping[str, Graph],
        utility: str | Criterion | Utility = "influence",
        doubt: Schedule = "sqrt",
        form: Form = "printed",
        delta: float | None = None,
        readout: str | Readout = "consensus",
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
    ) -> None:
        settings = Settings(utility, doubt, form, delta, readout, explore, first, noise, expect, ahead, batch, tune)
        self._begin(Tuner.of(named_graphs(graph, tune), settings, engine), seed_of(rng), declared(classes))

    def _begin(self, tuner: Tuner, seed: int, names: list[Hashable], field: Field | None = None) -> None:
        self._tuner, self.settings, self.seed, self._declared = tuner, tuner.settings, seed, names
        self.graph, self._readout = next(iter(tuner.graphs.values())), self.settings.decide
        self._classes: list[Hashable] = list(names)
        self._field = field or Field.start(tuner.prior(), len(names), self.settings.noise, self.settings.squares)
        self._log: list[Event] = []
        self._orders: list[list[Hashable]] = []  # the classes before each event
        self._questions: list[int] = []
        self._ahead: Ahead[Field, tuple[Field, list[int]]] | None = None

    def __repr__(self) -> str:
        labels, engine = len(self.labels), self._field.prior.name
        return f"Learner({self.graph.n_nodes} nodes, {labels} labels, {len(self.classes)} classes, engine={engine!r})"

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_ahead": None}  # what is being computed ahead stays here

    @property
    def field(self) -> Field:
        """The posterior as it is now."""
        return self._field

    @property
    def classes(self) -> list[Hashable]:
        """The classes declared, then those seen, in the order of the columns of ``probabilities``."""
        return list(self._classes)

    @property
    def labels(self) -> dict[Hashable, Hashable]:
        """What was told: {node: label}."""
        return {self.graph.name(x.node): self._classes[x.label] for x in self._field.labels}

    @property
    def log(self) -> list[Event]:
        """Everything told so far that was not undone, oldest first, by node index."""
        return list(self._log)

    @property
    def engine(self) -> str:
        """The engine in use and why."""
        return self._field.prior.reason

    @property
    def choice(self) -> Choice | None:
        """What ``tune`` chose, and why (its text is a sentence); None before eight labels, and without ``tune``."""
        return self._tuner.choice(self._log, self._declared)

    @property
    def finished(self) -> str | None:
        """Why there is nothing to ask, or None."""
        return finished(self._field, self._aside())

    @overload
    def ask(self) -> Hashable | None: ...
    @overload
    def ask(self, n: int) -> list[Hashable]: ...
    def ask(self, n: int | None = None) -> Hashable | list[Hashable] | None:
        """The next node to label, or None when ``finished``; with n, up to n nodes to label together.

        A batch is not the top n: each node is chosen as if the ones before it were labeled and their answers still open.
        """
        if n is not None and (not isinstance(n, int | np.integer) or n < 1):
            raise SettingError(f"ask({n!r}): ask for at least one node, in whole numbers")
        wanted = 1 if n is None else n
        if len(self._questions) < wanted:
            self._field, self._questions = self._batch(self._field, wanted, self._answered)
        names = [self.graph.name(node) for node in self._questions[:wanted]]
        return names if n is not None else (names[0] if names else None)

    def alternatives(self, n: int) -> list[Hashable]:
        """Up to n nodes for several people at once, by one pass: cheaper than a batch of ``ask``, and a little worse."""
        found = alternatives(self._field, self.settings, self._aside(), n, (self.seed, self._answered))
        return [self.graph.name(node) for node in found]

    def tell(self, node: Hashable, label: Hashable, noise: float | None = None) -> None:
        """The label of a node, asked for or not; a new label is a new class. ``noise`` is its own, if not all labels'."""
        at, label = self.graph.index(node), coding.plain_label(label)
        if self._field.prior.pick(self._field.labeled, at):
            raise LabelError(
                f"node {node!r} is labeled {self.labels[node]!r} already; change it with relabel({node!r}, ...)"
            )
        classes = self._classes_with(label)
        field, questions = self._told(at, classes.index(label), noise)
        event = Event("tell", at, label, noise=noise)
        self._field = self._tuner.settled(field, [*self._log, event], self._declared)
        self._done(event, classes)
        self._questions = questions

    def tell_all(self, labels: Mapping[Any, Hashable]) -> None:
        """Many labels, {node: label}, folded into the field at once: one factorisation instead of a solve a label."""
        told = {self.graph.index(node): coding.plain_label(label) for node, label in labels.items()}
        taken = [at for at in told if self._field.prior.pick(self._field.labeled, at)]
        if taken:
            raise LabelError(f"node {self.graph.name(taken[0])!r} is labeled already: leave it out, or relabel it")
        classes = self._classes_with(*told.values())
        new = [Label(at, classes.index(label), self._field.noise) for at, label in told.items()]
        events = [Event("tell", at, label) for at, label in told.items()]
        field = self._field.extended(new, len(classes))
        self._field = self._tuner.settled(field, [*self._log, *events], self._declared, at_once=True)
        for event in events:
            self._done(event, self._classes_with(event.label))

    def relabel(self, node: Hashable, label: Hashable) -> None:
        """Another label for a labeled node."""
        at, label = self.graph.index(node), coding.plain_label(label)
        before = self.labels.get(node)
        if before is None:
            raise LabelError(f"node {node!r} has no label yet: tell({node!r}, {label!r})")
        classes = self._classes_with(label)
        self._field = self._field.relabel(at, classes.index(label))
        self._done(Event("relabel", at, label, before), classes)
        self._keep_used(classes)

    def skip(self, node: Hashable) -> None:
        """Set a node aside: it is not asked for again, and is predicted like any other."""
        at = self.graph.index(node)
        if self._field.prior.pick(self._field.labeled, at):
            raise LabelError(f"node {node!r} is labeled: only an unlabeled node can be skipped")
        self._done(Event("skip", at), self._classes)

    def retract(self, node: Hashable) -> None:
        """Take back what was told of a node, however long ago: its label, or that it was set aside."""
        at = self.graph.index(node)
        if self._field.prior.pick(self._field.labeled, at):
            told = next(x for x in self._field.labels if x.node == at)
            self._field = self._field.forget(at)
            self._done(Event("retract", at, before=self._classes[told.label], noise=told.noise), self._classes)
            self._keep_used(self._classes)
        elif at in self._aside():
            self._done(Event("retract", at), self._classes)
        else:
            raise LabelError(f"node {node!r} has no label and is not set aside: there is nothing to take back")

    def undo(self) -> Event | None:
        """Take back the last thing told; returns it, or None when there is nothing."""
        if not self._log:
            return None
        self._settle()
        event = self._log.pop()
        if event.kind == "tell":
            self._field = self._field.forget(event.node)
        elif event.before is not None:
            self._classes = self._classes_with(event.before)
            before = self._classes.index(event.before)
            if event.kind == "relabel":
                self._field = self._field.relabel(event.node, before)
            else:
                self._field = self._field.observe(event.node, before, event.noise)
        self._arrange(self._orders.pop())
        self._field, self._questions = self._tuner.settled(self._field, self._log, self._declared), []
        return event

    def prefetch(self) -> None:
        """Compute what follows each possible answer to the next question, in a thread, while a person thinks.

        The ``tell`` of that answer and the ``ask`` after it then take milliseconds. Questions are the same with and without.
        Where processes work together, nothing is computed ahead.
        """
        if not self._field.prior.alone:
            return
        if self.ask() is None or (self._ahead and self._ahead.node == self._questions[0]):
            return
        self._settle()
        field, node, told = self._field, self._questions[0], self._answered + 1
        votes = field.prior.pick(field.votes, np.array([node]))
        likely = np.argsort(-coding.chances(votes)[0], kind="stable") if self._classes else np.arange(1)
        self._ahead = Ahead(node, lambda: field.awaiting(node), partial(self._follow, told), likely.tolist())

    @property
    def next_questions(self) -> dict[Hashable, Hashable | None]:
        """What would be asked after each answer to the next question, as far as :meth:`prefetch` has come."""
        found = self._ahead.found if self._ahead and self._classes else {}
        return {self._classes[c]: self.graph.name(nodes[0]) if nodes else None for c, (_, nodes) in found.items()}

    @property
    def prefetching(self) -> bool:
        """Whether :meth:`prefetch` is still at work."""
        return self._ahead is not None and self._ahead.running

    def _follow(self, told: int, awaiting: Field, label: int) -> tuple[Field, list[int]]:
        field = awaiting.answered(label)
        if self._tuner.due(field.held):
            event = Event("tell", field.labels[-1].node, self._classes[label])
            field = self._tuner.settled(field, [*self._log, event], self._declared)
        return self._batch(field, 1, told)

    def _told(self, node: int, label: int, noise: float | None) -> tuple[Field, list[int]]:
        """The field after a label, and the next question where it is known already."""
        if noise is not None:
            return self._field.observe(node, label, checked_noise(noise)), []
        awaiting, after = self._ahead.take(label) if self._ahead and self._ahead.node == node else (None, None)
        return after or ((awaiting or self._field.awaiting(node)).answered(label), [])

    def _settle(self) -> None:
        """Nothing is computed ahead any more."""
        if self._ahead:
            self._ahead.stop()
        self._ahead = None

    def run(self, oracle: Callable[[Any], Hashable], budget: int) -> Iterator[Step]:
        """Ask and tell ``budget`` times; ``oracle(node)`` gives the label, or None to skip. Yields a step a label."""
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

    def probabilities(self, nodes: Sequence[Hashable] | None = None) -> Array:
        """Class probabilities, a row a node in the graph's order (or the nodes given), a column a class."""
        p = self._field.prior.gather(self._readout(self._field) if self._classes else self._field.votes)
        return p if nodes is None else p[self._indices(nodes)]

    def predict(self, nodes: Sequence[Hashable] | None = None) -> AnyArray:
        """The label of every node in the graph's order (or of the nodes given); None everywhere while no class is known."""
        p = self.probabilities(nodes)
        if not self._classes:
            return np.full(len(p), None, dtype=object)
        return coding.label_array(self._classes)[coding.decide(p)]

    def audit(self, n: int = 10) -> list[Hashable]:
        """Up to n unlabeled nodes, drawn uniformly, to judge predictions by: give their labels to :meth:`tell_audit`."""
        prior = self._field.prior
        nodes = np.sort(prior.everyone(prior.nodes_of(candidates(self._field, self._aside()))))
        drawn = np.random.default_rng([self.seed, len(self._log), AUDIT]).choice(
            nodes, min(n, nodes.size), replace=False
        )
        return [self.graph.name(int(node)) for node in drawn]

    def tell_audit(self, node: Hashable, label: Hashable) -> None:
        """The label of a node that :meth:`audit` drew: it is kept apart, predicts nothing, and :meth:`expected_error` counts it."""
        at, label = self.graph.index(node), coding.plain_label(label)
        if self._field.prior.pick(self._field.labeled, at):
            raise LabelError(f"node {node!r} is labeled: only an unlabeled node can be audited")
        self._done(Event("audit", at, label), self._classes)

    def expected_error(self) -> Error:
        """The expected share of wrong predictions among unlabeled nodes, with a range; audits make it sure."""
        rest = self._field.prior.gather(~self._field.labeled)
        return expected_error(self._field, self.probabilities(), rest, self._audits())

    def labels_needed(self, target: float) -> tuple[int, int]:
        """About how many labels more bring the expected error down to this target, from and to; a rule of thumb."""
        return more_labels(self.expected_error(), self._field.held, share(target, "target"))

    def enough(self, target: float = 0.05) -> str | None:
        """Why it is time to stop, in words, or None: the expected error is below the target, or nothing is left to ask."""
        return self.finished or enough(self.expected_error(), share(target, "target"))

    def suspects(self) -> list[Suspect]:
        """Labels that all others contradict, the least likely first: look at these again."""
        found = zip(*(part.tolist() for part in doubtful(self._field)), strict=True)
        name, classes = self.graph.name, self._classes
        return [Suspect(name(node), classes[label], classes[other], p) for node, label, other, p in found]

    def advice(self) -> list[str]:
        """What to know about this graph before going on: neighbours that disagree, rare classes, parts without labels."""
        nodes, told = self._audits()
        predicted = coding.decide(self.probabilities()[nodes]) if nodes.size and self._classes else nodes
        return advice(self._field, predicted, told)

    def save(self, path: str | os.PathLike[str], state: bool = False) -> None:
        """Write the graph, the settings and everything told to one npz file; nothing is pickled.

        ``state`` adds what was computed (the factor or the probes, and a column a label: a gigabyte or two at a million
        nodes), which :meth:`load` then uses where it lies in the file instead of computing it again.
        """
        orders = tuple(map(tuple, (*self._orders, self._classes)))
        engine = self._tuner.engine if self.settings.tune else self._field.prior.name
        log, names = tuple(tuple(event) for event in self._log), tuple(self._declared)
        told = Saved(dict(self._tuner.graphs), self.settings, self.seed, engine, names, log)
        whole = told._replace(orders=orders, field=self._field, choice=self.choice) if state else told
        write(path, whole, self._field.prior.writes)
        self._field.prior.meet()

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Learner:
        """What :meth:`save` wrote, ready to go on: the next question is the same. Without state, the log is told again."""
        saved = read(path)
        learner = cls.__new__(cls)
        tuner = Tuner.of(saved.graphs, saved.settings, saved.engine)
        learner._begin(tuner, saved.seed, list(saved.declared), saved.field)
        if saved.field is not None:
            learner._log = [Event(*event) for event in saved.log]
            *learner._orders, learner._classes = map(list, saved.orders)
            tuner.restore(learner._log, learner._declared, saved.choice, saved.field.origin)
            return learner
        for event in (Event(*event) for event in saved.log):
            learner._again(event)
        return learner

    def _again(self, event: Event) -> None:
        name = self.graph.name(event.node)
        if event.kind in ("skip", "retract"):
            (self.skip if event.kind == "skip" else self.retract)(name)
        elif event.kind == "tell":
            self.tell(name, event.label, event.noise)
        else:
            {"relabel": self.relabel, "audit": self.tell_audit}[event.kind](name, event.label)

    def _batch(self, field: Field, n: int, told: int) -> tuple[Field, list[int]]:
        return questions(field, self.settings, self._aside(), n, (self.seed, told))

    @property
    def _answered(self) -> int:
        """How many nodes are labeled or set aside: which question this is."""
        return self._field.held + len(self._aside())

    def _aside(self) -> set[int]:
        return {*kept_apart(self._log, "skip"), *kept_apart(self._log, "audit")}

    def _audits(self) -> tuple[IntArray, IntArray]:
        """The nodes kept apart for judging, and their classes; -1 for one that no label has."""
        apart = kept_apart(self._log, "audit")
        codes = [self._classes.index(label) if label in self._classes else -1 for label in apart.values()]
        return np.array(list(apart), dtype=np.int64), np.array(codes, dtype=np.int64)

    def _done(self, event: Event, classes: list[Hashable]) -> None:
        self._settle()
        self._log.append(event)
        self._orders.append(self._classes)
        self._classes = classes
        self._questions = []

    def _classes_with(self, *labels: Hashable) -> list[Hashable]:
        return list(dict.fromkeys([*self._classes, *labels]))

    def _keep_used(self, classes: list[Hashable]) -> None:
        """Of these classes, those declared or in use."""
        used = {classes[x.label] for x in self._field.labels} | set(self._declared)
        self._arrange([name for name in classes if name in used])

    def _arrange(self, classes: list[Hashable]) -> None:
        """These classes, in this order; the others have no label any more."""
        self._field = self._field.arranged([self._classes.index(name) for name in classes])
        self._classes = list(classes)

    def _indices(self, nodes: Sequence[Hashable]) -> IntArray:
        return np.array([self.graph.index(node) for node in nodes], dtype=np.int64)
