"""Learning curves on labeled graphs: the same question loop with the known labels as the expert, over seeds."""

from __future__ import annotations

import hashlib
import multiprocessing
import os
import platform
import uuid
from collections.abc import Hashable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from importlib.metadata import version
from threading import Thread
from typing import Any

import numpy as np

from askgraph import __version__
from askgraph.errors import LabelError
from askgraph.field import Field
from askgraph.graph import Graph
from askgraph.learner import Learner
from askgraph.learner.settings import Settings
from askgraph.pools import Pool
from askgraph.priors import prior as choose_prior
from askgraph.priors.base import Prior
from askgraph.readouts import Readout, decide
from askgraph.simulate.sharded import ShardedProblem
from askgraph.types import AnyArray

Record = dict[str, Any]


@dataclass(frozen=True)
class Run:
    """One learning curve: who asks, how, and from which seed."""

    sampler: str
    seed: int
    budget: int
    doubt: str | float | None = "sqrt"
    form: str = "printed"
    delta: float | None = None
    readout: str = "consensus"
    engine: str = "auto"
    first: str = "random"
    explore: float | str = 0.0
    expect: str = "mean"
    data: str = ""

    @property
    def questions(self) -> Run:
        """What its questions depend on: all but the readout, which only decides."""
        return replace(self, readout="map")

    @property
    def settings(self) -> Settings:
        """How its learner decides, checked."""
        names = ("doubt", "form", "delta", "readout", "explore", "first", "expect")
        return Settings(self.sampler, **{name: getattr(self, name) for name in names})


@dataclass(frozen=True)
class Problem:
    """A graph whose every node has a known label."""

    graph: Graph
    truth: Sequence[Hashable]

    def __post_init__(self) -> None:
        if len(self.truth) != self.graph.n_nodes:
            raise LabelError(f"{len(self.truth)} labels for {self.graph.n_nodes} nodes: a simulation needs one a node")

    @property
    def classes(self) -> list[Hashable]:
        """All classes, in the order of their first node."""
        return list(dict.fromkeys(self.truth))

    def label(self, node: int) -> Hashable:
        """The label of one node."""
        return self.truth[node]

    def codes(self, prior: Prior, classes: Sequence[Hashable]) -> AnyArray:
        """The place of each node's label among these, where the prior keeps rows."""
        place = {label: at for at, label in enumerate(classes)}
        return prior.scatter(np.array([place[label] for label in self.truth]))

    @property
    def fingerprint(self) -> str:
        """What tells this graph and these labels from any other."""
        W = self.graph.weights
        seen = hashlib.sha256(repr([str(label) for label in self.truth]).encode())
        for part in (W.indptr.astype(np.int64), W.indices.astype(np.int64), W.data):
            seen.update(part.tobytes())
        return seen.hexdigest()[:16]


def simulate(problem: Problem | ShardedProblem, run: Run, prior: Prior | None = None) -> Record:
    """One run: the accuracy on the unlabeled nodes after every label, and what it cost."""
    return simulate_together(problem, [run], prior)[0]


def simulate_together(
    problem: Problem | ShardedProblem, runs: Sequence[Run], prior: Prior | None = None
) -> list[Record]:
    """Runs that differ in their readout only: the questions are asked once, a record a readout."""
    run = runs[0]
    names = ("doubt", "form", "delta", "explore", "first", "expect")
    how = {name: getattr(run, name) for name in names}
    learner = Learner(
        problem.graph, run.sampler, **how, rng=run.seed, engine=prior or run.engine, classes=problem.classes
    )
    codes = problem.codes(learner.field.prior, learner.classes)
    readouts = [run.settings.decide for run in runs]
    curve: dict[str, list[Any]] = {"nodes": [], "ask_seconds": [], "tell_seconds": []}
    accuracies: list[list[float]] = [[] for _ in runs]
    for step in learner.run(lambda node: problem.label(problem.graph.index(node)), run.budget):
        curve["nodes"].append(problem.graph.index(step.node))
        curve["ask_seconds"].append(round(step.ask_seconds, 6))
        curve["tell_seconds"].append(round(step.tell_seconds, 6))
        for accuracy, readout in zip(accuracies, readouts, strict=True):
            accuracy.append(_accuracy(learner.field, readout, codes))
    same = {"engine_used": learner.field.prior.name, "versions": versions(), **curve}
    return [{**asdict(run), **same, "accuracy": accuracy} for run, accuracy in zip(runs, accuracies, strict=True)]


def _accuracy(field: Field, readout: Readout, codes: AnyArray) -> float:
    rest = ~field.labeled
    count = int(field.prior.total(rest))
    right = (decide(field, readout) == codes) & rest
    return round(float(field.prior.total(right)) / count, 6) if count else 1.0


def versions() -> dict[str, str]:
    """What the figures were made with."""
    names = ("numpy", "scipy")
    return {"askgraph": __version__, "python": platform.python_version(), **{name: version(name) for name in names}}


def machine() -> str:
    """Where seconds were measured."""
    return f"{os.cpu_count()} cores, {platform.machine()}, {platform.system()}"


def simulate_all(
    problems: Problem | ShardedProblem | Mapping[str, Problem],
    runs: Sequence[Run],
    workers: int = 1,
    pool: Pool | None = None,
) -> Iterator[Record]:
    """The records of many runs, as they finish, over processes that prepare each engine once, or a pool: anything with ``map``.

    Each run is on the problem that its ``data`` names, where there are several; runs that differ in their readout only
    are made together.
    """
    groups: dict[Run, list[Run]] = {}
    for run in runs:
        groups.setdefault(run.questions, []).append(run)
    tasks = list(groups.values())
    done = _spread_out(problems, tasks, workers) if pool is None else pool.map(Elsewhere(problems), tasks)
    for records in done:
        yield from records


class Elsewhere:
    """Makes runs in some other process, which keeps what it prepared for the next ones."""

    def __init__(self, problems: Problem | ShardedProblem | Mapping[str, Problem]) -> None:
        self._problems, self._name = problems, uuid.uuid4()

    def __call__(self, runs: list[Run]) -> list[Record]:
        """Records of runs that share their questions."""
        if _shared.get("name") != self._name:
            _prepare(self._problems)
            _shared["name"] = self._name
        return _work(runs)


def _spread_out(
    problems: Problem | ShardedProblem | Mapping[str, Problem], tasks: Sequence[list[Run]], workers: int
) -> Iterator[list[Record]]:
    if workers <= 1 or len(tasks) <= 1:
        _prepare(problems)
        yield from map(_work, tasks)
        return
    spawn = multiprocessing.get_context("spawn")  # a fork would copy locks of running numerical threads
    with ProcessPoolExecutor(min(workers, len(tasks)), spawn, _prepare, (problems, True)) as pool:
        waiting = [pool.submit(_work, task) for task in tasks]
        try:
            for done in as_completed(waiting):
                yield done.result()
        finally:
            pool.shutdown(cancel_futures=True)


_shared: dict[str, Any] = {}


def _prepare(problems: Problem | ShardedProblem | Mapping[str, Problem], alone: bool = False) -> None:
    """In each process: the problems, and the engine of the last runs; many processes take one thread each."""
    if alone:
        from threadpoolctl import threadpool_limits

        _shared["limits"] = threadpool_limits(1)
        Thread(target=_leave_with_parent, daemon=True).start()
    _shared["problems"] = problems
    _engine.cache_clear()


def _leave_with_parent() -> None:
    """A worker whose command was killed would wait for work forever."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _work(runs: list[Run]) -> list[Record]:
    problem, run = _problem(runs[0].data), runs[0]
    return simulate_together(problem, runs, _engine(run.data, run.delta, run.engine, run.settings.criterion.columns))


def _problem(data: str) -> Problem | ShardedProblem:
    problems = _shared["problems"]
    return problems[data] if isinstance(problems, Mapping) else problems


@lru_cache(maxsize=2)
def _engine(data: str, delta: float | None, engine: str, columns: bool) -> Prior:
    return choose_prior(_problem(data).graph, delta, engine, columns)
