"""Compile the loops that many tests use, before several processes would compile each of them at the same time.

``python -m tests.helpers.compiled`` leaves them in numba's cache, where every process finds them. A loop that is missing here is
compiled by the test that needs it.
"""

from __future__ import annotations

import importlib

import askgraph as ag
from askgraph.layout import layout
from askgraph.layout.multilevel import ALL_PAIRS_UP_TO
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


def _asked(graph, utility, **options):
    learner = ag.Learner(graph, utility, rng=0, first="utility", **options)
    for label in ("a", "b"):
        learner.tell(learner.ask(), label)
    learner.predict()


if __name__ == "__main__":
    compile_parsers()
    compile_engines()
    compile_samplers()
    layout(ag.grid(ALL_PAIRS_UP_TO // 20 + 1, 20))
