"""Right-hand sides of probes, made on a GPU: the same noise as ``noise`` makes, by the same hash."""

from __future__ import annotations

from typing import Any

import numpy as np

from askgraph.priors.base import Precision
from askgraph.priors.device import Weights, compiled, cupy
from askgraph.priors.noise.host import EXTRA, FLAT, ORDINARY, Field, Flat
from askgraph.types import AnyArray, BoolArray

THREADS = 256


def signs(n: int, columns: slice, seed: int) -> Any:
    """A sign a node, some columns of endlessly many."""
    out = cupy().empty((n, columns.stop - columns.start), np.float32)
    _launch("signs", out, np.uint64(seed), np.int32(columns.start))
    return out


def _launch(name: str, out: Any, *more: Any) -> None:
    sizes = np.int64(len(out)), np.int32(out.shape[1])
    compiled("gpu_noise.cu", name)((-(-out.size // THREADS),), (THREADS,), (*sizes, *more, out))


class FlatNoise(Flat):
    """A sign a free node, the mean over its group removed."""

    def __init__(self, group: AnyArray, free: BoolArray, seed: int = FLAT) -> None:
        from cupyx.scipy.sparse import csr_matrix

        super().__init__(group, free, seed)
        cp, member = cupy(), self._member
        arrays = np.ones(member.nnz), member.indices, member.indptr
        self._sum = csr_matrix(tuple(map(cp.asarray, arrays)), shape=member.shape)
        self._size = cp.asarray(np.diff(member.indptr)[:, None])
        self._mean_of, self._none = cp.asarray(self._part), cp.asarray(self._alone | ~free)

    def block(self, columns: slice) -> Any:
        """Some columns for all nodes."""
        z = signs(len(self._nodes), columns, self._seed)
        means = self._sum @ z.astype(np.float64) / self._size  # sums of signs are exact in any order
        self._means[columns.start] = means.get()
        z -= means.astype(np.float32)[self._mean_of] if len(means) else z
        z[self._none] = 0.0
        return z


class DeviceNoise(Field):
    """ξ of covariance Q − δ 11ᵀ/n_c, as on the host."""

    def __init__(self, precision: Precision, weights: Weights) -> None:
        super().__init__(precision)
        self._weights = weights
        self._flat = FlatNoise(precision.graph.components(), self._free, ORDINARY)
        cp = cupy()
        self._inside = cp.asarray(self._free.astype(np.float32))[:, None]
        self._more = cp.asarray(self._extra.astype(np.float32))[:, None] if self._extra.any() else None

    def block(self, columns: slice) -> Any:
        """Some columns for all nodes; nothing at pinned ones."""
        noise = np.float32(self._delta) * self._flat.block(columns)
        if self._more is not None:
            noise += self._more * signs(len(noise), columns, EXTRA)
        at = self._weights
        _launch("edges", noise, np.int32(columns.start), at.first, at.node, at.weight)
        return noise * self._inside
