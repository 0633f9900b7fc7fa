"""Numbers, such as prices or temperatures: predicted by a mean and an interval, in their unit."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from askgraph.answers.numbers import Values
from askgraph.answers.plain import plain_number
from askgraph.answers.sought import AtLeast
from askgraph.errors import LabelError, SettingError
from askgraph.field import Field
from askgraph.field.leave_one_out import Supposed
from askgraph.graph import Graph
from askgraph.kinds.by_likelihood import mixed
from askgraph.kinds.changes import narrowed
from askgraph.kinds.diagnostics import REMEDY, WARN_FROM, Suspect
from askgraph.kinds.kind import Kind, Making, Moment
from askgraph.kinds.measured import LEVEL, MEASURED, quantile, random_items
from askgraph.kinds.stopping import ErrorEstimate
from askgraph.plan import Plan
from askgraph.priors.features import join_kernels
from askgraph.readouts.number import by_others, cost, fit, loss, spread, spread_of
from askgraph.support.arguments import one_of
from askgraph.types import AnyArray, Array

LINKS = ("identity", "log", "auto")
HIGHEST, LOWEST = "highest", "lowest"  # what may be sought beside numbers of at least a value
ROUNDING = 1e-12  # of the largest number: numbers that differ by less are equal
FAR = 3.0  # robust standard deviations between an answer and what the others say of it from which it is a suspect


@dataclass(frozen=True)
class Numbers(Kind):
    """A number per answer; ``answers="numbers"``.

    How sure an answer is, and what the numbers vary by, the answers say themselves; nothing depends on their unit or their mean.

    Parameters
    ----------
    unit : str, optional
        The unit, for sentences.
    link : {"identity", "log", "auto"}
        Whether numbers are read as they are or by their logarithms, for positive numbers that vary by factors; "auto" for the one
        by which they are likelier.

    Examples
    --------
    >>> import askgraph as ag
    >>> learner = ag.Learner(ag.chain(9), answers=ag.Numbers(unit="EUR"), rng=0)
    >>> learner.tell_all({0: 10.0, 4: 14.5, 8: 18.0})
    >>> value, low, high = learner.predict([2], interval=0.9)
    >>> bool(10 < value[0] < 14.5), bool(low[0] < value[0] < high[0])
    (True, True)
    """

    unit: str | None = None
    link: str = "identity"

    name: ClassVar[str] = "numbers"
    by_class: ClassVar[bool] = False
    ranged: ClassVar[bool] = True
    usual_readout: ClassVar[str | None] = None
    usual_options: ClassVar[Mapping[str, Any]] = {"first": "utility"}
    samplers: ClassVar[tuple[str, ...] | None] = ("vm", "sigma", "influence", "random")

    def __post_init__(self) -> None:
        one_of(self.link, "link", LINKS)
        if self.unit is not None and not isinstance(self.unit, str):
            raise SettingError(f"unit={self.unit!r}: give a text, such as 'EUR'")

    def checked(self, answer: Any, classes: Sequence[Hashable] = ()) -> float:
        """Return a number as a float."""
        number = plain_number(answer)
        if self.link == "log" and number <= 0:
            raise LabelError(
                f"{number:g} is not above 0, as link='log' needs it: tell a positive number, or take another link"
            )
        return number

    def coding(self, classes: Sequence[Hashable]) -> Values:
        """Return a column of 1, one of the numbers, and one of their logarithms where these may be read."""
        return Values(self.link != "identity")

    def coded(self, answer: Any, classes: Sequence[Hashable]) -> float:
        """Return the number."""
        return float(answer)

    def columns(self, places: Sequence[int]) -> list[int]:
        """Return all columns."""
        return list(range(self.coding(()).width))

    def usual_sampler(self, features: bool, exact: Callable[[], bool]) -> str:
        """Return vm with features where the engine knows the norms that it reads; else sigma."""
        return "vm" if features and exact() else "sigma"

    def check_noise(self, noise: float | None) -> None:
        """Raise an error for an answer with a noise of its own."""
        if noise is not None:
            raise SettingError(f"noise={noise!r}: how sure numbers are is the same for all, and they say it themselves")

    def join(self, graph: Graph | None, X: Any) -> tuple[Graph, Any]:
        """Return the graph, and kernels of the features."""
        return join_kernels(graph, X)

    def with_rules(self, plan: Plan, making: Making) -> Plan:
        """Return the plan, which chooses the label noise, and how much the graph and the features count."""
        if not isinstance(making.noise, str):
            raise SettingError(f"noise={making.noise!r}: how sure numbers are they say themselves; leave noise out")
        return mixed(plan, making, as_columns, partial(cost, link=self.link), self)

    def loss(self, told: Supposed) -> float:
        """Return −ln of the likelihood of the numbers."""
        return loss(told, self.link)

    def margin(self, loss: float, classes: int) -> float:
        """Return 0: the likelihood of numbers says by itself whether features belong to them."""
        return 0.0

    def predict(self, moment: Moment) -> AnyArray:
        """Return the mean of each node; NaN for every node while no number is known. Numbers told stand as they were told."""
        if not moment.field.held:
            return np.full(moment.field.prior.n_nodes, np.nan)
        return self._told(moment, self._back(moment, moment.field.space.gather(spread(moment.field, self.link).mean)))

    def interval(self, moment: Moment, share: float) -> tuple[AnyArray, AnyArray]:
        """Return the ends of the range that holds another answer with this probability; without limit before two answers."""
        n = moment.field.prior.n_nodes
        if moment.field.held < 2:
            return np.full(n, -np.inf), np.full(n, np.inf)
        mean, scale = map(moment.field.space.gather, spread(moment.field, self.link))
        half = quantile((1 + share) / 2, fit(moment.field, self.link).degrees) * scale
        low, high = (self._told(moment, self._back(moment, end)) for end in (mean - half, mean + half))
        return low, high

    def deviation(self, moment: Moment) -> Array:
        """Return by how much another answer may differ from the mean, a standard deviation per node.

        Parameters
        ----------
        moment : Moment
            What is known.

        Returns
        -------
        array
            One number per node, in the unit of the numbers; infinite before two answers.
        """
        if moment.field.held < 2:
            return np.full(moment.field.prior.n_nodes, np.inf)
        return self._deviation(moment, *map(moment.field.space.gather, spread(moment.field, self.link)))

    def mean_beyond(self, moment: Moment, votes: Array) -> Array:
        """Return the mean at samples outside the graph.

        Parameters
        ----------
        moment : Moment
            What is known, at least one number.
        votes : array
            What the field says of the samples, one row per sample.

        Returns
        -------
        array
            One number per sample.
        """
        return self._back(moment, spread_of(moment.field, self.link, votes, np.zeros(len(votes))).mean)

    def deviation_beyond(self, moment: Moment, votes: Array, variance: Array) -> Array:
        """Return by how much another answer about samples outside the graph may differ from their mean.

        Parameters
        ----------
        moment : Moment
            What is known.
        votes : array
            What the field says of the samples, one row per sample.
        variance : array
            The variance of the field at each sample.

        Returns
        -------
        array
            One standard deviation per sample, in the unit of the numbers; infinite before two answers.
        """
        if moment.field.held < 2:
            return np.full(len(votes), np.inf)
        return self._deviation(moment, *spread_of(moment.field, self.link, votes, variance))

    def _deviation(self, moment: Moment, mean: Array, scale: Array) -> Array:
        """Return the standard deviation of numbers of this mean and scale, or of those whose logarithms have them."""
        if not fit(moment.field, self.link).logs:
            return np.asarray(scale)
        with np.errstate(over="ignore"):
            return np.asarray(np.exp(mean + scale**2 / 2) * np.sqrt(np.expm1(scale**2)))

    def likely(self, moment: Moment, sought: Any) -> Array | None:
        """Return how likely a number is at least a value; for the highest or the lowest, the mean and one scale beyond it."""
        from scipy.special import stdtr

        if moment.field.held < 2:
            return None
        found, (mean, scale) = fit(moment.field, self.link), spread(moment.field, self.link)
        if sought in (HIGHEST, LOWEST):
            return scale + (mean if sought == HIGHEST else -mean)
        value = sought.value
        if found.logs:
            value = math.log(value) if value > 0 else -math.inf
        here = moment.field.space.to_numpy((mean - value) / scale)
        return moment.field.space.asarray(stdtr(found.degrees, here))

    def check_sought(self, sought: Any) -> Hashable:
        """Return what is sought: "highest", "lowest", or numbers of at least a value."""
        if isinstance(sought, AtLeast):
            return AtLeast(self.checked(sought.value))
        if isinstance(sought, str) and sought in (HIGHEST, LOWEST):
            return sought
        raise SettingError(
            f"{sought!r} cannot be sought among numbers: give at_least(value), {HIGHEST!r} or {LOWEST!r}"
        )

    def is_found(self, answer: Any, sought: Any) -> bool:
        """Return whether a number is at least the value that is sought."""
        return bool(answer >= sought.value)

    def check_counted(self, sought: Any) -> Hashable:
        """Return what is sought where it is numbers of at least a value."""
        found = self.check_sought(sought)
        if not isinstance(found, AtLeast):
            raise SettingError(f"{found!r}: nobody knows which numbers count as that; give at_least(value)")
        return found

    def expected_error(self, moment: Moment) -> ErrorEstimate:
        """Return the expected root of the mean squared error, in the unit of the numbers."""
        rest, unit, held = moment.rest, self.unit or "", moment.field.held
        if not rest.any():
            return ErrorEstimate(0.0, 0.0, 0.0, 0, unit=unit)
        value = float(np.sqrt((self.deviation(moment)[rest] ** 2).mean()))
        audited = moment.history.audited
        made = self.predict(moment)
        wrong: list[Any] = [made[node] - told for node, told in audited.items()]
        both: list[Any] = list(moment.drawn.values())
        checks = [before - told for before, told in both if before is not None]
        drawn = np.array(random_items(wrong, checks), dtype=float)
        if drawn.size < MEASURED and not math.isfinite(value):
            return ErrorEstimate(math.inf, 0.0, math.inf, len(wrong), unit=unit)
        if drawn.size < MEASURED:
            return ErrorEstimate(value, *_range(value, held - 1), len(wrong), unit=unit)
        value = float(np.sqrt((drawn**2).mean()))
        return ErrorEstimate(value, *_range(value, drawn.size), len(wrong), drawn.size, unit=unit)

    def changes(self, moment: Moment, node: int, after: Field | None = None) -> float:
        """Return at how many other nodes the range becomes narrower by a tenth or more, whatever the answer."""
        return narrowed(moment.field, node, after)

    def suspects(self, moment: Moment, every: bool) -> list[Suspect]:
        """Return the numbers that differ most from what all others say, the least likely first: of all, or of those far off."""
        from scipy.special import stdtr

        if moment.field.held < 3:
            return []
        left, told, degrees = self._left(moment, every=True), moment.history.told, moment.field.held - 1
        off = np.abs(left.gap / left.scale)
        robust = off / max(float(np.median(off)) / quantile(0.75, degrees), np.finfo(float).tiny)
        some = np.argsort(-off, kind="stable")[: np.count_nonzero(robust > FAR) if not every else None]
        chances, instead = 2 * stdtr(degrees, -off), self._back(moment, left.mean)
        return [
            Suspect(node, told[node], float(instead[at]), float(chances[at]))
            for at in some
            for node in [int(left.nodes[at])]
        ]

    def advice(self, moment: Moment) -> list[str]:
        """Return a sentence where leave-one-out predicts the numbers no better than their mean does."""
        left = self._left(moment) if moment.field.held >= WARN_FROM else None
        if left is None or self._explained(left.mean + left.gap, left.gap) > 0:
            return []
        return [
            f"The graph does not predict these numbers: of {left.nodes.size} numbers, each is missed by what the others say "
            f"by as much as by their mean. {REMEDY}"
        ]

    def explained(self, moment: Moment) -> float:
        """Return the share of the variance of the numbers that leave-one-out explains; below 0 where their mean predicts better.

        Parameters
        ----------
        moment : Moment
            What is known.

        Returns
        -------
        float
            R², at most 1.
        """
        left = self._left(moment)
        return self._explained(left.mean + left.gap, left.gap)

    def _explained(self, told: Array, gap: Array) -> float:
        """Return 1 − Σ gap² / Σ (y − the mean of the others)²; 1 for numbers that are all equal, but for rounding."""
        n = told.size
        if np.ptp(told) <= ROUNDING * np.abs(told).max():
            return 1.0
        around = float(((told - told.mean()) ** 2).sum()) * (n / max(n - 1, 1)) ** 2
        return 1 - float((gap**2).sum()) / around

    def _left(self, moment: Moment, every: bool = False) -> Any:
        return by_others(moment.field, self.link, every)

    def _back(self, moment: Moment, ends: Array) -> Array:
        """Return numbers, of their logarithms where these are read."""
        with np.errstate(over="ignore"):
            return np.exp(ends) if fit(moment.field, self.link).logs else ends

    def _told(self, moment: Moment, values: Array) -> Array:
        """Return values with the numbers that were told in place."""
        told: dict[int, Any] = moment.history.told
        values = np.array(values)
        values[list(told)] = list(told.values())
        return values


def as_columns(values: Sequence[Any]) -> Array:
    """Return numbers as one column."""
    return np.array(values, dtype=float)[:, None]


def _range(value: float, degrees: int) -> tuple[float, float]:
    """Return a range of a root mean square that this many independent errors give, each normal."""
    from scipy.special import chdtri

    low, high = (math.sqrt(degrees / float(chdtri(degrees, at))) for at in ((1 - LEVEL) / 2, (1 + LEVEL) / 2))
    return value * low, value * high
