"""Right-hand sides of probes, made on a GPU: the same noise as the host makes, by the same hash."""

from __future__ import annotations

from typing import Any

import numpy as np

from askgraph.linalg.cuda.runtime import compiled, cupy
from askgraph.linalg.cuda.sparse import Weights
from askgraph.priors.noise.host import EXTRA, FieldNoise, SignNoise
from askgraph.priors.precision import Precision
from askgraph.types import AnyArray, Array

THREADS = 256  # of a thread block


def signs(n: int, columns: slice, seed: int) -> Any:
    """Return one random sign per node, some columns of endlessly many."""
    out = cupy().empty((n, columns.stop - columns.start), np.float32)
    _launch("signs", out, np.uint64(seed), np.int32(columns.start))
    return out


def _launch(name: str, out: Any, *more: Any) -> None:
    sizes = np.int64(len(out)), np.int32(out.shape[1])
    compiled("priors/noise/cuda.cu", name)((-(-out.size // THREADS),), (THREADS,), (*sizes, *more, out))


class CudaSignNoise:
    """One random sign per free node, the mean over its group removed; single nodes are looked up on the host."""

    def __init__(self, host: SignNoise) -> None:
        from cupyx.scipy.sparse import csr_matrix

        self._host = host
        cp, member = cupy(), host.member
        arrays = np.ones(member.nnz), member.indices, member.indptr
        self._sum = csr_matrix(tuple(map(cp.asarray, arrays)), shape=member.shape)
        self._size = cp.asarray(np.diff(member.indptr)[:, None])
        self._mean_of, self._none = cp.asarray(host.part), cp.asarray(host.alone | ~host.free)

    def block(self, columns: slice) -> Any:
        """Return some columns, one row per node."""
        z = signs(len(self._none), columns, self._host.seed)
        means = self._sum @ z.astype(np.float64) / self._size  # sums of signs are exact in any order
        self._host.keep_means(columns.start, means.get())
        z -= means.astype(np.float32)[self._mean_of] if len(means) else z
        z[self._none] = 0.0
        return z

    def at(self, node: int, count: int) -> Array:
        """Return columns that were made before, at one node."""
        return self._host.at(node, count)

    def arrays(self) -> dict[str, AnyArray]:
        """Return the means of the signs."""
        return self._host.arrays()


class CudaFieldNoise:
    """ξ of covariance Q − δ 11ᵀ/n_c, as on the host."""

    def __init__(self, precision: Precision, weights: Weights) -> None:
        self._host, self._weights, cp = FieldNoise(precision), weights, cupy()
        self._signs = CudaSignNoise(self._host.signs)
        self._inside = cp.asarray(self._host.free.astype(np.float32))[:, None]
        extra = self._host.root_extra
        self._more = cp.asarray(extra.astype(np.float32))[:, None] if extra.any() else None

    def block(self, columns: slice) -> Any:
        """Return some columns, one row per node, zero at pinned nodes."""
        noise = np.float32(self._host.root_delta) * self._signs.block(columns)
        if self._more is not None:
            noise += self._more * signs(len(noise), columns, EXTRA)
        at = self._weights
        _launch("edges", noise, np.int32(columns.start), at.first, at.node, at.weight)
        return noise * self._inside

    def at(self, node: int, count: int) -> Array:
        """Return columns that were made before, at one node."""
        return self._host.at(node, count)

    def arrays(self) -> dict[str, AnyArray]:
        """Return the means of the signs."""
        return self._host.arrays()
