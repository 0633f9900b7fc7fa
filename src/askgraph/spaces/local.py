"""NumPy arrays in this process: the plain space that all others must equal."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from askgraph.spaces.base import Space
from askgraph.types import AnyArray, IntArray


class NumpySpace(Space):
    """NumPy arrays in this process, one row per node: row and node are the same number."""

    def zeros(self, *more: int, dtype: Any = float, order: Literal["C", "F"] = "C") -> AnyArray:
        """Return zeros, one row per node."""
        return np.zeros((self.n_rows, *more), dtype, order)

    def asarray(self, x: AnyArray) -> AnyArray:
        """Return x as it is."""
        return x

    def to_numpy(self, x: AnyArray) -> AnyArray:
        """Return x as it is."""
        return x

    def pick(self, x: AnyArray, node: int | IntArray) -> AnyArray:
        """Return the rows of x at one node or several."""
        return np.asarray(x[node])
