"""A learner in one npz file: its graphs, the settings, everything told, and perhaps what was computed. Nothing is pickled.

What the processes of an MPI job computed is in one file per process beside it: work.rank0.npz, work.rank1.npz, …
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any, NamedTuple

import numpy as np

from askgraph.answers.shares import from_plain, to_plain
from askgraph.distributed.distribute import sharded
from askgraph.distributed.ranks import world
from askgraph.errors import AskgraphError, FileError
from askgraph.field import Field
from askgraph.field.saved_state import from_arrays, to_arrays
from askgraph.graph import Graph
from askgraph.learner.graphs import ALONE
from askgraph.learner.settings import Settings
from askgraph.plan.plan import discount_of, discount_to_arrays
from askgraph.plan.tune import Choice, candidates
from askgraph.priors import ENGINES
from askgraph.priors.features import TINY, Features, Kernels
from askgraph.priors.precision import Precision
from askgraph.priors.summaries import checked_array
from askgraph.priors.summed import Summed
from askgraph.support.npz import as_json, from_json, load_arrays, save_arrays
from askgraph.support.progress import log
from askgraph.support.wording import counted

Path = str | os.PathLike[str]
KERNEL = "kernel_"  # and a number: the columns of a kernel of features
GUESSES = "suggestions"  # the text that says what models guess


class Saved(NamedTuple):
    """What a learner is made of."""

    graphs: dict[str, Graph]
    settings: Settings
    seed: int
    engine: str  # the name of the engine in use; with ``tune``, the name that was asked for
    declared: tuple[Hashable, ...]
    log: tuple[Any, ...]  # (kind, node, label, before, noise) per event
    orders: tuple[Any, ...] = ()  # the classes before each event and after the last; empty where the state is not saved
    field: Field | None = None  # None where the state is not saved
    choice: Choice | None = None
    guesses: tuple[Any, ...] = ()  # (source, ((node, label, score), ...)) per source
    features: Features | Kernels | None = None


def write(path: Path, saved: Saved, writes: bool = True) -> None:
    """Write the whole file or none of it; without ``writes``, only take part in gathering what other processes write."""
    log = tuple(
        (kind, node, to_plain(label), to_plain(before), noise, *rest)
        for kind, node, label, before, noise, *rest in saved.log
    )
    as_json(tuple(event[2] for event in log), "labels")
    words = {"classes": saved.declared, "log": log, "orders": saved.orders, "graphs": tuple(saved.graphs)}
    if saved.guesses:
        words[GUESSES] = saved.guesses
    how = {**saved.settings.to_json(), "seed": saved.seed, "engine": saved.engine}
    part = {} if saved.features is None else _feature_arrays(saved.features)
    state = {} if saved.field is None else _state(path, saved.field, saved.choice, isinstance(saved.features, Kernels))
    text = {key: as_json(value, key) for key, value in words.items()}
    graphs = _graph_arrays(saved.graphs)
    if writes:
        save_arrays(path, **graphs, learner=json.dumps(how), **part, **text, **state)


def _graph_arrays(graphs: dict[str, Graph]) -> dict[str, Any]:
    """Return the arrays of the first graph as of any saved graph, those of the others with their place before each name."""
    first, *others = (graph.arrays() for graph in graphs.values())
    return {**first, **{f"{at}_{key}": x for at, part in enumerate(others, 1) for key, x in part.items()}}


def _state(path: Path, field: Field, choice: Choice | None, mixes: bool) -> dict[str, Any]:
    """Return what was computed; where it lives in several processes, each writes its own file, and how many is returned."""
    scale = field.origin.scale
    made = {"in_use": field.prior.name, "choice": choice and asdict(choice), "scale": scale}
    made["delta"] = field.origin.delta / scale
    mixed = {"mixed": field.space.gather(vars(field.origin)["features"])} if mixes else {}
    space, arrays = field.space, {**to_arrays(field), **discount_to_arrays(field), **mixed}
    if space.alone:
        return {"state": json.dumps(made), **{f"state_{key}": x for key, x in arrays.items()}}
    rank, size = space.process
    mark = int(space.allgather(np.array([secrets.randbits(62)]))[0])  # the same in all files that belong together
    nodes = space.nodes_of(np.arange(space.n_rows))
    space.all_or_error(lambda: save_arrays(_of_rank(path, rank), mark=np.array(mark), nodes=nodes, **arrays))
    return {"state": json.dumps({**made, "ranks": size, "mark": mark})}


def _of_rank(path: Path, rank: int) -> str:
    """Return the file of what one process computed."""
    return f"{os.fspath(path).removesuffix('.npz')}.rank{rank}.npz"


def read(path: Path) -> Saved:
    """Read what ``write`` wrote; large arrays stay in the file."""
    stored = load_arrays(path)
    if not {"learner", "classes", "log"} <= stored.keys():
        raise FileError(f"{path}: not a saved learner; write it with Learner.save")
    how = json.loads(str(stored["learner"]))
    seed, engine = how.pop("seed"), how.pop("engine")
    classes, events = (from_json(str(stored[key])) for key in ("classes", "log"))
    log = tuple(
        (kind, node, from_plain(label), from_plain(before), *rest) for kind, node, label, before, *rest in events
    )
    orders = from_json(str(stored["orders"])) if "orders" in stored else ()
    guesses = from_json(str(stored[GUESSES])) if GUESSES in stored else ()
    features = _features(path, stored) if "features" in stored else _kernels(stored)
    settings, graphs = Settings.from_json(how), _graphs(path, stored)
    whole = Saved(graphs, settings, seed, engine, classes, log, orders, guesses=guesses, features=features)
    arrays = {key.removeprefix("state_"): x for key, x in stored.items() if key.startswith("state_")}
    made = json.loads(str(stored["state"])) if "state" in stored else {"in_use": engine, "choice": None}
    if "ranks" in made:
        arrays = _rank_arrays(path, made["ranks"], made["mark"])
    if not arrays:
        return whole
    choice = made["choice"] and Choice(**made["choice"])
    field = _restored(path, whole, made, choice, arrays)
    return whole._replace(field=field, choice=choice)


def _rank_arrays(path: Path, size: int, mark: int) -> dict[str, Any]:
    """Return what this process computed when the file was saved; nothing, with a warning, where the files do not fit this job."""
    ranks = world()
    if ranks.size != size:
        reason = f"was computed by {counted(size, 'rank')}, and this job has {ranks.size}"
    else:
        own = _of_rank(path, ranks.rank)
        arrays = ranks.all_or_error(lambda: load_arrays(own) if os.path.exists(own) else {})
        fits = ranks.comm.allgather(bool(arrays) and int(arrays.get("mark", -1)) == mark)
        if all(fits):
            return arrays
        lost = _of_rank(path, fits.index(False))
        reason = f"is not there in full: {lost} is missing, or of another save"
    if ranks.first:
        log.warning("%s: what was computed %s; everything that was told is told again", path, reason)
    return {}


def _feature_arrays(features: Features | Kernels) -> dict[str, Any]:
    if isinstance(features, Kernels):
        return {f"{KERNEL}{at}": columns for at, columns in enumerate(features.columns)}
    graphs = {**_prefixed("given_", features.given), **_prefixed("rows_", features.rows)}
    return {"features": features.columns, "from_start": features.from_start, **graphs}


def _prefixed(prefix: str, graph: Graph | None) -> dict[str, Any]:
    return {} if graph is None else {f"{prefix}{key}": x for key, x in graph.arrays().items()}


def _features(path: Path, stored: dict[str, Any]) -> Features:
    given, rows = (_graph_of(path, stored, prefix) for prefix in ("given_", "rows_"))
    return Features(stored["features"], bool(stored["from_start"]), given, rows)


def _kernels(stored: dict[str, Any]) -> Kernels | None:
    count = sum(key.startswith(KERNEL) for key in stored)
    return Kernels(tuple(stored[f"{KERNEL}{at}"] for at in range(count))) if count else None


def _graph_of(path: Path, stored: dict[str, Any], prefix: str) -> Graph | None:
    arrays = {key.removeprefix(prefix): x for key, x in stored.items() if key.startswith(prefix)}
    return Graph.stored(path, arrays) if arrays else None


def _graphs(path: Path, stored: dict[str, Any]) -> dict[str, Graph]:
    names = from_json(str(stored["graphs"])) if "graphs" in stored else (ALONE,)
    parts = [stored] + [
        {key.removeprefix(f"{at}_"): x for key, x in stored.items() if key.startswith(f"{at}_")}
        for at in range(1, len(names))
    ]
    return {name: Graph.stored(path, part) for name, part in zip(names, parts, strict=True)}


def _restored(path: Path, saved: Saved, made: dict[str, Any], choice: Choice | None, state: dict[str, Any]) -> Field:
    settings = saved.settings
    linear = None if isinstance(saved.features, Kernels) else saved.features
    every = candidates(saved.graphs, settings.delta, settings.tune, linear)
    graph, delta, features = every[choice.name if choice else next(iter(every))]
    if "delta" in made:
        delta = made["delta"]
    elif features is not None or len(saved.graphs) > 1:
        delta = settings.delta  # files without "delta" are of a version that merged graphs and left the ridge as it was
    engine = made["in_use"]
    with _naming_damage(path):
        over = sharded(graph, nodes=checked_array(state["nodes"], (None,))) if "nodes" in state else graph
    prior = ENGINES[engine](Precision.of(over, delta))
    prior.reason = f"{engine}: as it was saved"
    if features is not None:
        prior = features.added(prior, made.get("scale"))
    elif isinstance(saved.features, Kernels):
        prior = Summed.over(prior, checked_array(state["mixed"], (graph.n_nodes, None)), TINY, made["scale"])
    with _naming_damage(path):
        coding = settings.answers.coding(saved.orders[-1])
        return from_arrays(prior, state, coding, settings.first_noise, settings.plan.squares, discount_of(state))


@contextmanager
def _naming_damage(path: Path) -> Iterator[None]:
    """Raise `FileError` with the path for what arrays of a damaged file make fail."""
    try:
        yield
    except (AskgraphError, KeyError, ValueError, IndexError, TypeError) as error:
        raise FileError(f"{path}: what was computed is damaged ({error}); save it again without state") from None
