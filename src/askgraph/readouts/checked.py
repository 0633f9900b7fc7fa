"""A readout of the user's own, whose probabilities are checked each time."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from askgraph.errors import SettingError
from askgraph.field import Field
from askgraph.readouts.readouts import Readout
from askgraph.support.wording import kind_and_size
from askgraph.types import Array

SLACK = 1e-6  # by which the sum of a row may differ from 1, and a probability be below 0: rounding is far less


@dataclass(frozen=True)
class Checked:
    """A readout that raises `SettingError` where another one gives anything but probabilities."""

    readout: Readout

    def __call__(self, field: Field, votes: Array | None = None, links: csr_array | None = None) -> Array:
        """Return the class probabilities of the nodes, or of samples outside the graph, as every readout does."""
        found = self.readout(field) if votes is None else self.readout(field, votes, links)
        rows = field.space.n_rows if votes is None else votes.shape[0]
        field.space.all_or_error(partial(self._check, field, found, (rows, field.coding.width)))
        return found

    def _check(self, field: Field, found: Any, shape: tuple[int, int]) -> None:
        arrays = np.ndarray, type(field.space.asarray(np.zeros(1)))
        if not isinstance(found, arrays) or found.shape != shape or found.dtype.kind not in "biuf":
            self._refuse(
                f"gave {kind_and_size(found)} for {shape[0]} rows and {shape[1]} classes",
                "return an array of numbers, one row per node and one column per class",
            )
        totals = found.sum(axis=1)
        if not np.isfinite(totals).all():
            odd = int((~np.isfinite(totals)).sum())
            self._refuse(f"{odd} of {shape[0]} rows hold NaN or infinity", "return a finite number for every class")
        if (low := float(found.min(initial=0.0))) < -SLACK:
            self._refuse(f"gave a probability of {low:.3g}", "return numbers from 0 to 1")
        if (off := int((abs(totals - 1) > SLACK).sum())) > 0:
            first = float(totals[abs(totals - 1) > SLACK][0])
            self._refuse(
                f"{off} of {shape[0]} rows do not add up to 1 (the first: {first:.6g})", "divide each row by its sum"
            )

    def _refuse(self, came: str, advice: str) -> None:
        name = getattr(self.readout, "__name__", type(self.readout).__name__)
        raise SettingError(f"readout {name}: {came}; {advice}")
