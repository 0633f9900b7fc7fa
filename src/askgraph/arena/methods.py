"""Methods that come with askgraph: its learner, and random questions read in the same way."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

from askgraph.graph import Graph
from askgraph.graph.build import nearest_neighbors
from askgraph.learner import Learner


def learner(graph: Graph | None, features: Any, classes: Sequence[Hashable], seed: int) -> Learner:
    """Return a learner as it is by default; rows without a graph are joined to their nearest neighbors."""
    return _made(graph, features, classes, seed)


def at_random(graph: Graph | None, features: Any, classes: Sequence[Hashable], seed: int) -> Learner:
    """Return a learner that asks at random."""
    return _made(graph, features, classes, seed, sampler="random")


def _made(
    graph: Graph | None, features: Any, classes: Sequence[Hashable], seed: int, sampler: str = "influence"
) -> Learner:
    if graph is None:
        return Learner(nearest_neighbors(features, 10), sampler, classes=classes, rng=seed)
    return Learner(graph, sampler, features=features, classes=classes, rng=seed)
