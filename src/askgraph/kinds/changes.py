"""What an answer would change: predictions of other nodes, or how sure they are."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from askgraph.answers import coding
from askgraph.field import Field
from askgraph.readouts import Readout
from askgraph.types import Array, IntArray

LARGE = 1_000_000  # numbers in a readout from which only the likely answers are tried:
LIKELY, TRIED = 0.95, 5  # as many as make up this probability, and at most this number
NARROWER = 0.1  # the share of a range by which it must become narrower to count

Decide = Callable[[Array], IntArray]


def expected_changes(
    field: Field, readout: Readout, node: int, after: Field | None = None, decide: Decide = coding.decide
) -> float:
    r"""Return how many other predictions the node's answer changes, :math:`\sum_c p_c\, \#\{j \ne i : \hat y_j \text{ changes}\}`.

    On large graphs the mean is over the likeliest answers only, 95% of the probability or five answers. ``after`` is
    ``field.awaiting(node)`` where that is known already.
    """
    if field.coding.width == 0 or field.space.pick(field.labeled, node):
        return 0.0
    after = after or field.awaiting(node)
    p = readout(field)
    now, own = decide(p), field.space.pick(p, node)
    answers = _likeliest(own) if p.size > LARGE else np.arange(own.size)
    if after.worn:
        after = field.rebase().awaiting(node)  # once, rather than with every answer
    changed = [_changed(after.answered(int(c)), readout, node, now, decide) for c in answers]
    return float(own[answers] @ np.array(changed) / own[answers].sum())


def _likeliest(p: Array) -> IntArray:
    answers = np.argsort(-p, kind="stable")
    return answers[: min(TRIED, int(np.searchsorted(np.cumsum(p[answers]), LIKELY)) + 1)]


def _changed(field: Field, readout: Readout, node: int, before: IntArray, decide: Decide) -> int:
    differs = decide(readout(field)) != before
    return int(field.space.total(differs & ~field.space.unit(node)))


def narrowed(field: Field, node: int, after: Field | None = None) -> float:
    """Return at how many other nodes without an answer the range of a number becomes narrower by a tenth or more.

    How wide ranges are depends on where answers are, not on what they are.
    """
    if field.space.pick(field.labeled, node):
        return 0.0
    after = after or field.awaiting(node)
    noise = field.noise**2 + field.origin.noise**2
    left = (after.spread.variance + noise) / (field.spread.variance + noise)
    return float(field.space.total((left <= (1 - NARROWER) ** 2) & ~after.labeled))
