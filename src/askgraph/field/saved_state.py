"""A field as arrays and back: what was factorised, probed and solved for, so that a second start need not do it again."""

from __future__ import annotations

from typing import Any

import numpy as np

from askgraph.errors import EngineError, FileError
from askgraph.field.field import Field, Label
from askgraph.linalg.column_stack import ColumnStack
from askgraph.linalg.factor import Factor
from askgraph.priors.base import Prior
from askgraph.priors.direct import Direct
from askgraph.priors.noise.host import Field as FieldNoise
from askgraph.priors.noise.host import Flat, SteppedFlat, Steps
from askgraph.priors.probed import Noise, Probed, Samples
from askgraph.priors.summaries import Exact, Spread
from askgraph.types import AnyArray

Arrays = dict[str, AnyArray]


def to_arrays(field: Field) -> Arrays:
    """Everything but the graph and the settings."""
    if not isinstance(field.votes, np.ndarray) or field.prior.n_rows < field.prior.n_nodes:
        raise EngineError(f"the {field.prior.name} engine's state stays with it: save without state")
    labels = [(x.node, x.label, x.noise, x.scale) for x in field.labels]
    return {
        "votes": field.votes,
        "base": field.base,
        "ample": field.ample,
        "factor": field.factor.T,
        "labels": np.array(labels, dtype=np.float64).reshape(len(labels), 4),
        "folded": np.array(len(field.folded)),
        **_spread_arrays(field.spread),
        **{f"engine_{key}": array for key, array in _engine_arrays(field.prior).items()},
    }


def from_arrays(origin: Prior, stored: Arrays, noise: float, squares: bool) -> Field:
    """The field that ``to_arrays`` was given; whatever is not as it should be raises."""
    n = origin.n_nodes
    labels = [Label(int(a), int(b), float(c), float(d)) for a, b, c, d in _shaped(stored["labels"], (None, 4))]
    cut = int(stored["folded"])
    folded, recent = tuple(labels[:cut]), tuple(labels[cut:])
    if len({x.node for x in labels}) < len(labels) or any(not 0 <= x.node < n for x in labels):
        raise FileError("its labels are not those of nodes of the graph, one each")
    prior = _conditioned(origin, folded)
    if isinstance(prior, Direct):
        engine = {key.removeprefix("engine_"): array for key, array in stored.items() if key.startswith("engine_")}
        prior.restore(Factor.restored(prior.scaled_matrix, engine))
    votes = _shaped(stored["votes"], (n, None))
    labeled, free = prior.precision.pinned | (prior.precision.extra > 0), prior.free
    for x in recent:
        labeled[x.node], free[x.node] = True, 0.0 if x.noise == 0 else free[x.node]
    return Field(
        origin=origin,
        prior=prior,
        base=_shaped(stored["base"], (n, None)),
        votes=votes,
        spread=_spread(prior, stored, len(recent), squares),
        squares=squares,
        noise=noise,
        ample=_shaped(stored["ample"], (n,)),
        stack=ColumnStack.of(_shaped(stored["factor"], (len(recent), n)).T),
        labeled=labeled,
        free=free,
        folded=folded,
        recent=recent,
    )


def _conditioned(origin: Prior, folded: tuple[Label, ...]) -> Prior:
    if not folded:
        return origin
    nodes, gamma = np.array([x.node for x in folded]), np.array([x.noise for x in folded])
    return origin.conditioned(origin.precision.folded(nodes, gamma))


def _engine_arrays(prior: Prior) -> Arrays:
    return prior.factor.arrays() if isinstance(prior, Direct) else {}


def _spread_arrays(spread: Spread) -> Arrays:
    if isinstance(spread, Exact):
        squares = {} if spread.squares is None else {"squares": spread.squares}
        return {"variance": spread.variance, "influence": spread.influence_l1, **squares}
    assert isinstance(spread, Probed)
    out: Arrays = {
        "influence": spread.influence_l1,
        "known": spread.known,
        "known_variance": spread.known_variance,
        "known_squares": spread.known_squares,
    }
    for name, samples in (("field", spread.field_samples), ("flat", spread.flat_samples)):
        if samples is not None:
            out |= {f"{name}_{key}": getattr(samples, key) for key in ("values", "weights", "told", "square")}
            out |= {f"{name}_{key}": array for key, array in samples.noise.arrays().items()}
    return out


def _spread(prior: Prior, stored: Arrays, told: int, squares: bool) -> Spread:
    n = prior.n_nodes
    influence = _shaped(stored["influence"], (n,))
    if prior.exact:
        norms = _shaped(stored["squares"], (n,)) if squares else None
        return Exact(_shaped(stored["variance"], (n,)), influence, norms, prior.magnitude)
    component, free, delta = prior.precision.graph.components(), ~prior.precision.pinned, prior.precision.delta
    field_noise = FieldNoise(prior.precision)
    field_noise.restore(stored["field_means"])
    return Probed(
        local=1 / prior.precision.full.diagonal(),
        share=delta / np.bincount(component)[component],
        delta=delta,
        field_samples=_samples(stored, "field", n, told, field_noise),
        flat_samples=_samples(stored, "flat", n, told, _flat_noise(stored, component, free)) if squares else None,
        influence_l1=influence,
        known=_shaped(stored["known"], (n,)).astype(bool),
        known_variance=_shaped(stored["known_variance"], (n,)),
        known_squares=_shaped(stored["known_squares"], (n,)),
    )


def _flat_noise(stored: Arrays, component: AnyArray, free: AnyArray) -> Noise:
    group = stored.get("flat_group")
    if group is not None and not 0 <= _shaped(group, component.shape).min() <= group.max() < component.size:
        raise FileError("groups that are not those of its nodes")
    flat = Flat(component if group is None else group, free)
    flat.restore(stored["flat_means"])
    return flat if group is None else SteppedFlat(Steps(group, component, free), flat)


def _samples(stored: Arrays, name: str, n: int, told: int, noise: Noise) -> Samples:
    weights = _shaped(stored[f"{name}_weights"], (None,))
    k = weights.size
    values, square = _shaped(stored[f"{name}_values"], (n, k)), _shaped(stored[f"{name}_square"], (n,))
    return Samples(values, weights, noise, _shaped(stored[f"{name}_told"], (told, k)), square)


def _shaped(array: AnyArray, shape: tuple[int | None, ...]) -> Any:
    if array.ndim != len(shape) or any(a != b for a, b in zip(array.shape, shape, strict=True) if b is not None):
        raise FileError(f"an array of shape {array.shape} where {shape} is needed")
    if not np.isfinite(array.ravel()[:: max(1, array.size // 100_000)]).all():
        raise FileError("an array that is not finite")
    return array
