"""Names of a field that changed, as they were: what is read of a field is a `View` of the readouts, which stand above it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from askgraph.answers.coding import chances, means
from askgraph.support.moved import Instead
from askgraph.types import Array


def _counts(field: Any) -> Array:
    return np.asarray(field.coding.totals([x.said for x in field.known]))


def _unlabeled(field: Any, over: Callable[[Array], Any]) -> Array:
    return np.asarray(over(np.maximum(field.votes, 0.0) * ~field.labeled[:, None]))


def _certain(field: Any) -> Array:
    nodes = np.array([x.node for x in field.known if x.exact], dtype=np.int64)
    return np.asarray(field.space.put(field.space.zeros(dtype=bool), nodes, True))


def _certain_votes(field: Any, classes: Sequence[int] | None = None) -> Array:
    exact = [x for x in field.known if x.exact]
    nodes, told = np.array([x.node for x in exact], dtype=np.int64), field.coding.rows([x.said for x in exact])
    votes = np.asarray(field.space.put(np.clip(field.votes, 0.0, 1.0), nodes, told))
    return votes if classes is None else votes[:, list(classes)]


def _elsewhere(new: str, read: Callable[[Any], Any]) -> Instead:
    return Instead(new, read, elsewhere=True)


OLD_NAMES: dict[str, str | Instead] = {
    "ample": "fresh.value",
    "certain": _elsewhere("View.of(field).exact, of askgraph.readouts,", _certain),
    "certain_votes": _elsewhere(
        "View.of(field).standing, of askgraph.readouts,", lambda field: partial(_certain_votes, field)
    ),
    "clipped_votes": _elsewhere("np.maximum(field.votes, 0)", lambda field: np.maximum(field.votes, 0.0)),
    "counts": _elsewhere("View.of(field).counts, of askgraph.readouts,", _counts),
    "highest": _elsewhere(
        "View.of(field).masses[1], of askgraph.readouts,", lambda field: _unlabeled(field, field.space.highest)
    ),
    "mass": _elsewhere(
        "View.of(field).masses[0], of askgraph.readouts,", lambda field: _unlabeled(field, field.space.total)
    ),
    "mean": _elsewhere("means(field.votes), of askgraph.answers.coding,", lambda field: means(field.votes)),
    "probabilities": _elsewhere(
        "Map()(field)", lambda field: lambda: chances(field.votes) if field.coding.width else field.votes
    ),
}
