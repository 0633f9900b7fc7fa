"""A learner in one npz file: its graphs, the settings, everything told, and perhaps what was computed. Nothing is pickled."""

from __future__ import annotations

import json
import os
from collections.abc import Hashable
from dataclasses import asdict
from typing import Any, NamedTuple

from askgraph.errors import AskgraphError, FileError
from askgraph.field import Field
from askgraph.field.saved_state import from_arrays, to_arrays
from askgraph.graph import Graph
from askgraph.learner.features import Features
from askgraph.learner.settings import Settings
from askgraph.learner.tuning import ALONE, Choice, alternatives
from askgraph.priors import ENGINES
from askgraph.priors.precision import Precision
from askgraph.support.npz import as_json, from_json, load_arrays, save_arrays

Path = str | os.PathLike[str]


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
    suggestions: tuple[Any, ...] = ()  # (source, ((node, label, score), ...)) per source
    features: Features | None = None


def write(path: Path, saved: Saved, writes: bool = True) -> None:
    """Write the whole file or none of it; without ``writes``, only take part in gathering what other processes write."""
    as_json(tuple(event[2] for event in saved.log), "labels")
    words = {"classes": saved.declared, "log": saved.log, "orders": saved.orders, "graphs": tuple(saved.graphs)}
    if saved.suggestions:  # a file without them is as before
        words["suggestions"] = saved.suggestions
    how = {**saved.settings.to_json(), "seed": saved.seed, "engine": saved.engine}
    part = {} if saved.features is None else _feature_arrays(saved.features)
    state = {} if saved.field is None else _state(saved.field, saved.choice)
    text = {key: as_json(value, key) for key, value in words.items()}
    graphs = _graph_arrays(saved.graphs)
    if writes:
        save_arrays(path, **graphs, learner=json.dumps(how), **part, **text, **state)


def _graph_arrays(graphs: dict[str, Graph]) -> dict[str, Any]:
    """Return the arrays of the first graph as of any saved graph, those of the others with their place before each name."""
    first, *others = (graph.arrays() for graph in graphs.values())
    return {**first, **{f"{at}_{key}": x for at, part in enumerate(others, 1) for key, x in part.items()}}


def _state(field: Field, choice: Choice | None) -> dict[str, Any]:
    made = {"in_use": field.prior.name, "choice": choice and asdict(choice), "scale": field.origin.scale}
    return {"state": json.dumps(made), **{f"state_{key}": x for key, x in to_arrays(field).items()}}


def read(path: Path) -> Saved:
    """Read what ``write`` wrote; large arrays stay in the file."""
    stored = load_arrays(path)
    if not {"learner", "classes", "log"} <= stored.keys():
        raise FileError(f"{path}: not a saved learner; write it with Learner.save")
    how = json.loads(str(stored["learner"]))
    seed, engine = how.pop("seed"), how.pop("engine")
    classes, log = (from_json(str(stored[key])) for key in ("classes", "log"))
    orders = from_json(str(stored["orders"])) if "orders" in stored else ()
    suggested = from_json(str(stored["suggestions"])) if "suggestions" in stored else ()
    features = _features(path, stored) if "features" in stored else None
    settings, graphs = Settings.from_json(how), _graphs(path, stored)
    whole = Saved(graphs, settings, seed, engine, classes, log, orders, suggestions=suggested, features=features)
    arrays = {key.removeprefix("state_"): x for key, x in stored.items() if key.startswith("state_")}
    if not arrays:
        return whole
    made = json.loads(str(stored["state"])) if "state" in stored else {"in_use": engine, "choice": None}
    choice = made["choice"] and Choice(**made["choice"])
    field = _restored(path, whole, made["in_use"], choice, arrays, made.get("scale"))
    return whole._replace(field=field, choice=choice)


def _feature_arrays(features: Features) -> dict[str, Any]:
    given = {} if features.given is None else {f"given_{key}": x for key, x in features.given.arrays().items()}
    return {"features": features.columns, "from_start": features.from_start, **given}


def _features(path: Path, stored: dict[str, Any]) -> Features:
    given = {key.removeprefix("given_"): x for key, x in stored.items() if key.startswith("given_")}
    return Features(stored["features"], bool(stored["from_start"]), Graph.stored(path, given) if given else None)


def _graphs(path: Path, stored: dict[str, Any]) -> dict[str, Graph]:
    names = from_json(str(stored["graphs"])) if "graphs" in stored else (ALONE,)
    parts = [stored] + [
        {key.removeprefix(f"{at}_"): x for key, x in stored.items() if key.startswith(f"{at}_")}
        for at in range(1, len(names))
    ]
    return {name: Graph.stored(path, part) for name, part in zip(names, parts, strict=True)}


def _restored(
    path: Path, saved: Saved, engine: str, choice: Choice | None, state: dict[str, Any], scale: float | None
) -> Field:
    settings, every = saved.settings, alternatives(saved.graphs, saved.settings, saved.features)
    graph, delta, features = every[choice.name if choice else next(iter(every))]
    prior = ENGINES[engine](Precision.of(graph, delta))
    prior.reason = f"{engine}: as it was saved"
    prior = prior if features is None else features.added(prior, scale)
    try:
        return from_arrays(prior, state, settings.noise, settings.squares)
    except (AskgraphError, KeyError, ValueError, IndexError, TypeError) as error:
        raise FileError(f"{path}: what was computed is damaged ({error}); save it again without state") from None
