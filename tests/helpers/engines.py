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
from askgraph.priors.base import Prior
from askgraph.priors.precision import Precision
from tests.helpers.elsewhere import Elsewhere
from tests.helpers.shuffled import Shuffled


def here(x):
    """An array of numpy's, wherever an engine keeps it."""
    return x.get() if hasattr(x, "get") else np.asarray(x)


def close(a, b, tolerance):
    """Raise AssertionError unless two arrays agree to a tolerance relative to the largest entry of the second."""
    a, b = here(a), here(b)
    np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance * max(1.0, np.abs(b).max(initial=0)))


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


def gpu_missing() -> str | None:
    """Return why there is no GPU here, or None where there is one."""
    from askgraph.linalg.cuda.runtime import cupy

    try:
        cupy()
    except (ag.EngineError, ag.MissingExtraError) as error:
        if os.environ.get("ASKGRAPH_GPU") == "required":
            raise
        return f"no GPU here: {str(error).partition(': ')[0]}"
    return None


def _on_gpu():
    """Return the engines of a GPU, skipped where there is none."""
    if reason := gpu_missing():
        marks = [pytest.mark.gpu, pytest.mark.skip(reason=reason)]
        return [pytest.param(Engine(name, None, 0.0), marks=marks) for name in ("gpu-dense", "gpu-sparse")]
    from askgraph.priors.gpu import GpuDense, GpuSparse

    made = [
        Engine("gpu-dense", GpuDense, 1e-9),
        Engine("gpu-sparse", partial(GpuSparse, sharp=1e-10), 1e-6),
    ]
    return [pytest.param(engine, marks=pytest.mark.gpu) for engine in made]


def _sparse(make: Callable[[Precision], Prior], *dense: str) -> Callable[[Precision], Prior]:
    """Return a maker of an engine that takes no graph for so small that another way is the quickest."""

    def made(precision: Precision) -> Prior:
        with pytest.MonkeyPatch.context() as patch:
            for limit in dense:
                patch.setattr(limit, 0)
            prior = make(precision)
            prior.prepare()
        return prior

    return made


def _over_ranks(name: str, *small: str):
    """Return the engine of PETSc, skipped where it is not installed; tests/end_to_end/test_petsc.py runs it on several ranks."""
    if find_spec("petsc4py") or os.environ.get("ASKGRAPH_PETSC") == "required":
        make = _sparse(partial(Petsc, sharp=1e-10), *small)
        return pytest.param(Engine(name, make, 1e-6, whole=False), marks=pytest.mark.mpi)
    marks = [pytest.mark.mpi, pytest.mark.skip(reason="no petsc4py here: make test-petsc")]
    return pytest.param(Engine(name, None, 0.0), marks=marks)


ENGINES = [
    Engine("dense", Dense, 1e-9),
    Engine("direct", Direct, 1e-9),
    Engine("iterative", partial(Iterative, sharp=1e-10), 1e-6),
]
SPARSE = [  # the same engines, which take a dense matrix for a small graph otherwise
    pytest.param(Engine(name, make, tolerance), marks=pytest.mark.slow)
    for name, make, tolerance in (
        ("direct, sparse", _sparse(Direct, "askgraph.linalg.factor.DENSE_UP_TO"), 1e-9),
        ("iterative, sparse", _sparse(partial(Iterative, sharp=1e-10), "askgraph.linalg.cg.SMALL"), 1e-6),
    )
]
PETSC = _over_ranks("petsc")
PETSC_BLOCKS = _over_ranks(
    "petsc, blocks", "askgraph.priors.petsc.BLOCKS_FROM"
)  # which solves for columns one by one otherwise
ABROAD = [  # rows are not numpy's, or not all of them
    Engine("dense elsewhere", lambda precision: Elsewhere(Dense(precision)), 1e-9),
    pytest.param(
        Engine("iterative elsewhere", lambda precision: Elsewhere(Iterative(precision, sharp=1e-10)), 1e-6),
        marks=pytest.mark.slow,
    ),
    *_on_gpu(),
    PETSC,
]
SHUFFLED = Engine("dense shuffled", Shuffled, 1e-9)  # rows are not node numbers
