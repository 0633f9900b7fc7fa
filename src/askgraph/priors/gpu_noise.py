"""Right-hand sides of probes, made on a GPU: the same noise as ``noise`` makes, by the same hash."""

from __future__ import annotations

from typing import Any

import numpy as np

from askgraph.priors.base import Precision
from askgraph.priors.device import Weights, compiled, cupy
from askgraph.priors.noise import EXTRA, FLAT, ORDINARY, Field, Flat
from askgraph.types import AnyArray, BoolArray

THREADS = 256
SOURCE = r"""
typedef unsigned long long word;

__device__ __forceinline__ word mixed(word x, word part) {  // a round of splitmix64
  x = x * 0x9E3779B97F4A7C15ull + part + 1ull;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
  return x ^ (x >> 31);
}

extern "C" __global__ void signs(const long long n, const int k, const word seed, const int start, float* out) {
  const long long e = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (e >= n * k) return;
  const word i = e / k, column = start + e % k, bits = mixed(mixed(seed + column / 64, i), i);
  out[e] = (bits >> column % 64) & 1ull ? 1.0f : -1.0f;
}

extern "C" __global__ void edges(
    const long long n, const int k, const int start, const long long* first, const int* node,
    const double* weight, float* out) {
  const long long e = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (e >= n * k) return;
  const long long i = e / k;
  const word column = start + e % k;
  float sum = 0.0f;
  for (long long t = first[i]; t < first[i + 1]; ++t) {
    const long long j = node[t];
    const word bits = mixed(mixed(column / 64, min(i, j)), max(i, j));
    const float root = (float)sqrt(weight[t]);
    sum += ((bits >> column % 64) & 1ull) == (word)(i < j) ? root : -root;
  }
  out[e] += sum;
}
"""


def signs(n: int, columns: slice, seed: int) -> Any:
    """A sign a node, some columns of endlessly many."""
    out = cupy().empty((n, columns.stop - columns.start), np.float32)
    _launch("signs", out, np.uint64(seed), np.int32(columns.start))
    return out


def _launch(name: str, out: Any, *more: Any) -> None:
    sizes = np.int64(len(out)), np.int32(out.shape[1])
    compiled(SOURCE, name)((-(-out.size // THREADS),), (THREADS,), (*sizes, *more, out))


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
