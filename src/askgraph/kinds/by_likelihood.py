"""The rule of kinds whose answers are numbers, or stand for numbers: the mixture by which these are likeliest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from askgraph.errors import SettingError
from askgraph.kinds.kind import Kind, Making
from askgraph.plan import Plan
from askgraph.plan.mixture import Mixture
from askgraph.priors import prior as choose_prior
from askgraph.priors.base import Prior
from askgraph.types import Array


def mixed(
    plan: Plan,
    making: Making,
    values: Callable[[Sequence[Any]], Array],
    cost: Callable[[Array, Array], float],
    kind: Kind,
) -> Plan:
    """Return the plan that goes on with the mixture of the graph and features by which numbers are likeliest.

    ``values`` are the numbers that answers stand for, one row each; ``cost`` says how unlikely they are with a covariance.
    """
    noise = None if isinstance(making.noise, str) else making.noise
    if making.features is None:
        return Kind.with_rules(kind, plan.with_first(Mixture(values, cost, noise)), making)
    if making.tune:
        raise SettingError(
            "tune=True: beside features, the numbers themselves say how much the graph counts; leave tune out"
        )
    (graph,) = making.graphs.values()
    base = making.engine if isinstance(making.engine, Prior) else choose_prior(graph, making.delta, making.engine)
    return plan.with_first(Mixture(values, cost, noise, base, making.features))
