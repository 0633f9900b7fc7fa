"""The table of engines that every law runs over, each with the tolerance it promises."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec

import numpy as np

import askgraph as ag
from askgraph.field import Field
from askgraph.priors import Dense, Direct, Iterative, Petsc
from askgraph.priors.base import Precision, Prior
from elsewhere import Elsewhere


def here(x):
    """An array of numpy's, wherever an engine keeps it."""
    return x.get() if hasattr(x, "get") else np.asarray(x)


@dataclass(frozen=True)
class Engine:
    name: str
    make: Callable[[Precision], Prior]
    tolerance: float
    abroad: bool = False  # whether its rows are not numpy's

    def prior(self, graph: ag.Graph, delta: float) -> Prior:
        return self.make(Precision.of(graph, delta))

    def start(self, graph, delta, classes=0, **options) -> Field:
        return Field.start(self.prior(graph, delta), classes, **options)

    def __str__(self) -> str:
        return self.name


ENGINES = [
    Engine("dense", Dense, 1e-9),
    Engine("direct", Direct, 1e-9),
    Engine("iterative", partial(Iterative, sharp=1e-10), 1e-6),
    Engine("dense elsewhere", lambda precision: Elsewhere(Dense(precision)), 1e-9, True),
    *([Engine("petsc", partial(Petsc, sharp=1e-10), 1e-6)] if find_spec("petsc4py") else []),
    Engine("iterative elsewhere", lambda precision: Elsewhere(Iterative(precision, sharp=1e-10)), 1e-6, True),
]
