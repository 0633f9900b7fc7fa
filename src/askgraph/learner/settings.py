"""How a learner decides, checked once."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal

import numpy as np

from askgraph.errors import ConvergenceError, SettingError
from askgraph.field import Field
from askgraph.readouts import READOUTS, Readout, as_readout
from askgraph.support.arguments import listed, one_of, real_number, whole_number
from askgraph.support.wording import kind_and_size
from askgraph.types import Array, IntArray
from askgraph.utilities import Criterion, Utility, criterion
from askgraph.utilities.closed import Form

Schedule = float | str | Callable[[int], float] | None
LARGEST_NOISE = 1e100  # its square, and one over it, must be finite numbers
SHARES_SUM = 1e-6  # class shares may miss a sum of 1 by this much
SCHEDULES: dict[str, Callable[[int], float]] = {"sqrt": lambda t: t**-0.5, "inverse": lambda t: 1 / t}


@dataclass(frozen=True)
class Settings:
    """The options of a Learner, under the same names.

    Parameters
    ----------
    doubt : float, str, callable or None
        How much to distrust the field in expectations: "sqrt" (t^(-1/2)), "inverse", a constant, a function of t, or None.
    class_shares : sequence of float, optional
        The shares of the classes that ``doubt`` leans to, in the order of ``classes``; None for equal shares. With shares of
        their own, tv and msd are the exact expectations under (34): the paper prints (35) for equal shares only.
    form : {"printed", "derived", "means"}
        The paper's printed formulas, the exact expectations, or, for tv and msd above two classes, the printed formulas with
        Σ_c (1 − μ_c²) in place of Σ_c (1 − p_c²). Two classes are the same in all three.
    explore : float, str or callable
        The probability that a question is drawn at random, a number or a schedule as for ``doubt``.
    first : {"random", "utility"}
        How the first question is chosen.
    noise : float
        The standard deviation of a label; 0 is the paper.
    expect : {"mean", "min"}
        The mean over answers, or the minimum (max–min).
    ahead : int
        The number of nodes that a look-ahead sampler scores where summaries are estimates: the best by tv.
    batch : {"sequence", "local"}
        Whether nodes asked for together are chosen one after another, or are maxima among their neighbors.
    small_components : {"wait", "ask"}
        Whether nodes of small components wait. A component with less than 1 % of the nodes is not asked for while it has fewer
        nodes per label than the larger components have: its label would teach about few nodes. On a connected graph, and where
        every component is small, nothing waits. Questions drawn at random never wait.
    hubs : {"discount", "skip", "ask"}, optional
        What to do about hubs, nodes with more than twice the median number of neighbors. "discount": their labels count for
        less, by as much as the labels of other nodes say, and every fourth question goes to a node that is no hub. "skip": no
        hub is asked for while another node is left. "ask": hubs are nodes like any other, as in the paper. None is "discount"
        for the sampler influence and "ask" for any other. Questions drawn at random take no notice of hubs.
    spot_checks : int
        Every how many questions one is a spot check: drawn at random from all unlabeled nodes, so that the answer judges the
        prediction made before it. Its label counts as any other. 0 for no spot checks.
    utility, delta, readout, tune
        As of :class:`askgraph.Learner`.

    Examples
    --------
    >>> settings = Settings(doubt="sqrt")
    >>> settings.doubts(held=1), settings.doubts(held=4)
    (1.0, 0.5)
    """

    utility: str | Criterion | Utility = "influence"
    doubt: Schedule = "sqrt"
    form: Form = "printed"
    delta: float | None = None
    readout: str | Readout = "cautious"
    explore: Schedule = 0.0
    first: Literal["random", "utility"] = "random"
    noise: float = 0.0
    expect: Literal["mean", "min"] = "mean"
    ahead: int = 64
    batch: Literal["sequence", "local"] = "sequence"
    tune: bool = False
    class_shares: Sequence[float] | None = None
    small_components: Literal["wait", "ask"] = "wait"
    hubs: Literal["discount", "skip", "ask"] | None = None
    spot_checks: int = 0

    def __post_init__(self) -> None:
        _schedule(self.doubt, "doubt")
        _schedule(self.explore, "explore")
        _one_of(self.form, "form", ("printed", "derived", "means"))
        _one_of(self.small_components, "small_components", ("wait", "ask"))
        if self.hubs is not None:
            _one_of(self.hubs, "hubs", ("discount", "skip", "ask"))
        if self.class_shares is not None:
            object.__setattr__(self, "class_shares", _checked_shares(self.class_shares))
        _one_of(self.first, "first", ("random", "utility"))
        _one_of(self.expect, "expect", ("mean", "min"))
        _one_of(self.batch, "batch", ("sequence", "local"))
        if self.delta is not None:
            advice = "a positive number, or None for a thousandth of the mean degree"
            object.__setattr__(self, "delta", real_number(self.delta, "delta", sys.float_info.min, advice=advice))
        whole_number(self.ahead, "ahead", 1)
        whole_number(self.spot_checks, "spot_checks")
        _ = self.criterion, self.decide
        if not isinstance(self.tune, bool):
            raise SettingError(
                f"tune={self.tune!r}: give True to choose among graphs or ridges as labels come, or False"
            )
        object.__setattr__(self, "noise", checked_noise(self.noise))

    @property
    def passive(self) -> bool:
        """Whether every question is drawn at random: ``utility="random"`` means just that."""
        return self._is_random or self.explore == 1

    @property
    def criterion(self) -> Criterion:
        """The utility to ask by, and what it needs; for ``utility="random"``, one that needs no summaries."""
        return criterion("unc" if self._is_random else self.utility)

    @property
    def _is_random(self) -> bool:
        return isinstance(self.utility, str) and self.utility == "random"

    @property
    def squares(self) -> bool:
        """Whether the field must keep ‖g‖₂ up to date."""
        return self.criterion.squares and not self.passive

    @property
    def about_hubs(self) -> Literal["discount", "skip", "ask"]:
        """What is done about hubs."""
        return self.hubs or ("discount" if self.utility == "influence" else "ask")

    def checks(self, number: int) -> bool:
        """Return whether the question of this number, from 0, is a spot check."""
        return bool(self.spot_checks) and (number + 1) % self.spot_checks == 0

    @property
    def decide(self) -> Readout:
        """The readout as a value."""
        return as_readout(self.readout)

    def doubts(self, held: int) -> float:
        """Return α_t: the share of the uniform distribution in expectations after ``held`` labels; 1 before the first."""
        return _scheduled(self.doubt, "doubt", held)

    def explores(self, held: int) -> float:
        """Return π_t: the probability that the question after ``held`` labels is drawn at random (32)."""
        return _scheduled(self.explore, "explore", held)

    def score(self, field: Field, rows: IntArray) -> Array:
        """Return the scores of these rows, the larger the better; raise where one is not a finite number."""
        shares, classes = self.class_shares, max(2, field.coding.width)
        if shares is not None and len(shares) != classes:
            raise SettingError(
                f"class_shares has {len(shares)} numbers for {classes} classes: give one per class and name all classes"
            )
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):  # what comes of these is looked for below
            scores = self.criterion.score(field, rows, self.doubts(field.held), self.form, self.expect, shares)
        if getattr(scores, "shape", None) != (rows.size,):
            raise SettingError(
                f"{self._name}: gave {kind_and_size(scores)} for {rows.size} rows; return an array, one number for every row"
            )
        self._check_finite(field, rows, scores)
        return scores

    @property
    def _name(self) -> str:
        return str(getattr(self.utility, "__name__", type(self.utility).__name__))

    def _check_finite(self, field: Field, rows: IntArray, scores: Array) -> None:
        odd = field.space.count(rows[~np.isfinite(scores)])
        if not odd:
            return
        if isinstance(self.utility, str):
            advice = "the weights are too far from 1, or from each other: divide them by a typical one, or raise delta"
            raise ConvergenceError(f"{self.utility}: {odd} scores are not finite numbers; {advice}")
        raise SettingError(f"{self._name}: {odd} scores are NaN or infinite; return a finite number for every row")

    def to_json(self) -> dict[str, Any]:
        """Return the settings as plain values; raise an error for a function of the user's own, which cannot be saved."""
        plain = {field.name: getattr(self, field.name) for field in fields(self)}
        names: dict[type, str] = {type(readout): name for name, readout in READOUTS.items()}
        if type(self.readout) in names:
            plain["readout"] = {names[type(self.readout)]: vars(self.readout)}
        for name, value in plain.items():
            if not isinstance(value, str | int | float | dict | list | tuple | None):
                raise SettingError(f"{name} is a {type(value).__name__} and cannot be saved: use one that has a name")
        return plain

    @classmethod
    def from_json(cls, plain: dict[str, Any]) -> Settings:
        """Return the settings that ``to_json`` gave."""
        readout = plain["readout"]
        if isinstance(readout, dict):
            ((name, how),) = readout.items()
            how = {key: tuple(value) if isinstance(value, list) else value for key, value in how.items()}
            readout = type(as_readout(name))(**how)
        return cls(**{"hubs": "ask", **plain, "readout": readout})  # earlier versions had no rule for hubs


def checked_noise(noise: float) -> float:
    """Return the standard deviation of a label, checked."""
    advice = f"the standard deviation of a label: 0, or a number from {1 / LARGEST_NOISE:g} to {LARGEST_NOISE:g}"
    checked = real_number(noise, "noise", 0.0, LARGEST_NOISE, advice)
    return checked and real_number(noise, "noise", 1 / LARGEST_NOISE, LARGEST_NOISE, advice)


def _checked_shares(shares: Sequence[float]) -> tuple[float, ...]:
    """Return the shares of the classes as plain numbers, checked."""
    values = np.array([real_number(share, "class_shares") for share in listed(shares, "class_shares")])
    if values.ndim != 1 or values.size < 2 or not (values >= 0).all() or abs(values.sum() - 1) > SHARES_SUM:
        raise SettingError(f"class_shares={shares!r}: give one number per class, none below 0, that add up to 1")
    return tuple(values.tolist())


def _one_of(value: Any, name: str, allowed: tuple[str, ...]) -> None:
    one_of(value, name, allowed)


def _schedule(value: Schedule, name: str) -> None:
    if isinstance(value, str) and value not in SCHEDULES:
        raise SettingError(f"{name}={value!r}: give 'sqrt', 'inverse', a number in [0, 1], a function, or None")
    if value is not None and not isinstance(value, str) and not callable(value):
        checked_share(value, name)


def _scheduled(value: Schedule, name: str, held: int) -> float:
    if not isinstance(value, str) and not callable(value):
        return float(value or 0.0)
    rule = SCHEDULES[value] if isinstance(value, str) else value
    return 1.0 if held == 0 else checked_share(rule(held), name)


def checked_share(value: float, name: str) -> float:
    """Return a number in [0, 1], checked."""
    return real_number(value, name, 0.0, 1.0)
