"""Sparse weights on a GPU."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from askgraph.linalg.cuda.runtime import compiled, cupy

THREADS = 256  # of a thread block


class Weights:
    """W on the device, in the order of nodes."""

    first: Any
    node: Any
    weight: Any

    def __init__(self, weights: csr_array) -> None:
        cp = cupy()
        self.first = cp.asarray(weights.indptr.astype(np.int64))
        self.node = cp.asarray(weights.indices.astype(np.int32))
        self.weight = cp.asarray(weights.data)

    def __matmul__(self, x: Any) -> Any:
        cp = cupy()
        x = cp.ascontiguousarray(x, dtype=np.float64)
        out = cp.empty_like(x)
        k = x.shape[1] if x.ndim == 2 else 1
        blocks = (-(-x.size // THREADS),)
        if x.size:
            compiled("linalg/cuda/rows.cu", "product")(
                blocks, (THREADS,), (np.int64(x.size), np.int32(k), self.first, self.node, self.weight, x, out)
            )
        return out
