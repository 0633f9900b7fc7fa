"""The engine over MPI in one process: its preconditioner, what its solves and estimates promise, and what it refuses."""

from __future__ import annotations

import os
from importlib.util import find_spec

import numpy as np
import pytest

import askgraph as ag
from askgraph.field import Field
from askgraph.priors import Dense, Petsc
from askgraph.priors.precision import Precision
from askgraph.support import memory

pytestmark = [
    pytest.mark.mpi,
    pytest.mark.skipif(
        not find_spec("petsc4py") and os.environ.get("ASKGRAPH_PETSC") != "required",
        reason="no petsc4py here: make test-petsc",
    ),
]


def near(n):
    return ag.nearest_neighbors(np.random.default_rng(0).random((n, 3)), k=8)


def test_petsc_preconditioner_follows_the_graph():
    chosen = {
        name: Petsc(Precision.of(graph))._ksp.preconditioner
        for name, graph in (
            ("mixes fast", ag.power_law(2000, 8, rng=0)),
            ("mixes slowly", ag.grid(60, 60)),
            ("mixes slowly, with hubs", ag.power_law(8000, 1, rng=0)),
        )
    }
    assert list(chosen.values()) == ["jacobi", "gamg", "gamg, plain aggregates"]


def test_petsc_solves_keep_what_they_promise():
    graph = near(2000)
    prior, b = Petsc(Precision.of(graph, 1e-4)), np.random.default_rng(0).normal(size=(2000, 3))
    x = prior.solve(b)
    left = np.linalg.norm(prior.times(x) - b, axis=0) / np.linalg.norm(b, axis=0)
    assert (left <= 3e-9).all()
    assert (left > 0).all()


def test_petsc_estimates_of_norms_are_close_where_a_graph_mixes_slowly():
    """What is constant on groups is exact: with random signs alone the error would be 7 %."""
    precision = Precision.of(near(3000))
    exact, probed = Field.start(Dense(precision), 2), Field.start(Petsc(precision, probes=64), 2)
    for node in (None, 5, 77):
        if node is not None:
            exact, probed = (field.observe(node, node % 2) for field in (exact, probed))
        for now in (probed, probed.rebase() if node else probed):
            ratio = (now.spread.influence_l2 / np.maximum(exact.spread.influence_l2, 1e-30))[~exact.labeled] ** 2
            assert np.sqrt(np.mean((ratio - 1) ** 2)) < 0.03


def test_petsc_refuses_what_would_not_fit(monkeypatch):
    monkeypatch.setattr(memory, "free_bytes", lambda: 1e6)
    with pytest.raises(ag.TooLargeError, match="on one machine of the job"):
        ag.Learner(ag.grid(100, 100), engine="petsc")
