"""A field as arrays and back: what was factorized, probed and solved for, so that a second start need not do it again."""

from __future__ import annotations

import numpy as np

from askgraph.errors import EngineError, FileError
from askgraph.field.field import Field, Folded, Label, label_noise
from askgraph.linalg.column_stack import ColumnStack
from askgraph.priors.base import Prior
from askgraph.priors.summaries import Arrays, checked_array
from askgraph.support.later import Later


def to_arrays(field: Field) -> Arrays:
    """Return the arrays of a field, the rows of this process, to save them: everything but the graph and the settings."""
    if not isinstance(field.votes, np.ndarray):
        raise EngineError(
            f"the state of the {field.prior.name} engine stays on its device: save without state, learner.save(path)"
        )
    labels = [(x.node, x.label, x.noise, x.scale) for x in field.labels]
    return {
        "votes": field.votes,
        "base": field.base,
        "ample": field.ample,
        "factor": field.factor.T,
        "labels": np.array(labels, dtype=np.float64).reshape(len(labels), 4),
        "folded": np.array(len(field.folded)),
        "hub_power": np.array(field.hub_power),
        **field.spread.arrays(),
        **{f"engine_{key}": array for key, array in field.prior.arrays().items()},
    }


def from_arrays(origin: Prior, stored: Arrays, noise: float, squares: bool) -> Field:
    """Return the field that ``to_arrays`` was given; raise an error where arrays are damaged."""
    n, space = origin.space.n_rows, origin.space
    labels = [Label(int(a), int(b), float(c), float(d)) for a, b, c, d in checked_array(stored["labels"], (None, 4))]
    cut = int(stored["folded"])
    folded, recent = tuple(labels[:cut]), tuple(labels[cut:])
    if len({x.node for x in labels}) < len(labels) or any(not 0 <= x.node < origin.n_nodes for x in labels):
        raise FileError("its labels are not those of nodes of the graph, one each")
    power = float(stored.get("hub_power", np.zeros(())))  # files of earlier versions have none
    prior = _with_folded(origin, folded, power)
    prior.restore({key.removeprefix("engine_"): array for key, array in stored.items() if key.startswith("engine_")})
    ample = checked_array(stored["ample"], (n,))
    nodes, gamma = np.array([x.node for x in recent], dtype=np.int64), label_noise(origin, recent, power)
    labeled = space.put(prior.precision.pinned | (prior.precision.extra > 0), nodes, True)
    free = space.put(prior.free, nodes[gamma == 0], 0.0)
    return Field(
        origin=origin,
        prior=prior,
        base=checked_array(stored["base"], (n, None)),
        votes=checked_array(stored["votes"], (n, None)),
        spread=prior.spread_from(stored, len(recent), squares),
        squares=squares,
        noise=noise,
        fresh=Later(lambda: ample),
        stack=ColumnStack.of(checked_array(stored["factor"], (len(recent), n)).T),
        labeled=labeled,
        free=free,
        folded=Folded(folded),
        recent=recent,
        hub_power=power,
    )


def _with_folded(origin: Prior, folded: tuple[Label, ...], power: float) -> Prior:
    if not folded:
        return origin
    nodes, gamma = np.array([x.node for x in folded]), label_noise(origin, folded, power)
    rows = origin.space.rows_of(nodes)
    here = rows >= 0
    return origin.conditioned(origin.precision.folded(rows[here], gamma[here]))
