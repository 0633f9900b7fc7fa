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
        self._host, self._size = host, np.diff(host.member.indptr)[:, None]
        self._part = cupy().asarray(np.where(host.alone, -1, host.part).astype(np.int32))  # -1: a node is its own mean
        self._free = cupy().asarray(host.free)

    def block(self, columns: slice) -> Any:
        """Return some columns, one row per node."""
        cp, k = cupy(), columns.stop - columns.start
        z, sums = cp.empty((len(self._part), k), np.float32), cp.zeros((len(self._size), k), np.int32)
        _launch("sum_signs", z, np.uint64(self._host.seed), np.int32(columns.start), self._part, sums)
        means = cp.asnumpy(sums) / self._size
        self._host.keep_means(columns.start, means)
        _launch("center", z, self._part, self._free, cp.asarray(means.astype(np.float32)))
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
