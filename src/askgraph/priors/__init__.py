"""Engines: ways to solve with L + δI, and the rule that picks one."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

from askgraph.distributed.sharded_graph import ShardedGraph
from askgraph.errors import ConvergenceError, EngineError, MissingExtraError, SettingError, TooLargeError
from askgraph.graph import Graph
from askgraph.linalg.fill import predicted_fill
from askgraph.priors import dense
from askgraph.priors.base import Prior
from askgraph.priors.dense import Dense
from askgraph.priors.direct import Direct
from askgraph.priors.iterative import MORE_FLAT_PROBES, Iterative, needed_bytes
from askgraph.priors.petsc import Petsc
from askgraph.priors.precision import Precision
from askgraph.priors.probing import MAX_GROUPS, MAX_PROBES
from askgraph.support.memory import free_bytes
from askgraph.support.progress import log
from askgraph.support.wording import counted

ENGINES: dict[str, type[Prior]] = {"dense": Dense, "direct": Direct, "iterative": Iterative, "petsc": Petsc}
DENSE_UP_TO = 3_000  # nodes: the inverse takes about a second and 72 MB
MAX_NORM_PROBES = MAX_GROUPS + MORE_FLAT_PROBES  # probes of ‖g‖₂, at most
GPU_FROM = 200_000  # nodes: from here on the first question is faster on a GPU even if its kernels are compiled for it
WORK_UP_TO = 1e9  # n times (entries of the factor per node) squared: five seconds of factorizing; beyond, iterative


def prior(
    graph: Graph | ShardedGraph, delta: float | None = None, engine: str = "auto", columns: bool = False
) -> Prior:
    """Return an engine for a graph: the Gaussian field before any label, and a way to solve with its precision L + δI.

    Where ``engine`` is "auto" and the engine chosen first fails, another one takes its place, and its reason says so.

    Parameters
    ----------
    graph : Graph or ShardedGraph
        The graph.
    delta : float, optional
        The ridge δ, a positive number; by default a thousandth of the mean degree of the nodes that have an edge.
    engine : str
        "auto" to choose by the size of the graph, or an engine's name: "dense", "direct", "iterative", "petsc", "gpu",
        "gpu-dense" or "gpu-sparse".
    columns : bool
        Whether every question will read all columns of the covariance, as the samplers fl, kl, eer and tsa do; "auto" and
        "gpu" then prefer the inverse on larger graphs than they do otherwise.

    Returns
    -------
    Prior
        The engine; its attribute ``name`` is the engine's name, and ``reason`` is a sentence that says why it was chosen.

    Examples
    --------
    >>> import askgraph as ag
    >>> ag.prior(ag.chain(5)).reason
    'dense: 5 nodes are few enough to hold the inverse'
    >>> ag.prior(ag.chain(5), delta=0.5, engine="direct").name
    'direct'
    """
    if not isinstance(engine, str):
        raise SettingError(f"engine={engine!r}: give the name of an engine, such as 'auto'")
    precision = Precision.of(graph, delta)
    made, reason = choice(precision, engine, columns)
    try:
        chosen = _ready(made(precision))
    except (ConvergenceError, TooLargeError) as error:
        if engine != "auto" or made in (Iterative, Petsc):
            raise
        other = Direct if made is Dense else Iterative
        chosen, reason = _ready(other(precision)), f"{other.name}: {made.name} failed ({error})"
    chosen.reason = reason
    log.info("%s engine: %s", chosen.name, reason.partition(": ")[2])
    return chosen


def is_exact(graph: Graph | ShardedGraph, delta: float | None, engine: str | Prior) -> bool:
    """Return whether the engine that this names, or that is picked, knows all summaries exactly."""
    return engine.exact if isinstance(engine, Prior) else choice(Precision.of(graph, delta), engine)[0].exact


def _ready(chosen: Prior) -> Prior:
    """Return an engine, set up if that may fail: iterative, which cannot, and dense, if it cannot, wait for their first solve."""
    if not isinstance(chosen, Iterative | Dense):
        chosen.prepare()
    return chosen


def named(engine: str) -> type[Prior]:
    """Return an engine by its name; an engine on a GPU loads CuPy."""
    if engine.startswith("gpu-"):
        found = {made.name: made for made in (_gpu().GpuDense, _gpu().GpuSparse)}.get(engine)
    else:
        found = ENGINES.get(engine)
    if found is None:
        raise SettingError(
            f"no engine called {engine!r}: choose auto, {', '.join(ENGINES)}, gpu, gpu-dense, gpu-sparse"
        )
    return found


def _gpu() -> Any:
    from askgraph.priors import gpu

    return gpu


def _card(graph: Graph, columns: bool) -> tuple[type[Prior], str] | None:
    """Return the engine of a GPU and why it is used; None where no GPU answers or the graph does not fit."""
    if find_spec("cupy") is None:
        return None
    try:
        made, reason = _gpu().gpu(graph, columns)
        _gpu().fits_sparse(graph)
    except (EngineError, MissingExtraError) as error:
        log.info("no GPU is used: %s", error)
        return None
    return made, f"{reason}; engine='iterative' stays on the processor"


def choice(precision: Precision, engine: str = "auto", columns: bool = False) -> tuple[type[Prior], str]:
    """Return the engine that the rule picks, and a sentence that says why.

    Dense where the inverse is small, direct where the factor is small, elsewhere a GPU if there is one and the graph is large,
    or iterative; petsc for a graph in shards.

    For a utility that reads all ``columns`` of the covariance at every question, dense as long as the inverse fits in memory.
    """
    graph: Any = precision.graph
    if engine == "gpu" and isinstance(graph, Graph):
        return _gpu().gpu(graph, columns)
    if engine != "auto":
        if isinstance(graph, ShardedGraph) and engine != Petsc.name:
            raise SettingError(f"engine={engine!r}: a graph in shards is for petsc; for others take graph.gathered()")
        return named(engine), f"{engine}: asked for"
    if isinstance(graph, ShardedGraph):
        return Petsc, f"petsc: the graph lives in {counted(graph.ranks.size, 'rank')}"
    n = graph.n_nodes
    if n <= DENSE_UP_TO:
        return Dense, f"dense: {n:,} nodes are few enough to hold the inverse"
    if columns and n <= dense.MAX_NODES and 8 * n * n <= free_bytes() / 4:
        return Dense, f"dense: this sampler reads all columns of the inverse, which takes {8e-9 * n * n:.1f} GB"
    entries = predicted_fill(precision.matrix) * (graph.n_edges + n)
    size = f"about {entries / n:,.0f} numbers a node"
    if entries**2 / n <= WORK_UP_TO and 8 * entries <= free_bytes() / 4:
        return Direct, f"direct: {n:,} nodes, and a factor of {size} ({8e-9 * entries:.2g} GB)"
    if n >= GPU_FROM and (card := _card(graph, columns)):
        return card
    ahead = "; a sampler that looks ahead scores only the nodes that tv ranks highest" if columns else ""
    most, norms = (needed_bytes(graph, count) / 1e9 for count in (MAX_PROBES, MAX_PROBES + MAX_NORM_PROBES))
    memory = f"at most {most:,.1f} GB, for msd and vm {norms:,.1f} GB"
    return Iterative, f"iterative: {n:,} nodes, and a factor would take {size}; {memory}{ahead}"
