"""Compile the loops that many tests use, before several processes would compile each of them at the same time.

``python -m tests.helpers.compiled`` leaves them in numba's cache, where every process finds them. A loop that is missing here is
compiled by the test that needs it.
"""

from __future__ import annotations

import gc
import importlib

import numpy as np
import pytest
from scipy.sparse import csr_array, diags_array, random_array

import askgraph as ag
from askgraph.graph import neighbors
from askgraph.layout import layout
from askgraph.layout.multilevel import ALL_PAIRS_UP_TO
from askgraph.linalg import blocked_cg, cg
from askgraph.linalg.cg import SMALL
from askgraph.linalg.factor import PLAIN_UP_TO
from askgraph.utilities.lookahead import COMPILE_FROM

PARSERS = ("edge_parser", "name_parser")  # compiled when they are imported


def compile_parsers():
    for name in PARSERS:
        importlib.import_module(f"askgraph.io.{name}")


def compile_engines():
    """Ask on graphs that are just large enough for compiled loops; msd needs the squares of the covariance, tv does not."""
    for engine, nodes in (("direct", PLAIN_UP_TO), ("iterative", SMALL)):
        for utility in ("tv", "msd"):
            _asked(ag.grid(nodes // 20 + 1, 20), utility, engine=engine)


def compile_samplers():
    """Ask by the samplers that look ahead."""
    side = int(COMPILE_FROM**0.25) + 1
    for utility in ("fl", "kl", "eer", "tsa"):
        _asked(ag.grid(side, side), utility)


def compile_texts():
    """Search sparse rows by their heaviest entries, as among many texts."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(neighbors, "SPARSE_UP_TO", 50)
        ag.nearest_neighbors(random_array((100, 40), density=0.2, rng=0, format="csr"), 3, "cosine")


def compile_large_solves():
    """Solve as on large graphs: rows shared among threads, and wide blocks."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cg, "PLAIN_UP_TO", 0)
        patch.setattr(blocked_cg, "SPLIT_FROM", 0)
        patch.setattr(blocked_cg, "WIDE_FROM", 0)
        solver = cg.Solver(_chain(3000))
        for count in (1, 5, 40):
            solver.rough(np.ones((3000, count)), 1e-4)
        for count in (1, 8):
            solver.solve(np.ones((3000, count)))
        solver.diagonal(np.arange(40), 1e-3)


def _chain(n):
    """The precision of a chain."""
    return csr_array(diags_array([-1.0, 2.01, -1.0], offsets=[-1, 0, 1], shape=(n, n)))


def _asked(graph, utility, **options):
    learner = ag.Learner(graph, utility, rng=0, first="utility", **options)
    for label in ("a", "b"):
        learner.tell(learner.ask(), label)
    learner.predict()


if __name__ == "__main__":
    gc.disable()  # what compiling leaves behind is 0.4 GB; looking for it takes a tenth of the time
    compile_parsers()
    compile_engines()
    compile_samplers()
    compile_texts()
    compile_large_solves()
    layout(ag.grid(ALL_PAIRS_UP_TO // 20 + 1, 20))
