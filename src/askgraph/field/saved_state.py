"""A field as arrays and back: what was factorized, probed and solved for, so that a second start need not do it again."""

from __future__ import annotations

from typing import Any

import numpy as np

from askgraph.answers.coding import Coding
from askgraph.errors import EngineError, FileError
from askgraph.field.field import Discount, Field, Folded, Observation, label_noise, nodes_of, rows_of
from askgraph.linalg.column_stack import ColumnStack
from askgraph.priors.base import Prior
from askgraph.priors.summaries import Arrays, checked_array
from askgraph.support.later import Later
from askgraph.types import Array

PENDING = -1  # stored in place of an answer that is pending
IN_ROWS = -2  # stored in place of an answer that is no index of a class: its row is stored


def to_arrays(field: Field) -> Arrays:
    """Return the arrays of a field, the rows of this process, to save them: everything but the graph and the settings."""
    if not isinstance(field.votes, np.ndarray):
        raise EngineError(
            f"the state of the {field.prior.name} engine stays on its device: save without state, learner.save(path)"
        )
    told = [(x.node, _number_of(x.said), x.noise, x.scale) for x in field.observations]
    rows = (
        {}
        if all(number != IN_ROWS for _, number, _, _ in told)
        else {"rows": rows_of(field.coding, field.observations)}
    )
    return {
        "votes": field.votes,
        "base": field.base,
        "ample": field.fresh.value,
        "factor": field.factor.T,
        "labels": np.array(told, dtype=np.float64).reshape(len(told), 4),
        "folded": np.array(len(field.folded)),
        "noise": np.array(field.noise),
        "chosen": np.array(field.chosen),
        **rows,
        **field.spread.arrays(),
        **{f"engine_{key}": array for key, array in field.prior.arrays().items()},
    }


def from_arrays(
    origin: Prior, stored: Arrays, coding: Coding, noise: float, squares: bool, discount: Discount | None
) -> Field:
    """Return the field that ``to_arrays`` was given, with the discount it had; raise an error where arrays are damaged.

    ``noise`` is for files of earlier versions, which do not say it.
    """
    n, space = origin.space.n_rows, origin.space
    labels = checked_array(stored["labels"], (None, 4)).tolist()
    rows = checked_array(stored["rows"], (len(labels), coding.width)) if "rows" in stored else [None] * len(labels)
    told = [_observation(coding, row, *label) for row, label in zip(rows, labels, strict=True)]
    cut = int(stored["folded"])
    folded, recent = tuple(told[:cut]), tuple(told[cut:])
    if len({x.node for x in told}) < len(told) or any(not 0 <= x.node < origin.n_nodes for x in told):
        raise FileError("its labels are not those of nodes of the graph, one each")
    prior = _with_folded(origin, folded, discount)
    prior.restore({key.removeprefix("engine_"): array for key, array in stored.items() if key.startswith("engine_")})
    votes = checked_array(stored["votes"], (n, coding.width))
    ample = checked_array(stored["ample"], (n,))
    nodes, gamma = nodes_of(recent), label_noise(origin, recent, discount)
    labeled = space.put(prior.precision.pinned | (prior.precision.extra > 0), nodes, True)
    free = space.put(prior.free, nodes[gamma == 0], 0.0)
    return Field(
        origin=origin,
        prior=prior,
        base=checked_array(stored["base"], (n, None)),
        votes=votes,
        spread=prior.spread_from(stored, len(recent), squares),
        squares=squares,
        noise=float(stored.get("noise", noise)),
        fresh=Later(lambda: ample),
        stack=ColumnStack.of(checked_array(stored["factor"], (len(recent), n)).T),
        labeled=labeled,
        free=free,
        coding=coding,
        folded=Folded(folded),
        recent=recent,
        discount=discount,
        chosen=bool(stored.get("chosen", False)),
    )


def _number_of(said: Any) -> int:
    """Return the index of a class; or that the answer is pending, or in the rows."""
    return PENDING if said is None else said if isinstance(said, int) else IN_ROWS


def _observation(
    coding: Coding, row: Array | None, node: float, said: float, noise: float, scale: float
) -> Observation:
    if said == IN_ROWS and row is not None:
        return Observation(int(node), coding.answer(row), noise, scale)
    return Observation(int(node), None if said == PENDING else int(said), noise, scale)


def _with_folded(origin: Prior, folded: tuple[Observation, ...], discount: Discount | None) -> Prior:
    if not folded:
        return origin
    nodes, gamma = nodes_of(folded), label_noise(origin, folded, discount)
    rows = origin.space.rows_of(nodes)
    here = rows >= 0
    return origin.conditioned(origin.precision.folded(rows[here], gamma[here]))
