"""What samplers cost, measured: Fig. 14's runtimes and the growth of Table I, ours beside the paper's algorithm as it is costed.

A record is one point: seconds to set up, to ask and to tell, and bytes. ``how`` is "ours" (the engine a learner picks by
itself), the name of an engine, or "paper". No doubt is blended in, so both choose by the same formulas.

Seconds are medians over successive questions, after a pass that compiles; set-up is timed once. BLAS runs on one thread, so
that its waiting threads do not show on a busy machine; the look-ahead and the iterations of ours use all cores.
Bytes are the peak that tracemalloc sees above the graph, from set-up to the first question and its answer, in a pass of its
own that is not timed. It sees what numpy, scipy and numba allocate for arrays; it misses what BLAS and SuperLU (which orders
the direct engine's factor) allocate for themselves.
"""

from __future__ import annotations

import json
import os
import time
import tracemalloc
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from itertools import product
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np

from askgraph.graph.build import nearest_neighbors
from askgraph.learner import Learner
from askgraph.paper.textbook import CLOSED, RETRAINED, Costed
from askgraph.simulate import Problem
from askgraph.simulate.runs import Record, machine, versions
from askgraph.support.threads import one_blas_thread
from askgraph.types import IntArray
from askgraph.utilities.lookahead import COMPILE_FROM

DELTA = 0.005
# C² n²: above, a question of the paper's look-ahead is timed on a share of the candidates and scaled up
WORK_UP_TO = 1e7
ADAPTIVE = ("tv", "msd", "klg", "unc", "fl", "kl", "eer", "tsa")
COMPARED = ("tv", "msd", "eer", "tsa")
BUSY = 1.2  # processes per core that want to run, this one included: beyond, the machine is called busy
COSTS = {"setup": "setup_seconds", "ask": "ask_seconds", "tell": "tell_seconds", "memory": "bytes"}


class Complexity(NamedTuple):
    """A row of the paper's Table I: offline, sampling, update, memory; * is what a method does not do, blank is not listed."""

    setup: str = ""
    ask: str = ""
    tell: str = ""
    memory: str = ""


_DESIGN = Complexity("O(|L|N^2)", "*", "*", "O(N^2)")
_RETRAINING = Complexity("O(|E|N)", "O(|C|^2N^2)", "O(N^2)", "O(N^2)")
_CLOSED_FORM = Complexity("O(|E|N)", "O(|C|N)", "O(N^2)", "O(N^2)")
TABLE = {
    "random": Complexity("O(|E||C|)", "*", "*", "O(|E| + N|C|)"),
    "vm": _DESIGN,
    "sigma": _DESIGN,
    "unc": Complexity("*", "O(log|C|N)", "O(|E||C|)", "O(|E| + N|C|)"),
    "eer": _RETRAINING,
    "tsa": _RETRAINING,
    "fl": Complexity("O(|E|N)", "O(|C|N^2)", "O(N^2)", "O(N^2)"),
    "tv": _CLOSED_FORM,
    "msd": _CLOSED_FORM,
    "klg": Complexity(),
    "kl": Complexity(),
}


@dataclass(frozen=True)
class Point:
    """One measurement: which sampler, computed how, on which graph; n and classes describe a graph of ``neighbors``."""

    kind: Literal["runtime", "growth"]
    sampler: str
    how: str
    data: str = "neighbors"
    over: str = ""
    n: int = 0
    classes: int = 0
    labels: int = 5
    repeats: int = 9

    @property
    def key(self) -> str:
        """The key of the point in records."""
        return json.dumps(asdict(self), sort_keys=True)


class Sweep(NamedTuple):
    """Samplers, computed by one engine or by the paper's algorithm, on graphs of growing n or C."""

    how: str
    samplers: Iterable[str]
    over: Literal["n", "C"]
    n: tuple[int, ...]
    classes: tuple[int, ...]


# Our look-ahead uses compiled code from 200,000 pairs × classes on, so all sizes of one fit lie on the same side of that.
FULL = (
    Sweep("dense", (*CLOSED, "random"), "n", (800, 1_250, 2_000, 3_000), (4,)),
    Sweep("dense", (*CLOSED, "random"), "C", (1_000,), (2, 4, 8, 16, 32)),
    Sweep("dense", RETRAINED, "n", (800, 1_250, 2_000, 3_000), (4,)),
    Sweep("dense", RETRAINED, "C", (1_000,), (2, 4, 8, 16, 32)),
    Sweep("direct", (*CLOSED, "random"), "n", (1_500, 3_000, 6_000, 12_000), (4,)),
    Sweep("direct", (*CLOSED, "random"), "C", (4_000,), (2, 4, 8, 16, 32)),
    Sweep("iterative", (*CLOSED, "random"), "n", (2_000, 4_000, 8_000, 16_000), (4,)),
    Sweep("iterative", (*CLOSED, "random"), "C", (2_000,), (2, 4, 8, 16, 32)),
    Sweep("paper", (*CLOSED, *RETRAINED), "n", (400, 640, 1_000, 1_600), (4,)),
    Sweep("paper", (*CLOSED, *RETRAINED), "C", (600,), (2, 4, 8, 16, 32)),
)
QUICK = (
    Sweep("dense", COMPARED, "n", (230, 300, 400), (4,)),
    Sweep("dense", COMPARED, "C", (350,), (2, 4, 8)),
    Sweep("direct", ("tv", "msd"), "n", (700, 1_000), (4,)),
    Sweep("direct", ("tv", "msd"), "C", (700,), (2, 4)),
    Sweep("iterative", ("tv", "msd"), "n", (1_600, 2_000), (4,)),
    Sweep("paper", COMPARED, "n", (100, 200, 300), (4,)),
    Sweep("paper", COMPARED, "C", (100,), (2, 4, 8)),
)


def growth_points(quick: bool) -> list[Point]:
    """Return the points of Table I."""
    return [
        Point("growth", sampler, sweep.how, over=sweep.over, n=n, classes=C, repeats=_repeats(sampler, quick))
        for sweep in (QUICK if quick else FULL)
        for sampler, n, C in product(sweep.samplers, sweep.n, sweep.classes)
    ]


def runtime_points(names: Iterable[str], quick: bool) -> list[Point]:
    """Return the points of Fig. 14: the adaptive samplers (in a quick run only those of claim 11) on each named problem."""
    return [
        Point("runtime", sampler, how, data, labels=10, repeats=_repeats(sampler, quick))
        for data, how, sampler in product(names, ("ours", "paper"), COMPARED if quick else ADAPTIVE)
    ]


def _repeats(sampler: str, quick: bool) -> int:
    """Return the number of questions to time: fewer for slow samplers."""
    return 2 if quick else 5 if sampler in RETRAINED else 15


def measure(point: Point, problem: Problem | None = None) -> Record:
    """Measure one point, on the given problem or on the graph of ``neighbors``; measure memory for growth only."""
    problem = problem or neighbors(point.n, point.classes)
    n, edges, classes = problem.graph.n_nodes, problem.graph.n_edges, len(problem.classes)
    sizes = {"key": point.key, "n": n, "edges": edges, "classes": classes}
    code = (problem, point.sampler, point.how, point.labels)
    load = os.getloadavg()[0]
    with one_blas_thread():
        _warm(*code)
        memory = {"bytes": _peak(*code)} if point.kind == "growth" else {}
        seconds = _seconds(*code, point.repeats)
    made = {"versions": versions(), "machine": machine(), "load": load}
    return {**asdict(point), **sizes, **memory, **seconds, **made}


@lru_cache(maxsize=4)
def neighbors(n: int, classes: int) -> Problem:
    """Return the graph of 10 nearest neighbors of uniform points in a cube; the classes are slabs of the cube."""
    X = np.random.default_rng(0).random((n, 3))
    return Problem(nearest_neighbors(X, k=10), (X[:, 0] * classes).astype(int).tolist())


def _seconds(problem: Problem, sampler: str, how: str, labels: int, repeats: int) -> Record:
    """Return the seconds of set-up, of ask and of tell after a few random labels, and the share of candidates timed."""
    start = time.perf_counter()
    side = _side(problem, sampler, how)
    setup = time.perf_counter() - start
    _tell_some(side, problem, labels)
    asks, tells = zip(*(_round(side) for _ in range(repeats)), strict=True)
    seconds = {"setup_seconds": setup, "ask_seconds": float(np.median(asks)), "tell_seconds": float(np.median(tells))}
    return {**seconds, "asks": list(asks), "tells": list(tells), "share": side.share, "engine_used": side.engine}


def exponents(records: Iterable[Record]) -> list[dict[str, Any]]:
    """Return growth exponents of each cost by sampler, algorithm and variable, beside the paper's column.

    An exponent is the least-squares slope of log cost over log size, with its standard error, over the upper half of the
    sizes but at least three: at small sizes the fixed cost of a call hides the growth.
    """
    groups: dict[tuple[str, str, str], list[Record]] = {}
    for record in records:
        if record["kind"] == "growth":
            groups.setdefault((record["sampler"], record["how"], record["over"]), []).append(record)
    return [_row(*at, cost, group) for at, group in groups.items() if len(group) > 1 for cost in COSTS]


def _row(sampler: str, how: str, over: str, cost: str, records: Sequence[Record]) -> dict[str, Any]:
    size = {"n": "n", "C": "classes"}[over]
    upper = sorted(records, key=lambda record: int(record[size]))[-max(3, -(-len(records) // 2)) :]
    sizes = [record[size] for record in upper]
    slope, error = _slope(sizes, [record[COSTS[cost]] for record in upper])
    fitted = {"exponent": slope, "error": error, "sizes": sizes, "paper": getattr(TABLE[sampler], cost)}
    return {"sampler": sampler, "how": how, "over": over, "cost": cost, **fitted}


def _slope(sizes: Sequence[int], costs: Sequence[float]) -> tuple[float, float | None]:
    """Return b of cost = a size^b by least squares of logarithms, and its standard error, or None for two sizes."""
    x, y = np.log(sizes), np.log(costs)
    x, y = x - x.mean(), y - y.mean()
    slope = float(x @ y / (x @ x))
    rest, spare = y - slope * x, len(x) - 2
    return slope, float(np.sqrt(rest @ rest / spare / (x @ x))) if spare else None


class _Side(Protocol):
    """Algorithm 1, ours or the paper's; nodes are numbers."""

    engine: str

    @property
    def share(self) -> float: ...
    def ask(self) -> int: ...
    def tell(self, node: int) -> None: ...


class _Ours:
    share = 1.0

    def __init__(self, problem: Problem, sampler: str, engine: str) -> None:
        self._problem = problem
        options: dict[str, Any] = {"doubt": None, "delta": DELTA, "noise": 0.0, "rng": 0, "engine": engine}
        self._learner = Learner(problem.graph, sampler, classes=problem.classes, **options)
        self.engine = self._learner.field.prior.name

    def ask(self) -> int:
        return self._problem.graph.index(self._learner.ask())

    def tell(self, node: int) -> None:
        self._learner.tell(self._problem.graph.name(node), self._problem.truth[node])


class _Paper:
    engine = "paper"

    def __init__(self, problem: Problem, sampler: str) -> None:
        self._problem, self._sampler, self._classes = problem, sampler, problem.classes
        self._field = Costed(problem.graph, DELTA, len(self._classes))
        work = len(self._classes) * self._field.mean.size * problem.graph.n_nodes
        self._stride = int(np.ceil(work / WORK_UP_TO)) if sampler in RETRAINED else 1

    @property
    def share(self) -> float:
        nodes = self._field.unlabeled
        return self._some(nodes).size / nodes.size

    def ask(self) -> int:
        nodes = self._some(self._field.unlabeled)
        return int(nodes[self._field.score(self._sampler, nodes).argmax()])

    def tell(self, node: int) -> None:
        self._field.tell(node, self._classes.index(self._problem.truth[node]))

    def _some(self, nodes: IntArray) -> IntArray:
        return nodes[:: self._stride]


def _side(problem: Problem, sampler: str, how: str) -> _Side:
    if how == "paper":
        return _Paper(problem, sampler)
    return _Ours(problem, sampler, "auto" if how == "ours" else how)


def _tell_some(side: _Side, problem: Problem, labels: int) -> None:
    for node in np.random.default_rng(0).choice(problem.graph.n_nodes, labels, replace=False):
        side.tell(int(node))


def _round(side: _Side) -> tuple[float, float]:
    """Return the seconds of one question, scaled up to all candidates, and of its answer."""
    share, start = side.share, time.perf_counter()
    node = side.ask()
    asked = time.perf_counter()
    side.tell(node)
    return (asked - start) / share, time.perf_counter() - asked


_warmed: set[tuple[str, str, bool]] = set()


def _warm(problem: Problem, sampler: str, how: str, labels: int) -> None:
    """Run the code of a point once per process before anything is measured, so that it is compiled."""
    code = (sampler, how, problem.graph.n_nodes**2 * len(problem.classes) >= COMPILE_FROM)
    if how != "paper" and code not in _warmed:
        _run_once(problem, sampler, how, labels)
        _warmed.add(code)


def _peak(problem: Problem, sampler: str, how: str, labels: int) -> int:
    """Return the peak bytes of set-up, a few labels, one question and its answer."""
    tracemalloc.start()
    try:
        _run_once(problem, sampler, how, labels)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def _run_once(problem: Problem, sampler: str, how: str, labels: int) -> None:
    side = _side(problem, sampler, how)
    _tell_some(side, problem, labels)
    _round(side)
