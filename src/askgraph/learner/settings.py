"""How a learner works: its plan, and how it reads the field."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any, Literal, Unpack

from askgraph.errors import SettingError
from askgraph.kinds import Kind, kind_of
from askgraph.kinds.one_class import OneClass
from askgraph.options import EARLIER, OptionKeywords
from askgraph.plan import Plan
from askgraph.readouts import READOUTS, Readout, ReadoutFunction, as_readout
from askgraph.support.arguments import real_number
from askgraph.utilities import Criterion, Utility

CLASSES = OneClass()
AUTO = "auto"  # the label noise is chosen by the labels
LARGEST_NOISE = 1e100  # its square, and one over it, must be finite numbers


@dataclass(frozen=True)
class Settings:
    """What makes two learners of one graph work alike, but for their seeds.

    Parameters
    ----------
    plan : Plan
        How questions are chosen.
    readout, delta, noise, tune, answers
        As of :class:`askgraph.Learner`.

    Examples
    --------
    >>> Settings.of("tv", spot_checks=8).to_json()["spot_checks"]
    8
    """

    plan: Plan
    readout: str | Readout | ReadoutFunction | None = "cautious"
    delta: float | None = None
    noise: float | Literal["auto"] = "auto"
    tune: bool = False
    answers: Kind = CLASSES

    def __post_init__(self) -> None:
        if self.delta is not None:
            advice = "a positive number, or None for a thousandth of the mean degree"
            object.__setattr__(self, "delta", real_number(self.delta, "delta", sys.float_info.min, advice=advice))
        if not isinstance(self.tune, bool):
            raise SettingError(
                f"tune={self.tune!r}: give True to choose among graphs or ridges as labels come, or False"
            )
        self.answers.check(self.plan)
        if self.readout is not None and self.answers.usual_readout is None:
            raise SettingError(
                f"readout={self.readout!r}: answers={self.answers.name!r} are read in one way only; leave it out"
            )
        if not self.chooses_noise:
            object.__setattr__(self, "noise", checked_noise(self.noise))
        _ = self.decide

    @classmethod
    def of(
        cls,
        sampler: str | Criterion | Utility | Plan = "influence",
        readout: str | Readout | ReadoutFunction | None = None,
        delta: float | None = None,
        noise: float | Literal["auto"] = "auto",
        tune: bool = False,
        answers: Kind = CLASSES,
        **options: Unpack[OptionKeywords],
    ) -> Settings:
        """Return the settings that a sampler and options stand for.

        Parameters
        ----------
        sampler, readout, delta, noise, tune, answers
            As of :class:`askgraph.Learner`.
        **options
            Options of the plan, by name.

        Returns
        -------
        Settings
            The settings, checked.
        """
        plan = Plan.of(sampler, **options)
        return cls(plan, answers.usual_readout if readout is None else readout, delta, noise, tune, answers)

    @property
    def chooses_noise(self) -> bool:
        """Whether the labels choose the label noise."""
        return isinstance(self.noise, str) and self.noise == AUTO

    @property
    def first_noise(self) -> float:
        """The label noise before any label: 0 where the labels choose it."""
        return 0.0 if self.chooses_noise else float(self.noise)

    @property
    def decide(self) -> Readout | None:
        """The readout as a value; None for answers that are read in one way only."""
        return None if self.readout is None else as_readout(self.readout)

    def to_json(self) -> dict[str, Any]:
        """Return the settings as plain values; raise an error for a function of the user's own, which cannot be saved.

        Returns
        -------
        dict
            Plain values by name.
        """
        plain: dict[str, Any] = {**vars(self), "utility": self.plan.sampler.by, **self.plan.options()}
        del plain["plan"]
        plain["answers"] = self.answers.to_json()
        names: dict[type, str] = {type(readout): name for name, readout in READOUTS.items()}
        if type(self.readout) in names:
            plain["readout"] = {names[type(self.readout)]: vars(self.readout)}
        for name, value in plain.items():
            if not isinstance(value, str | int | float | dict | list | tuple | None):
                raise SettingError(f"{name} is a {type(value).__name__} and cannot be saved: use one that has a name")
        return plain

    @classmethod
    def from_json(cls, plain: dict[str, Any]) -> Settings:
        """Return the settings that ``to_json`` gave.

        Parameters
        ----------
        plain : dict
            Plain values by name.

        Returns
        -------
        Settings
            The settings.
        """
        readout = plain["readout"]
        if isinstance(readout, dict):
            ((name, how),) = readout.items()
            how = {key: tuple(value) if isinstance(value, list) else value for key, value in how.items()}
            readout = type(as_readout(name))(**how)
        kind = kind_of(plain.get("answers", {"name": CLASSES.name}))
        given = {**EARLIER, "noise": 0.0, **plain, "readout": readout, "answers": kind}
        return cls.of(given.pop("utility"), **given)


def checked_noise(noise: float | str) -> float:
    """Return the standard deviation of a label, checked."""
    advice = f"the standard deviation of a label: 0, or a number from {1 / LARGEST_NOISE:g} to {LARGEST_NOISE:g}"
    checked = real_number(noise, "noise", 0.0, LARGEST_NOISE, advice)
    return checked and real_number(noise, "noise", 1 / LARGEST_NOISE, LARGEST_NOISE, advice)
