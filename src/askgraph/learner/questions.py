"""Which nodes to ask for, given the field."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from askgraph.field import Field
from askgraph.learner.hubs import ordinary, turn_of_others
from askgraph.learner.settings import Settings
from askgraph.learner.waiting import ready
from askgraph.types import Array, IntArray
from askgraph.utilities.shortlist import EXACT_UP_TO, shortlist


def candidates(field: Field, aside: Collection[int]) -> IntArray:
    """Return the rows of unlabeled nodes that were not set aside."""
    return np.flatnonzero(field.space.put(~field.labeled, np.array(list(aside), dtype=np.int64), False))


def finished(field: Field, aside: Collection[int]) -> str | None:
    """Return a sentence that says why there is nothing to ask; None while there is."""
    if field.space.count(candidates(field, aside)):
        return None
    return f"finished: all unlabeled nodes ({len(aside)}) are set aside" if aside else "finished: every node is labeled"


def questions(
    field: Field, settings: Settings, aside: Collection[int], n: int, seed: tuple[int, int]
) -> tuple[Field, list[int]]:
    """Return up to n nodes to ask for together (8), and the field with what was solved for the first of them.

    The seed is the learner's seed and the number of nodes labeled or set aside: asking twice gives the same question.
    """
    known, chosen = field, list[int]()
    while len(chosen) < n and field.space.count(rows := candidates(field, aside)):
        node, sharper = _one(field, settings, rows, (seed[0], seed[1] + len(chosen)))
        known = known if chosen else sharper
        chosen.append(node)
        if n > 1 and settings.batch == "local" and _scored(field, settings):
            return known, list(dict.fromkeys([node, *_local_maxima(known, settings, rows, n)]))[:n]
        if len(chosen) < n:
            field = sharper.await_answer(node)
    return known, chosen


def alternatives(field: Field, settings: Settings, aside: Collection[int], n: int, seed: tuple[int, int]) -> list[int]:
    """Return up to n nodes to ask for at the same time, by one pass over the scores as they are known."""
    rows, prior = candidates(field, aside), field.prior
    if _scored(field, settings):
        return _local_maxima(field, settings, rows, n)
    rows = rows if settings.passive else _ready(field, settings, rows)
    drawn = np.random.default_rng(seed).permutation(np.sort(prior.space.allgather(prior.space.nodes_of(rows))))[:n]
    return [int(node) for node in drawn]


def scores(
    field: Field, settings: Settings, aside: Collection[int], nodes: IntArray | None = None
) -> tuple[Field, Array]:
    """Return the score of every node, or of some, NaN where a node is no candidate; and the field with what was solved for them."""
    space, rows = field.space, candidates(field, aside)
    if nodes is not None:
        rows = rows[space.put(space.zeros(dtype=bool), nodes, True)[rows]]
    reads = settings.criterion.summaries and not settings.passive
    if reads and not field.prior.exact and (nodes is not None or space.count(rows) <= EXACT_UP_TO):
        field = field.sharpen(space.allgather(space.nodes_of(rows)))
    found = space.zeros() + np.nan
    if space.count(rows):
        found[rows] = 0.0 if settings.passive else settings.score(field, rows)
    every = space.gather(found)
    return field, every if nodes is None else every[nodes]


def _ready(field: Field, settings: Settings, rows: IntArray) -> IntArray:
    """Return the rows that need not wait, hubs left out where the settings say so."""
    rows = rows if settings.small_components == "ask" else ready(field, rows)
    rule = settings.about_hubs
    return ordinary(field, rows) if rule == "skip" or (rule == "discount" and turn_of_others(field)) else rows


def _scored(field: Field, settings: Settings) -> bool:
    """Return whether questions are chosen by their scores."""
    return not settings.passive and bool(field.observations or settings.first == "utility")


def _one(field: Field, settings: Settings, rows: IntArray, seed: tuple[int, int]) -> tuple[int, Field]:
    rng = np.random.default_rng(seed)
    if rng.random() < settings.explores(field.held) or settings.passive or settings.checks(seed[1]):
        return field.space.draw(rows, rng), field  # (32)
    rows = _ready(field, settings, rows)
    if not _scored(field, settings):
        return field.space.draw(rows, rng), field
    if not field.prior.exact:
        field, rows = shortlist(field, rows, settings.score, settings.criterion, settings.ahead)
    return field.space.best(rows, settings.score(field, rows), rng, field.prior.tie), field


def _local_maxima(field: Field, settings: Settings, rows: IntArray, n: int) -> list[int]:
    """Return the best n of the nodes that no neighbor beats (LocalMax), then the best of the others."""
    rows = _ready(field, settings, rows)
    scores = field.space.zeros() - np.inf
    scores[rows] = settings.score(field, rows)
    peak = (scores >= field.origin.highest_neighbor(scores))[rows]
    parts = [field.space.top(some, scores[some], n) for some in (rows[peak], rows[~peak])]
    return [int(node) for node in np.concatenate(parts)[:n]]
