"""A learner in one npz file: the graph, the settings, everything told, and perhaps what was computed. Nothing is pickled."""

from __future__ import annotations

import json
import os
from collections.abc import Hashable
from typing import Any, NamedTuple

from askgraph.archive import as_json, from_json, load_arrays, save_arrays
from askgraph.errors import AskgraphError, FileError
from askgraph.field import Field
from askgraph.graph import Graph
from askgraph.priors import ENGINES
from askgraph.priors.base import Precision
from askgraph.settings import Settings
from askgraph.state import from_arrays, to_arrays

Path = str | os.PathLike[str]


class Saved(NamedTuple):
    """What a learner is made of."""

    graph: Graph
    settings: Settings
    seed: int
    engine: str
    declared: tuple[Hashable, ...]
    log: tuple[Any, ...]  # (kind, node, label, before)
    orders: tuple[Any, ...] = ()  # the classes before each event and after the last, where the field is there
    field: Field | None = None


def write(path: Path, saved: Saved) -> None:
    """All of it, or no file."""
    as_json(tuple(event[2] for event in saved.log), "labels")
    words = {"classes": saved.declared, "log": saved.log, "orders": saved.orders}
    how = {**saved.settings.to_json(), "seed": saved.seed, "engine": saved.engine}
    state = {} if saved.field is None else {f"state_{key}": x for key, x in to_arrays(saved.field).items()}
    text = {key: as_json(value, key) for key, value in words.items()}
    save_arrays(path, **saved.graph.arrays(), learner=json.dumps(how), **text, **state)


def read(path: Path) -> Saved:
    """What ``write`` wrote; large arrays stay in the file."""
    stored = load_arrays(path)
    if not {"learner", "classes", "log"} <= stored.keys():
        raise FileError(f"{path}: not a saved learner; write it with Learner.save")
    how = json.loads(str(stored["learner"]))
    seed, engine = how.pop("seed"), how.pop("engine")
    classes, log = (from_json(str(stored[key])) for key in ("classes", "log"))
    orders = from_json(str(stored["orders"])) if "orders" in stored else ()
    whole = Saved(Graph.stored(path, stored), Settings.from_json(how), seed, engine, classes, log, orders)
    state = {key.removeprefix("state_"): x for key, x in stored.items() if key.startswith("state_")}
    return whole._replace(field=_restored(path, whole, state)) if state else whole


def _restored(path: Path, saved: Saved, state: dict[str, Any]) -> Field:
    settings = saved.settings
    prior = ENGINES[saved.engine](Precision.of(saved.graph, settings.delta))
    prior.reason = f"{saved.engine}: as it was saved"
    try:
        return from_arrays(prior, state, settings.noise, settings.squares)
    except (AskgraphError, KeyError, ValueError, IndexError, TypeError) as error:
        raise FileError(f"{path}: what was computed is damaged ({error}); save it again without state") from None
