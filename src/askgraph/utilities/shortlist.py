"""Which nodes to solve for exactly before a question, where the summaries are estimates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from askgraph.field import Field
from askgraph.support.progress import log
from askgraph.types import Array, IntArray
from askgraph.utilities import CRITERIA, Criterion

Score = Callable[[Field, IntArray], Array]
COLUMNS, MORE = 8, 16  # most candidates solved for per question; MORE where ‖g‖₂ is read, whose estimates are noisier
EXACT_UP_TO = 1_500  # nodes without a label; up to this number all candidates are solved for, once
SPREAD = 1.5  # standard deviations by which a score may be above its estimate for the node to be solved for
FIRST_GUESS = 0.3  # relative; the same before COLUMNS nodes were solved for


def shortlist(field: Field, rows: IntArray, score: Score, criterion: Criterion, ahead: int) -> tuple[Field, IntArray]:
    """Return the field sharpened at the most promising of these rows, and the rows whose scores are exact."""
    prior = field.prior
    if not criterion.summaries:
        return field, rows
    if criterion.columns:
        return _for_look_ahead(field, rows, ahead)
    if prior.space.count(np.flatnonzero(~field.labeled)) <= EXACT_UP_TO:
        return field.sharpen(prior.space.allgather(prior.space.nodes_of(rows))), rows
    scores, known = score(field, rows), _probed(field).known[rows]
    best, slack = prior.space.highest(scores[known]), _slack(field, rows[known], scores[known], score)
    promising = ~known & (scores + slack * abs(scores) > best)
    top = prior.space.top(rows[promising], scores[promising], MORE if criterion.squares else COLUMNS)
    sharper = field.sharpen(np.sort(top))
    return sharper, rows[_probed(sharper).known[rows]]


def _for_look_ahead(field: Field, rows: IntArray, ahead: int) -> tuple[Field, IntArray]:
    """Return the top candidates by total variation, which needs no columns."""
    prior, scores = field.prior, CRITERIA["tv"].score(field, rows, 0.0, "printed", "mean")
    top = np.sort(prior.space.top(rows, scores, ahead))
    log.info(
        "look-ahead on the %s engine scores the top %d of %d nodes by tv", prior.name, top.size, prior.space.count(rows)
    )
    return field.sharpen(top), np.flatnonzero(prior.space.put(prior.space.zeros(dtype=bool), top, True))


def _slack(field: Field, known: IntArray, exact: Array, score: Score) -> float:
    """Return the share by which the score of a node may be above its estimate, by how far estimates were off so far.

    The mean error is left out: it is below 0, since the known nodes were chosen for high estimates; the others were not.
    """
    if field.space.count(known) < COLUMNS:
        return FIRST_GUESS
    guess = score(replace(field, spread=_probed(field).estimated()), known)
    off = field.space.allgather((exact - guess) / np.maximum(abs(guess), np.finfo(float).tiny))
    return float(SPREAD * off.std())


def _probed(field: Field) -> Any:
    """Return the field's summaries: an engine that is not exact everywhere estimates them by probes."""
    return field.spread
