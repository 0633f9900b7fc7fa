"""Learning curves on labeled graphs: the same question loop with the known labels as the expert, over seeds."""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import os
import platform
from collections.abc import Callable, Hashable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from askgraph import __version__
from askgraph.errors import FileError, LabelError
from askgraph.graph import Graph
from askgraph.learner import Learner
from askgraph.priors import prior as choose_prior
from askgraph.priors.base import Prior
from askgraph.settings import Settings
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
    delta: float = 0.005
    readout: str = "map"
    engine: str = "auto"
    first: str = "random"
    explore: float = 0.0
    data: str = ""

    @property
    def key(self) -> str:
        """What makes this run the one it is."""
        return json.dumps(asdict(self), sort_keys=True)

    @property
    def settings(self) -> Settings:
        """How its learner decides, checked."""
        names = ("doubt", "form", "delta", "readout", "explore", "first")
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

    @property
    def fingerprint(self) -> str:
        """What tells this graph and these labels from any other."""
        W = self.graph.weights
        seen = hashlib.sha256(repr([str(label) for label in self.truth]).encode())
        for part in (W.indptr.astype(np.int64), W.indices.astype(np.int64), W.data):
            seen.update(part.tobytes())
        return seen.hexdigest()[:16]


def simulate(problem: Problem, run: Run, prior: Prior | None = None) -> Record:
    """One run: the accuracy on the unlabeled nodes after every label, and what it cost."""
    how = run.settings
    learner = Learner(
        problem.graph,
        how.utility,
        how.doubt,
        how.form,
        how.delta,
        how.readout,
        run.seed,
        engine=prior or run.engine,
        classes=problem.classes,
        explore=how.explore,
        first=how.first,
    )
    codes = np.array([learner.classes.index(label) for label in problem.truth])
    curve: dict[str, list[Any]] = {"nodes": [], "accuracy": [], "ask_seconds": [], "tell_seconds": []}
    for step in learner.run(lambda node: problem.truth[problem.graph.index(node)], run.budget):
        curve["nodes"].append(problem.graph.index(step.node))
        curve["accuracy"].append(_accuracy(learner, codes))
        curve["ask_seconds"].append(round(step.ask_seconds, 6))
        curve["tell_seconds"].append(round(step.tell_seconds, 6))
    return {**asdict(run), "engine_used": learner.field.prior.name, "versions": versions(), **curve}


def _accuracy(learner: Learner, codes: AnyArray) -> float:
    field = learner.field
    rest = ~field.labeled
    if not rest.any():
        return 1.0
    decided = field.predict(learner.settings.decide)
    return round(float((decided == codes)[rest].mean()), 6)


def versions() -> dict[str, str]:
    """What the figures were made with."""
    names = ("numpy", "scipy")
    return {"askgraph": __version__, "python": platform.python_version(), **{name: version(name) for name in names}}


def simulate_all(problem: Problem, runs: Sequence[Run], workers: int = 1) -> Iterator[Record]:
    """The records of many runs, as they finish; ``workers`` processes share the graph, each prepares its engine once."""
    if workers <= 1 or len(runs) <= 1:
        _prepare(problem)
        yield from map(_work, runs)
        return
    spawn = multiprocessing.get_context("spawn")  # a fork would copy locks of running numerical threads
    with ProcessPoolExecutor(min(workers, len(runs)), spawn, _prepare, (problem, True)) as pool:
        waiting = [pool.submit(_work, run) for run in runs]
        try:
            for done in as_completed(waiting):
                yield done.result()
        finally:
            pool.shutdown(cancel_futures=True)


_shared: dict[str, Any] = {}


def _prepare(problem: Problem, alone: bool = False) -> None:
    """In each process: the problem, and one engine a (delta, engine) for all runs; many processes take one thread each."""
    if alone:
        from threadpoolctl import threadpool_limits

        _shared["limits"] = threadpool_limits(1)
    _shared.update(problem=problem, priors={})


def _work(run: Run) -> Record:
    problem, priors = _shared["problem"], _shared["priors"]
    key = (run.delta, run.engine, run.settings.criterion.columns)
    if key not in priors:
        priors[key] = choose_prior(problem.graph, *key)
    return simulate(problem, run, priors[key])


class Records:
    """Records in a file, one JSON line a run: appended as runs finish, so that a killed command goes on where it was."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)

    def read(self) -> list[Record]:
        """All whole lines; a last line that was cut off in the middle does not count."""
        if not self.path.exists():
            return []
        lines = self.path.read_bytes().split(b"\n")
        return [self._parsed(line, at) for at, line in enumerate(lines[:-1], 1) if line.strip()]

    def missing(self, runs: Sequence[Run]) -> list[Run]:
        """The runs that have no record yet."""
        names = list(asdict(runs[0])) if runs else []
        done = {json.dumps({name: record.get(name) for name in names}, sort_keys=True) for record in self.read()}
        return [run for run in runs if run.key not in done]

    def fill(self, problem: Problem, runs: Sequence[Run], workers: int, tick: Callable[[], None]) -> None:
        """Make the missing records, appending each as it comes."""
        self._cut_torn_line()
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("ab") as file:
            for record in simulate_all(problem, self.missing(runs), workers):
                file.write(json.dumps(record).encode() + b"\n")
                file.flush()
                os.fsync(file.fileno())
                tick()

    def _cut_torn_line(self) -> None:
        if self.path.exists():
            whole = self.path.read_bytes().rfind(b"\n") + 1
            os.truncate(self.path, whole)

    def _parsed(self, line: bytes, at: int) -> Record:
        try:
            record = json.loads(line)
            if not {"sampler", "seed", "accuracy"} <= record.keys():
                raise ValueError("it lacks sampler, seed or accuracy")
        except (ValueError, AttributeError) as error:
            raise FileError(f"{self.path}, line {at}: not a record of askgraph simulate ({error})") from None
        return record  # type: ignore[no-any-return]


def labels_needed(records: Sequence[Record], level: float) -> int | None:
    """After how many labels the mean accuracy first reaches a level, or None."""
    reached = np.flatnonzero(mean_curve(records) >= level)
    return int(reached[0]) + 1 if reached.size else None


def mean_curve(records: Sequence[Record]) -> AnyArray:
    """The mean accuracy over runs after each label, as far as the shortest run goes."""
    curves = [record["accuracy"] for record in records]
    shortest = min(map(len, curves))
    return np.asarray(np.mean([curve[:shortest] for curve in curves], axis=0))


def by_sampler(records: Sequence[Record]) -> dict[str, list[Record]]:
    """Records grouped by sampler, in the order of their first record."""
    groups: dict[str, list[Record]] = {}
    for record in records:
        groups.setdefault(record["sampler"], []).append(record)
    return groups
