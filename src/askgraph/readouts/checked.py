"""A readout of the user's own, whose probabilities are checked each time."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from askgraph.errors import SettingError
from askgraph.field import Field
from askgraph.readouts.readout import Readout, ReadoutFunction, Steps
from askgraph.readouts.view import Block, ByBlock, View
from askgraph.support.wording import kind_and_size
from askgraph.types import Array

SLACK = 1e-6  # by which the sum of a row may differ from 1, and a probability be below 0: rounding is far less


@dataclass(frozen=True)
class Checked(Readout):
    """A readout that raises `SettingError` where another one, or a function, gives anything but probabilities."""

    readout: Readout | ReadoutFunction

    @property
    def whole(self) -> bool:
        """Whether all classes must be read at once: a function gives them all."""
        return self.readout.whole if isinstance(self.readout, Readout) else True

    def by_block(self, view: View) -> ByBlock:
        """Return what the other readout says, checked."""
        asked = self.readout.by_block(view) if isinstance(self.readout, Readout) else self._called(view)

        def found(block: Block) -> Array:
            p = asked(block)
            view.field.space.all_or_error(partial(self._check, view, p, block))
            return p

        source = view.kept(found)
        totals = view.row_totals(source)
        view.field.space.all_or_error(partial(self._check_totals, totals[:, 0]))
        return source

    def steps(self, field: Field) -> Steps:
        """Return the steps of the other readout, if it has any."""
        return self.readout.steps(field) if isinstance(self.readout, Readout) else super().steps(field)

    def weight_of_shares(self, field: Field) -> float:
        """Return the weight of the class shares in the other readout."""
        return self.readout.weight_of_shares(field) if isinstance(self.readout, Readout) else 0.0

    def _called(self, view: View) -> ByBlock:
        """Return what the function says, which is asked for all classes."""
        given = () if not view.outside else (view.rows, view.links)
        return lambda block: self.readout(view.field, *given)

    def _check(self, view: View, found: Any, block: Block) -> None:
        arrays = np.ndarray, type(view.field.space.asarray(np.zeros(1)))
        shape = view.rows.shape[0], block.classes.size
        if not isinstance(found, arrays) or found.shape != shape or found.dtype.kind not in "biuf":
            self._refuse(
                f"gave {kind_and_size(found)} for {shape[0]} rows and {shape[1]} classes",
                "return an array of numbers, one row per node and one column per class",
            )
        sums = found.sum(axis=1)
        if not np.isfinite(sums).all():
            odd = int((~np.isfinite(sums)).sum())
            self._refuse(f"{odd} of {shape[0]} rows hold NaN or infinity", "return a finite number for every class")
        if (low := float(found.min(initial=0.0))) < -SLACK:
            self._refuse(f"gave a probability of {low:.3g}", "return numbers from 0 to 1")

    def _check_totals(self, totals: Array) -> None:
        wrong = totals[abs(totals - 1) > SLACK]
        if wrong.size:
            self._refuse(
                f"{wrong.size} of {totals.size} rows do not add up to 1 (the first: {float(wrong[0]):.6g})",
                "divide each row by its sum",
            )

    def _refuse(self, came: str, advice: str) -> None:
        name = getattr(self.readout, "__name__", type(self.readout).__name__)
        raise SettingError(f"readout {name}: {came}; {advice}")
