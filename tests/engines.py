"""The table of engines that every law runs over, each with the tolerance it promises."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec

import numpy as np
import pytest

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
    whole: bool = True  # all of the graph is at hand

    def prior(self, graph: ag.Graph, delta: float) -> Prior:
        return self.make(Precision.of(graph, delta))

    def start(self, graph, delta, classes=0, **options) -> Field:
        return Field.start(self.prior(graph, delta), classes, **options)

    def __str__(self) -> str:
        return self.name


def _on_gpu():
    """The engines of a GPU, where there is one."""
    from askgraph.priors.device import cupy

    try:
        cupy()
    except (ag.EngineError, ag.MissingExtraError) as error:
        if os.environ.get("ASKGRAPH_GPU") == "required":
            raise
        skip = pytest.mark.skip(reason=f"no GPU here: {str(error).partition(': ')[0]}")
        return [pytest.param(Engine(name, None, 0.0), marks=skip) for name in ("gpu-dense", "gpu-sparse")]
    from askgraph.priors.gpu import GpuDense, GpuSparse

    return [
        Engine("gpu-dense", GpuDense, 1e-9),
        Engine("gpu-sparse", partial(GpuSparse, sharp=1e-10), 1e-6),
    ]


def _over_ranks():
    """The engine of PETSc, where it is installed; other numbers of ranks than one are for tests/test_petsc.py."""
    if find_spec("petsc4py") or os.environ.get("ASKGRAPH_PETSC") == "required":
        return Engine("petsc", partial(Petsc, sharp=1e-10), 1e-6, whole=False)
    return pytest.param(Engine("petsc", None, 0.0), marks=pytest.mark.skip(reason="no petsc4py here: make test-petsc"))


ENGINES = [
    Engine("dense", Dense, 1e-9),
    Engine("direct", Direct, 1e-9),
    Engine("iterative", partial(Iterative, sharp=1e-10), 1e-6),
]
PETSC = _over_ranks()
ABROAD = [  # rows are not numpy's, or not all of them
    Engine("dense elsewhere", lambda precision: Elsewhere(Dense(precision)), 1e-9),
    Engine("iterative elsewhere", lambda precision: Elsewhere(Iterative(precision, sharp=1e-10)), 1e-6),
    *_on_gpu(),
    PETSC,
]
