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
COLUMNS, MORE = 8, 16  # solved for before a question, at most; where ‖g‖₂ counts, whose estimates err more
EXACT_UP_TO = 1_500  # nodes: all are solved for, once
SPREAD = 1.5
FIRST_GUESS = 0.3  # the share by which a node may be better than its estimate, before any was solved for


def shortlist(field: Field, nodes: IntArray, score: Score, criterion: Criterion, ahead: int) -> tuple[Field, IntArray]:
    """The field sharpened at the most promising of these nodes, and the nodes whose scores are exact."""
    if not criterion.summaries:
        return field, nodes
    if criterion.columns:
        return _for_look_ahead(field, nodes, ahead)
    if nodes.size <= EXACT_UP_TO:
        return field.sharpen(nodes), nodes
    scores, known = score(field, nodes), _probed(field).known[nodes]
    best, slack = scores[known].max(initial=-np.inf), _slack(field, nodes[known], scores[known], score)
    promising = np.flatnonzero(~known & (scores + slack * np.abs(scores) > best))
    promising = promising[_top(scores[promising], MORE if criterion.squares else COLUMNS)]
    known[promising] = True
    return field.sharpen(np.sort(nodes[promising])), nodes[known]


def _top(scores: Array, count: int) -> IntArray:
    """The places of the highest scores, best first, ties in order."""
    some = np.arange(scores.size) if scores.size <= count else np.argpartition(-scores, count)[:count]
    some.sort()
    return np.asarray(some[np.argsort(-scores[some], kind="stable")])


def _for_look_ahead(field: Field, nodes: IntArray, ahead: int) -> tuple[Field, IntArray]:
    """The top candidates by total variation, which needs no columns."""
    scores = CRITERIA["tv"].score(field, nodes, 0.0, "printed", "mean")
    top = np.sort(nodes[_top(scores, ahead)])
    log.info("look-ahead on the %s engine scores the top %d of %d nodes by tv", field.prior.name, top.size, nodes.size)
    return field.sharpen(top), top


def _slack(field: Field, known: IntArray, exact: Array, score: Score) -> float:
    """The share by which an unknown node may be better than its estimate: some standard deviations of what known ones were.

    Their mean would be below 0, since they were chosen for high estimates; the unknown ones were not.
    """
    if known.size < COLUMNS:
        return FIRST_GUESS
    guess = score(replace(field, spread=_probed(field).estimated()), known)
    off = (exact - guess) / np.maximum(np.abs(guess), np.finfo(float).tiny)
    return float(SPREAD * off.std())


def _probed(field: Field) -> Probed:
    """The field's summaries: an engine that is not exact everywhere estimates them by probes."""
    assert isinstance(field.spread, Probed)
    return field.spread
