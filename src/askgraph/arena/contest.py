"""One run: a method asks, gets answers, and predicts; what it does wrong ends the run with a reason."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from askgraph.arena.host import Reply, answer_requests
from askgraph.arena.sets import TRACKS, ArenaSet
from askgraph.types import IntArray
from askgraph.version import __version__

PER_CLASS = (2, 3, 5, 7, 10, 14, 20)  # labels per class at which predictions are read
MOST = 0.5  # of the nodes that may be asked for
LOOKS = 0.1  # seconds between two looks at a process
SPAWN = multiprocessing.get_context("spawn")
Record = dict[str, Any]


class Entry(NamedTuple):
    """What is run: a method by its import path, on a track, from a seed; ``name`` is how the method is called."""

    name: str
    method: str
    track: str
    seed: int


class Limits(NamedTuple):
    """Seconds and megabytes that a run may take."""

    seconds: float
    megabytes: float


class Failed(Exception):
    """What a method did wrong."""


def budgets(one: ArenaSet) -> list[int]:
    """Return the numbers of labels at which predictions are read: from 2 to 20 per class, of at most half of the nodes."""
    most = int(MOST * (one.truth.size - one.closed.size))
    return sorted({min(k * one.n_classes, most) for k in PER_CLASS})


def key(entry: Entry, one: ArenaSet) -> tuple[str, str, str, int, str]:
    """Return what makes a run another one than others."""
    return entry.name, entry.track, one.name, entry.seed, one.checksum


def compete(entry: Entry, one: ArenaSet, limits: Limits) -> Record:
    """Run a method on a set; return the record of the run, which tells why if it failed."""
    record: Record = {
        "name": entry.name, "method": entry.method, "track": entry.track, "set": one.name, "seed": entry.seed,
        "checksum": one.checksum, "classes": one.n_classes, "nodes": int(one.truth.size), "version": __version__,
    }  # fmt: skip
    curve: dict[str, list[Any]] = {"labels": [], "accuracy": [], "stated": []}
    with _seat(entry.method, limits) as seat:
        try:
            _run(seat, entry, one, curve)
            how = {"status": "done", "reason": None}
        except Failed as failure:
            how = {"status": "failed", "reason": str(failure)}
    return {
        **record,
        **how,
        **curve,
        "seconds": round(seat.last.seconds, 3),
        "megabytes": round(seat.last.megabytes, 1),
    }


def answers(one: ArenaSet, wrong: float, seed: int) -> IntArray:
    """Return what people say of each node: its class, or for a share of the nodes any other class."""
    rng = np.random.default_rng([seed, 1])
    shift = rng.integers(1, max(one.n_classes, 2), one.truth.size)
    said = (one.truth + shift) % one.n_classes
    return np.asarray(np.where(rng.random(one.truth.size) < wrong, said, one.truth), dtype=np.int64)


def first_node(one: ArenaSet, seed: int) -> int:
    """Return the node whose label every method gets first: one drawn at random by the seed."""
    return int(np.random.default_rng([seed, 0]).choice(_open(one)))


def _open(one: ArenaSet) -> IntArray:
    return np.setdiff1d(np.arange(one.truth.size), one.closed)


def _run(seat: _Seat, entry: Entry, one: ArenaSet, curve: dict[str, list[Any]]) -> None:
    said, marks = answers(one, TRACKS[entry.track].wrong, entry.seed), budgets(one)
    open_, known = set(_open(one).tolist()), dict[int, int]()
    weights = None if one.graph is None else one.graph.weights
    seat.do("make", weights, one.features, list(range(one.n_classes)), entry.seed, one.closed.tolist())
    node = first_node(one, entry.seed)
    while True:
        known[node] = int(said[node])
        seat.do("tell", node, known[node])
        if len(known) in marks:
            predicted, stated = seat.do("predict")
            curve["labels"].append(len(known))
            curve["accuracy"].append(_accuracy(one, np.asarray(predicted), known))
            curve["stated"].append(stated)
        if len(known) == marks[-1]:
            return
        node = seat.do("ask")
        if node in known:
            raise Failed(f"asked for node {node}, which is labeled")
        if node not in open_:
            raise Failed(f"asked for node {node}, which is not one of the nodes that may be asked for")


def _accuracy(one: ArenaSet, predicted: Any, known: Sequence[int] | dict[int, int]) -> float:
    """Return the share of nodes without a label, or of those that are judged, that are predicted right."""
    n = one.truth.size
    if predicted.shape != (n,):
        raise Failed(f"predicted {predicted.size} classes; give one for each of the {n} nodes")
    if (odd := ~np.isin(predicted, np.arange(one.n_classes))).any():
        raise Failed(f"predicted {predicted[odd][0]}; give classes from 0 to {one.n_classes - 1}")
    rest = one.judged if one.judged is not None else np.setdiff1d(np.arange(n), list(known))
    return float((predicted[rest] == one.truth[rest]).mean())


class _Seat:
    """The process of a method, and its limits."""

    def __init__(self, process: Any, connection: Any, limits: Limits) -> None:
        self._process, self._connection, self._limits = process, connection, limits
        self._end = time.monotonic() + limits.seconds
        self.last: Reply = Reply("done", None, 0.0, 0.0)

    def do(self, name: str, *arguments: Any) -> Any:
        """Send a request and return the reply; raise an error if there is none, or none in time."""
        try:
            self._connection.send((name, arguments))
            while not self._connection.poll(LOOKS):
                self._check()
            self.last = self._connection.recv()
        except (EOFError, OSError):
            self._process.join(1)
            raise Failed(f"its process ended (exit code {self._process.exitcode})") from None
        if self.last.name == "failed":
            raise Failed(f"{name}: {self.last.value}")
        if self.last.megabytes > self._limits.megabytes:
            raise Failed(self._too_large(self.last.megabytes))
        return self.last.value

    def _check(self) -> None:
        if time.monotonic() > self._end:
            raise Failed(f"took more than {self._limits.seconds:.0f} seconds")
        if (now := _megabytes(self._process.pid)) > self._limits.megabytes:
            raise Failed(self._too_large(now))

    def _too_large(self, megabytes: float) -> str:
        return f"took {megabytes:.0f} MB of memory, more than {self._limits.megabytes:.0f}"


@contextmanager
def _seat(method: str, limits: Limits) -> Iterator[_Seat]:
    here, there = SPAWN.Pipe()
    process = SPAWN.Process(target=answer_requests, args=(there, method), name="askgraph-arena", daemon=True)
    process.start()
    there.close()
    try:
        yield _Seat(process, here, limits)
    finally:
        here.close()
        process.kill()
        process.join()


def _megabytes(pid: int) -> float:
    """Return the memory that a process has now; 0 where the system does not say."""
    with suppress(OSError, ValueError):
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * 4096 / 2**20
    return 0.0
