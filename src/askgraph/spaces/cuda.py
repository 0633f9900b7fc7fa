"""Arrays on a GPU, through CuPy."""

from __future__ import annotations

from typing import Any, Literal

from askgraph.linalg.cuda.runtime import cupy
from askgraph.spaces.base import Space
from askgraph.types import IntArray


class CudaSpace(Space):
    """CuPy arrays in this process, one row per node."""

    part_bytes = 32_000_000  # every part starts kernels anew, and there is no cache to stay in

    def zeros(self, *more: int, dtype: Any = float, order: Literal["C", "F"] = "C") -> Any:
        """Return zeros on the device."""
        return cupy().zeros((self.n_rows, *more), dtype, order)

    def asarray(self, x: Any) -> Any:
        """Copy a NumPy array to the device."""
        return cupy().asarray(x)

    def to_numpy(self, x: Any) -> Any:
        """Copy an array of the device to NumPy."""
        return cupy().asnumpy(x)

    def total(self, x: Any) -> Any:
        """Return the sum of x over all nodes; of integers, for which CuPy brings a kernel, where x is a mask."""
        return super().total(x.astype(int) if x.dtype == bool else x)

    def lowest(self, x: Any, count: int) -> Any:
        """Return where the ``count`` lowest of more numbers are; CuPy brings a kernel for sorting, not for partitioning."""
        return cupy().argsort(x)[:count]

    def pick(self, x: Any, node: int | IntArray) -> Any:
        """Return, as NumPy, the rows of x at one node or several."""
        return cupy().asnumpy(x[node if isinstance(node, int) else cupy().asarray(node)])

    def put(self, x: Any, nodes: IntArray, values: Any) -> Any:
        """Return a copy of x with other values at these nodes."""
        x = x.copy()
        x[cupy().asarray(nodes)] = cupy().asarray(values)
        return x
