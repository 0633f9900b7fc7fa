"""Files of records, one per run, and means and levels of their learning curves."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import fields
from pathlib import Path

import numpy as np

from askgraph.errors import FileError
from askgraph.pools import Pool
from askgraph.simulate.runs import Problem, Record, Run, simulate_all
from askgraph.simulate.sharded import ShardedProblem
from askgraph.types import AnyArray


def run_of(record: Record) -> Run:
    """Return the run that a record is of; a setting that is newer than the record has its default."""
    return Run(**{x.name: record[x.name] for x in fields(Run) if x.name in record})


class Lines:
    """A file with one JSON object per line, appended one by one, so that a killed command can go on where it was."""

    path: Path

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)

    def read(self) -> list[Record]:
        """Return the records of all complete lines; a last line that was cut off does not count."""
        if not self.path.exists():
            return []
        lines = self.path.read_bytes().split(b"\n")
        return [self._parse(line, at) for at, line in enumerate(lines[:-1], 1) if line.strip()]

    @contextmanager
    def appending(self) -> Iterator[Callable[[Record], None]]:
        """Yield a function that appends a record; the record is on disk when the function returns."""
        self._remove_incomplete_line()
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("ab") as file:

            def append(record: Record) -> None:
                file.write(json.dumps(record).encode() + b"\n")
                file.flush()
                os.fsync(file.fileno())

            yield append

    def _remove_incomplete_line(self) -> None:
        if self.path.exists():
            complete = self.path.read_bytes().rfind(b"\n") + 1
            os.truncate(self.path, complete)

    def _parse(self, line: bytes, at: int) -> Record:
        try:
            record: Record = json.loads(line)
            self._check(record)
        except (ValueError, AttributeError) as error:
            raise FileError(f"{self.path}, line {at}: not a record ({error}); delete the line or the file") from None
        return record

    def _check(self, record: Record) -> None:
        record.keys()


class Records(Lines):
    """A file of records of runs."""

    def of(self, runs: Sequence[Run]) -> dict[Run, Record]:
        """Return the records of those runs that have one."""
        found = {run_of(record): record for record in self.read()}
        return {run: found[run] for run in runs if run in found}

    def missing(self, runs: Sequence[Run]) -> list[Run]:
        """Return the runs that have no record yet."""
        done = self.of(runs)
        return [run for run in runs if run not in done]

    def fill(
        self,
        problem: Problem | ShardedProblem | Mapping[str, Problem],
        runs: Sequence[Run],
        workers: int,
        tick: Callable[[Run], object],
        pool: Pool | None = None,
    ) -> None:
        """Make the missing runs, and append each record as it comes."""
        with self.appending() as append:
            for record in simulate_all(problem, self.missing(runs), workers, pool):
                append(record)
                tick(run_of(record))

    def fill_together(self, problem: ShardedProblem, runs: Sequence[Run], tick: Callable[[Run], object]) -> None:
        """Make the missing runs in all processes of an MPI job; the first one reads and writes the file."""
        ranks = problem.graph.ranks
        missing = ranks.comm.bcast(self.missing(runs) if ranks.first else None)
        with self.appending() if ranks.first else nullcontext(lambda record: None) as append:
            for record in simulate_all(problem, missing):
                append(record)
                tick(run_of(record))

    def _check(self, record: Record) -> None:
        if not {"sampler", "seed", "budget", "accuracy"} <= record.keys():
            raise ValueError("it lacks sampler, seed, budget or accuracy")


def labels_needed(records: Sequence[Record], level: float) -> int | None:
    """Return the number of labels at which the mean accuracy first reaches a level, or None."""
    reached = np.flatnonzero(mean_curve(records) >= level)
    return int(reached[0]) + 1 if reached.size else None


def mean_curve(records: Sequence[Record]) -> AnyArray:
    """Return the mean accuracy over runs after each label, up to the length of the shortest run."""
    curves = [record["accuracy"] for record in records]
    shortest = min(map(len, curves))
    return np.asarray(np.mean([curve[:shortest] for curve in curves], axis=0))


def by_sampler(records: Sequence[Record]) -> dict[str, list[Record]]:
    """Return the records grouped by sampler, in the order of each sampler's first record."""
    groups: dict[str, list[Record]] = {}
    for record in records:
        groups.setdefault(record["sampler"], []).append(record)
    return groups
