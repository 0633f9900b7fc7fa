"""Run experiments, keep their records in a folder so that a stopped study can continue, and read curves from records."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from askgraph.errors import FileError
from askgraph.paper.plan import Experiment, cost
from askgraph.paper.problems import Source, facts
from askgraph.simulate import Run
from askgraph.simulate.records import Records
from askgraph.simulate.runs import Record
from askgraph.support.files import replacing
from askgraph.support.progress import bar
from askgraph.types import Array

HOW_TO_COMPLETE = "leave out --draw to make the missing ones, or give --quick and --runs as when the records were made"
RUNS = "curves"  # file of the records; "runs" held those that gave a tie to the class named first
Facts = dict[str, dict[str, Any]]  # source -> figures on its graph, see problems.facts


@dataclass(frozen=True)
class Results:
    """Experiments, figures on their graphs, and the record of each run."""

    experiments: Mapping[str, Experiment]
    facts: Facts
    records: Mapping[Run, Record]

    def of(self, experiment: str, sampler: str, readout: str = "map") -> list[Record]:
        """Return the records of one curve, one per run."""
        runs = self.experiments[experiment].runs(sampler, readout, _names(self.facts))
        return [self.records[run] for run in runs]

    def curves(self, experiment: str, sampler: str, readout: str = "map") -> Array:
        """Return accuracies: one row per run, one column per label."""
        return np.array([record["accuracy"] for record in self.of(experiment, sampler, readout)])

    def fact(self, experiment: str) -> dict[str, Any]:
        """Return the figures on the first graph of an experiment."""
        return self.facts[str(self.experiments[experiment].source)]


def fill(
    folder: Path,
    wanted: Sequence[Experiment],
    data: str | os.PathLike[str] | None,
    workers: int,
    name: str = RUNS,
    words: str = "runs",
) -> Results:
    """Run what a folder lacks of these experiments, then read all their records; ``words`` stand before the progress bar."""
    problems = {source: source.problem(data) for source in sorted(_sources(wanted), key=str)}
    known = {str(source): facts(source, problem) for source, problem in problems.items()}
    _save_facts(folder, known)
    named = {known[str(source)]["name"]: problem for source, problem in problems.items()}
    records = Records(folder / f"{name}.jsonl")
    missing = records.missing(_runs(wanted, known))
    costs = {run: cost(run.sampler, run.budget, named[run.data]) for run in missing}
    with bar(sum(costs.values()), words) as tick:
        records.fill(named, _order_runs(costs), workers, lambda run: tick(costs[run]))
    return read(folder, wanted, name)


def read(folder: Path, wanted: Sequence[Experiment], name: str = RUNS) -> Results:
    """Read the records of these experiments from a folder; run nothing."""
    if not folder.is_dir():
        raise FileError(f"{folder}: no such folder; {HOW_TO_COMPLETE}")
    known = {source: {"name": ""} for source in map(str, _sources(wanted))} | _read_facts(folder)
    runs = _runs(wanted, known)
    records = Records(folder / f"{name}.jsonl").of(runs)
    if len(records) < len(runs):
        raise FileError(f"{folder}: {len(runs) - len(records)} of {len(runs)} runs are missing; {HOW_TO_COMPLETE}")
    return Results({x.name: x for x in wanted}, known, records)


def _sources(wanted: Iterable[Experiment]) -> set[Source]:
    return {source for experiment in wanted for source in experiment.sources}


def _names(known: Facts) -> dict[str, str]:
    return {source: fact["name"] for source, fact in known.items()}


def _runs(wanted: Iterable[Experiment], known: Facts) -> list[Run]:
    return list(dict.fromkeys(run for experiment in wanted for run in experiment.all_runs(_names(known))))


def _order_runs(costs: Mapping[Run, float]) -> list[Run]:
    """Sort runs by graph, so that engines are prepared once; graphs with the longest runs come first."""
    longest: dict[str, float] = {}
    for run, seconds in costs.items():
        longest[run.data] = max(longest.get(run.data, 0.0), seconds)
    return sorted(costs, key=lambda run: (-longest[run.data], run.data, run.delta, -costs[run]))


def _save_facts(folder: Path, known: Facts) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    both = {**_read_facts(folder), **known}
    with replacing(folder / "graphs.json") as file:
        file.write(json.dumps(both, indent=1, sort_keys=True).encode())


def _read_facts(folder: Path) -> Facts:
    path = folder / "graphs.json"
    return json.loads(path.read_text()) if path.exists() else {}
