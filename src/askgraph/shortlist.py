"""Which nodes to solve for exactly before a question, where the summaries are estimates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from askgraph.field import Field
from askgraph.probes import Probed
from askgraph.progress import log
from askgraph.types import Array, IntArray
from askgraph.utilities import CRITERIA, Criterion

Score = Callable[[Field, IntArray], Array]
BLOCK = 16  # columns solved together
MOST_BLOCKS = 4  # a question
AHEAD = 64  # candidates that a look-ahead utility scores
FIRST_GUESS = 1.3  # how much better than its estimate a node may be, before any was solved for


def shortlist(field: Field, nodes: IntArray, score: Score, criterion: Criterion) -> tuple[Field, IntArray]:
    """The field sharpened at the most promising of these nodes, and those nodes."""
    if not criterion.summaries:
        return field, nodes
    if criterion.columns:
        return _for_look_ahead(field, nodes)
    for _ in range(MOST_BLOCKS):
        hopeful = _hopeful(field, nodes, score)
        if not hopeful.size:
            break
        field = field.sharpen(hopeful)
    return field, nodes[_probed(field).known[nodes]]


def _for_look_ahead(field: Field, nodes: IntArray) -> tuple[Field, IntArray]:
    """The top candidates by total variation, which needs no columns."""
    tv = CRITERIA["tv"]
    scores = tv.score(field, nodes, 0.0, "printed", "mean")
    top = np.sort(nodes[np.argsort(-scores, kind="stable")[:AHEAD]])
    log.info("look-ahead on the %s engine scores the top %d of %d nodes by tv", field.prior.name, top.size, nodes.size)
    return field.sharpen(top), top


def _hopeful(field: Field, nodes: IntArray, score: Score) -> IntArray:
    """The next block of nodes whose estimate, allowing for how wrong estimates have been, beats the best exact score."""
    known = _probed(field).known[nodes]
    scores = score(field, nodes)
    order = np.argsort(-scores[~known], kind="stable")[:BLOCK]
    unknown: IntArray = nodes[~known][order]
    promise = scores[~known][order]
    if not known.any():
        return unknown
    hopeful: IntArray = unknown[promise * _allowance(field, nodes[known], scores[known], score) > scores[known].max()]
    return hopeful


def _allowance(field: Field, known: IntArray, exact: Array, score: Score) -> float:
    """One plus two standard deviations of exact over estimated score, over the nodes solved for so far.

    Not their mean: these nodes were chosen for high estimates, so it is below 1, and those still unknown were not.
    """
    if known.size < BLOCK:
        return FIRST_GUESS
    guess = score(replace(field, spread=_probed(field).estimated()), known)
    ratio = exact / np.maximum(guess, np.finfo(float).tiny)
    return float(1 + 2 * ratio.std())


def _probed(field: Field) -> Probed:
    """The field's summaries: an engine that is not exact everywhere estimates them by probes."""
    assert isinstance(field.spread, Probed)
    return field.spread
