"""Learning curves on labeled graphs: the question loop of ``Learner`` with known labels as answers, over seeds."""

from __future__ import annotations

import hashlib
import multiprocessing
import os
import platform
import uuid
from collections.abc import Hashable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import KW_ONLY, asdict, dataclass, replace
from functools import cache, lru_cache
from importlib.metadata import version
from threading import Thread
from typing import Any

import numpy as np

from askgraph.answers.coding import leading
from askgraph.errors import LabelError
from askgraph.field import Field
from askgraph.graph import Graph
from askgraph.learner import Learner
from askgraph.learner.settings import Settings
from askgraph.options import Options, options_of
from askgraph.plan import Plan
from askgraph.pools import Pool
from askgraph.priors import DENSE_UP_TO
from askgraph.priors import prior as choose_prior
from askgraph.priors.base import Prior
from askgraph.readouts import Readout, as_readout
from askgraph.simulate.compared import COMPARED
from askgraph.simulate.sharded import ShardedProblem
from askgraph.spaces.base import Space
from askgraph.support.threads import one_blas_thread, one_thread_from_now_on
from askgraph.types import AnyArray
from askgraph.version import __version__

Record = dict[str, Any]


@dataclass(frozen=True)
class Run(Options):
    """The settings of one learning curve.

    Parameters
    ----------
    sampler : str
        The sampler that chooses the questions.
    seed : int
        The seed of the learner.
    budget : int
        The number of labels.
    delta, readout, engine
        Settings of :class:`askgraph.Learner`, with the same meaning.
    data : str
        The name of the problem, where :func:`simulate_all` gets several.
    **options
        Options of the plan, see :class:`askgraph.Options`.

    Examples
    --------
    >>> Run("tv", seed=0, budget=20).readout
    'cautious'
    """

    sampler: str
    seed: int
    budget: int
    _: KW_ONLY
    delta: float | None = None
    readout: str = "cautious"
    engine: str = "auto"
    data: str = ""

    def __post_init__(self) -> None:
        if self.class_shares is not None:  # a list of a record, say: runs are keys
            object.__setattr__(self, "class_shares", tuple(self.class_shares))

    @property
    def questions(self) -> Run:
        """The run without its readout: two runs for which this is equal ask the same questions."""
        return replace(self, readout="map")

    @property
    def settings(self) -> Settings:
        """The settings of the learner, checked."""
        how = Plan.of(COMPARED.get(self.sampler, self.sampler), **options_of(self))
        return Settings(how, self.readout, self.delta)


@dataclass(frozen=True)
class Problem:
    """A graph whose every node has a known label, one class per node.

    Classes in an order are classes like any others here: runs say how often a prediction is right.

    Parameters
    ----------
    graph : Graph
        The graph.
    truth : sequence
        One label per node, in node order.
    order : sequence, optional
        The classes in the order in which the learner is told them; None for the order of their first node.

    Examples
    --------
    >>> import askgraph as ag
    >>> Problem(ag.chain(4), ["left", "left", "right", "right"]).classes
    ['left', 'right']
    """

    graph: Graph
    truth: Sequence[Hashable]
    order: Sequence[Hashable] | None = None

    def __post_init__(self) -> None:
        if len(self.truth) != self.graph.n_nodes:
            raise LabelError(
                f"{len(self.truth)} labels for {self.graph.n_nodes} nodes: a simulation needs one label per node"
            )
        check_single(self.truth)

    @property
    def classes(self) -> list[Hashable]:
        """The classes, in the order in which the learner is told them."""
        return list(dict.fromkeys(self.truth) if self.order is None else self.order)

    def label(self, node: int) -> Hashable:
        """Return the label of one node."""
        return self.truth[node]

    def codes(self, space: Space, classes: Sequence[Hashable]) -> AnyArray:
        """Return the place of each row's label among the classes, in the memory of the space."""
        place = {label: at for at, label in enumerate(classes)}
        return space.scatter(np.array([place[label] for label in self.truth]))

    @property
    def fingerprint(self) -> str:
        """A hash of the graph and its labels."""
        W = self.graph.weights
        digest = hashlib.sha256(repr([str(label) for label in self.truth]).encode())
        for part in (W.indptr.astype(np.int64), W.indices.astype(np.int64), W.data):
            digest.update(part.tobytes())
        return digest.hexdigest()[:16]


def check_single(truth: Sequence[Any]) -> None:
    """Raise `LabelError` where nodes have several classes each, or numbers that hardly two of them share."""
    for label in truth:
        if not isinstance(label, Hashable):
            raise LabelError(
                f"{label!r} is not one class: runs are of one class per node; for several run a Learner(answers='several') yourself"
            )
    number = next((label for label in truth if isinstance(label, float | np.floating) and label % 1), None)
    if number is not None and len(set(truth)) > len(truth) / 2:
        raise LabelError(
            f"{number:g} is a number, not a class, and most nodes differ in it: runs are of one class per node; for numbers run a "
            "Learner(answers='numbers') yourself"
        )


def simulate(problem: Problem | ShardedProblem, run: Run, prior: Prior | None = None) -> Record:
    """Make one run: ask, answer with the known label, and measure, until the budget is spent.

    Parameters
    ----------
    problem : Problem
        The graph and its labels.
    run : Run
        The settings.
    prior : Prior, optional
        An engine that is prepared already, for runs on the same graph.

    Returns
    -------
    dict
        The settings of the run, and one value per label: "nodes", "accuracy" (on the unlabeled nodes; where k classes tie, as
        at a node that no label reaches, the node counts as 1/k right), "ask_seconds", "tell_seconds".

    Examples
    --------
    >>> import askgraph as ag
    >>> record = simulate(Problem(ag.chain(4), ["left", "left", "right", "right"]), Run("tv", seed=0, budget=2))
    >>> len(record["nodes"]), len(record["accuracy"])
    (2, 2)
    """
    return simulate_together(problem, [run], prior)[0]


def simulate_together(
    problem: Problem | ShardedProblem, runs: Sequence[Run], prior: Prior | None = None
) -> list[Record]:
    """Make runs that differ in their readout only: ask the questions once, and return one record per run."""
    run, engine = runs[0], prior or runs[0].engine
    how: dict[str, Any] = {"delta": run.delta, "noise": 0.0, "rng": run.seed, "engine": engine}  # the truth answers
    learner = Learner(problem.graph, run.settings.plan, classes=problem.classes, **how)
    codes = problem.codes(learner.field.space, learner.classes)
    readouts = [as_readout(run.readout) for run in runs]
    curve: dict[str, list[Any]] = {"nodes": [], "ask_seconds": [], "tell_seconds": []}
    accuracies: list[list[float]] = [[] for _ in runs]
    for step in learner.run(lambda node: problem.label(problem.graph.index(node)), run.budget):
        curve["nodes"].append(problem.graph.index(step.node))
        curve["ask_seconds"].append(round(step.ask_seconds, 6))
        curve["tell_seconds"].append(round(step.tell_seconds, 6))
        with one_blas_thread():  # products here are small: a second thread would only wait, and keep a core busy
            for accuracy, readout in zip(accuracies, readouts, strict=True):
                accuracy.append(_accuracy(learner.field, readout, codes))
    same = {"engine_used": learner.field.prior.name, "versions": versions(), **curve}
    return [{**asdict(run), **same, "accuracy": accuracy} for run, accuracy in zip(runs, accuracies, strict=True)]


def _accuracy(field: Field, readout: Readout, codes: AnyArray) -> float:
    rest = ~field.labeled
    count = int(field.space.total(rest))
    leads = leading(readout(field))
    right = np.take_along_axis(leads, codes[:, None], axis=1)[:, 0] / leads.sum(axis=1)
    return round(float(field.space.total(right * rest)) / count, 6) if count else 1.0


@cache
def versions() -> dict[str, str]:
    """Return the versions of askgraph, Python, numpy and scipy."""
    names = ("numpy", "scipy")
    return {"askgraph": __version__, "python": platform.python_version(), **{name: version(name) for name in names}}


def machine() -> str:
    """Return a line about the computer on which seconds were measured."""
    return f"{os.cpu_count()} cores, {platform.machine()}, {platform.system()}"


def simulate_all(
    problems: Problem | ShardedProblem | Mapping[str, Problem],
    runs: Sequence[Run],
    workers: int = 1,
    pool: Pool | None = None,
) -> Iterator[Record]:
    """Make many runs, and yield their records as they finish.

    Runs that differ in their readout only are made together.

    Parameters
    ----------
    problems : Problem or mapping
        The graph and its labels; with several problems, each run is made on the one that its ``data`` names.
    runs : sequence of Run
        The settings.
    workers : int
        The number of processes; each prepares an engine once and keeps it for its next runs.
    pool : Pool, optional
        Anything with ``map``, such as an executor or :class:`askgraph.pools.Dask`, to use in place of ``workers``.

    Yields
    ------
    dict
        The record of a run, as :func:`simulate` returns it.

    Examples
    --------
    >>> import askgraph as ag
    >>> problem = Problem(ag.chain(4), ["left", "left", "right", "right"])
    >>> [record["seed"] for record in simulate_all(problem, [Run("tv", seed, budget=2) for seed in range(3)])]
    [0, 1, 2]
    """
    groups: dict[Run, list[Run]] = {}
    for run in runs:
        groups.setdefault(run.questions, []).append(run)
    tasks = list(groups.values())
    done = _run_in_processes(problems, tasks, workers) if pool is None else pool.map(PoolTask(problems), tasks)
    for records in done:
        yield from records


class PoolTask:
    """A function that makes runs in a process of a pool; the process keeps the engine it prepared for its next runs."""

    def __init__(self, problems: Problem | ShardedProblem | Mapping[str, Problem]) -> None:
        self._problems, self._name = problems, uuid.uuid4()

    def __call__(self, runs: list[Run]) -> list[Record]:
        """Return the records of runs that differ in their readout only."""
        if _shared.get("name") != self._name:
            _prepare(self._problems)
            _shared["name"] = self._name
        return _make_runs(runs)


def _run_in_processes(
    problems: Problem | ShardedProblem | Mapping[str, Problem], tasks: Sequence[list[Run]], workers: int
) -> Iterator[list[Record]]:
    if workers <= 1 or len(tasks) <= 1:
        _prepare(problems)
        yield from map(_make_runs, tasks)
        return
    spawn = multiprocessing.get_context("spawn")  # a fork would copy locks of running numerical threads
    with ProcessPoolExecutor(min(workers, len(tasks)), spawn, _prepare, (problems, True)) as pool:
        waiting = [pool.submit(_make_runs, task) for task in tasks]
        try:
            for done in as_completed(waiting):
                yield done.result()
        finally:
            pool.shutdown(cancel_futures=True)


_shared: dict[str, Any] = {}  # of this process: its problems, and the name of the PoolTask that brought them


def _prepare(problems: Problem | ShardedProblem | Mapping[str, Problem], alone: bool = False) -> None:
    """Keep the problems in this process, and forget earlier engines; ``alone`` is for one of many worker processes."""
    if alone:
        one_thread_from_now_on()
        Thread(target=_exit_with_parent, daemon=True).start()
    _shared["problems"] = problems
    _engine.cache_clear()


def _exit_with_parent() -> None:
    """Exit when the parent process ends: a worker whose parent was killed would wait for work forever."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _make_runs(runs: list[Run]) -> list[Record]:
    problem, run = _problem(runs[0].data), runs[0]
    # On a small graph all samplers have the same engine, so they share it.
    columns = run.settings.plan.sampler.criterion.columns and problem.graph.n_nodes > DENSE_UP_TO
    return simulate_together(problem, runs, _engine(run.data, run.delta, run.engine, columns))


def _problem(data: str) -> Problem | ShardedProblem:
    problems = _shared["problems"]
    return problems[data] if isinstance(problems, Mapping) else problems


@lru_cache(maxsize=2)
def _engine(data: str, delta: float | None, engine: str, columns: bool) -> Prior:
    return choose_prior(_problem(data).graph, delta, engine, columns)
