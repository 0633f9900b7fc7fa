r"""Q X = B on a GPU: conjugate gradients over blocks of columns, all steps of a solve in one launch.

As many thread blocks run as fit the device at once; they meet at a barrier between the parts of a step, and sums over rows are
made in the same order every time. Q x is taken by differences, :math:`\sum_j w_{ij}(x_i - x_j) + r_i x_i`, so that a small ridge
is not rounded away; nodes whose label was folded in are left out by their inverse diagonal of 0. The preconditioner is the
diagonal; the constant of every component is made exact before each round.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import reverse_cuthill_mckee

from askgraph.errors import ConvergenceError
from askgraph.priors.device import compiled, cupy
from askgraph.types import AnyArray, Array, IntArray

THREADS, BLOCKS = 512, 2  # of a thread block, and how many of them a multiprocessor should hold
LONG = 256  # neighbors from which a whole thread block works on a row
STEPS, ROUNDS = 5_000, 12
WINDOW = 1_024  # rows among which those of about as many neighbors are put side by side
PART = 4_096  # rows that a thread block sums
NARROW = 2e-5  # the least residual that a round in float32 aims at, relative to its start
WIDTHS = (1, 8, 32)  # columns of a block; 64 would be 7 % faster, and take twice the memory
EPS = float(np.finfo(np.float64).eps)

SOURCE = r"""
#define LANES (K / VEC)  // threads of a row, VEC columns each
typedef REAL real;
struct __align__(sizeof(real) * VEC) pack { real v[VEC]; };

// vectors are gone through by so many numbers at once: columns of a row, or rows of the only column
#define WIDE (16 / sizeof(real))
struct __align__(16) quad { real v[WIDE]; };
#if K == 1
#define QUADS ((n + WIDE - 1) / WIDE)
#define INVERSE(e) const quad inverted = ((const quad*)inverse)[e]
#define INVERTED(v) inverted.v[v]
#define COLUMN(v) 0
#else
#define QUADS (n * LANES)
#define INVERSE(e) const real inverted = inverse[(e) / LANES]
#define INVERTED(v) inverted
#define COLUMN(v) ((threadIdx.x % LANES) * VEC + (v))
#endif

__device__ __forceinline__ void meet(unsigned* gate) {  // all thread blocks wait for each other
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    const unsigned ticket = atomicAdd(gate, 1u);
    const unsigned full = (ticket / gridDim.x + 1u) * gridDim.x;
    while (*(volatile unsigned*)gate < full) {}
    __threadfence();
  }
  __syncthreads();
}

struct Room {  // of a thread block
  double each[2][THREADS / 32][K], sums[2][THREADS / 32][K];
  double bend[1][K], state[2][K];  // pᵀQp; rᵀD⁻¹r and rᵀr
  double goal[K];
  real alpha[K], beta[K];
};

// N sums of this block over its threads, a column each
template <int N> __device__ __forceinline__ void leave(double (&mine)[N][VEC], Room& room, double* partial) {
  #pragma unroll
  for (int m = 0; m < N; ++m)
    for (int v = 0; v < VEC; ++v) {
      for (int s = 16; s >= LANES; s /= 2) mine[m][v] += __shfl_xor_sync(0xffffffffu, mine[m][v], s);
      if (threadIdx.x % 32 < LANES) room.each[m][threadIdx.x / 32][(threadIdx.x % LANES) * VEC + v] = mine[m][v];
    }
  __syncthreads();
  if (threadIdx.x < N * K) {
    const int m = threadIdx.x / K, c = threadIdx.x % K;
    double sum = 0.0;
    for (int w = 0; w < THREADS / 32; ++w) sum += room.each[m][w][c];
    partial[(m * gridDim.x + blockIdx.x) * K + c] = sum;
  }
}

__device__ __forceinline__ void leave_wide(double (&a)[WIDE], double (&b)[WIDE], Room& room, double* partial) {
  double both[2][VEC] = {};
  for (int v = 0; v < WIDE; ++v) {
    both[0][v % VEC] += a[v];
    both[1][v % VEC] += b[v];
  }
  leave<2>(both, room, partial);
}

// the sums of all blocks, in the same order every time
template <int N> __device__ __forceinline__ void collect(const double* partial, Room& room, double (&into)[N][K]) {
  const int c = threadIdx.x % K;
  #pragma unroll
  for (int m = 0; m < N; ++m) {
    double sum = 0.0;
    for (int b = threadIdx.x / K; b < gridDim.x; b += THREADS / K) sum += __ldcg(partial + (m * gridDim.x + b) * K + c);
    for (int s = 16; s >= K; s /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, s);
    if (K >= 32 || threadIdx.x % 32 < K) room.sums[m][threadIdx.x / 32][threadIdx.x % 32 % K] = sum;
  }
  __syncthreads();
  if (threadIdx.x < N * K) {
    double sum = 0.0;
    for (int w = 0; w < THREADS / 32; ++w) sum += room.sums[threadIdx.x / K][w][c];
    into[threadIdx.x / K][c] = sum;
  }
  __syncthreads();
}

struct Matrix {
  long long n;
  int longs;
  const int* longest;
  const long long* first;
  const int* node;
  const real* weight;
  const real* ridge;
  const real* inverse;  // of the diagonal, 0 where a label was folded in
  const int* slot;  // one column only: rows by slots, 32 to a slice, and their entries slice by slice
  const long long* slice;
  const int* slice_node;
  const real* slice_weight;
};

__device__ __forceinline__ pack row_times(const Matrix& Q, long long i, const pack* x, const pack& own) {
  const int lane = threadIdx.x % LANES;
  pack sum;
  #pragma unroll
  for (int v = 0; v < VEC; ++v) sum.v[v] = Q.ridge[i] * own.v[v];
  long long t = Q.first[i];
  const long long end = Q.first[i + 1];
  for (; t + 4 <= end; t += 4) {
    pack other[4];
    real w[4];
    #pragma unroll
    for (int u = 0; u < 4; ++u) { w[u] = Q.weight[t + u]; other[u] = x[Q.node[t + u] * (long long)LANES + lane]; }
    #pragma unroll
    for (int u = 0; u < 4; ++u)
      for (int v = 0; v < VEC; ++v) sum.v[v] += w[u] * (own.v[v] - other[u].v[v]);
  }
  for (; t < end; ++t) {
    const real w = Q.weight[t];
    const pack other = x[Q.node[t] * (long long)LANES + lane];
    for (int v = 0; v < VEC; ++v) sum.v[v] += w * (own.v[v] - other.v[v]);
  }
  return sum;
}

// y = Q x on free rows, 0 elsewhere; dot is this thread's part of xᵀQx
__device__ void times(const Matrix& Q, const pack* x, pack* y, double (&dots)[1][VEC], Room& room) {
  double(&dot)[VEC] = dots[0];
  for (int v = 0; v < VEC; ++v) dot[v] = 0.0;
  const long long stride = (long long)gridDim.x * THREADS;
#if SLICED
  const real* from = (const real*)x;
  for (long long s = blockIdx.x * (long long)THREADS + threadIdx.x; s < (Q.n + 31) / 32 * 32; s += stride) {
    const int i = Q.slot[s];
    const long long begin = Q.slice[s / 32], end = Q.slice[s / 32 + 1];
    const bool some = i >= 0;
    const real own = some ? from[i] : 0, ridge = some ? Q.ridge[i] : 0, inverse = some ? Q.inverse[i] : 0;
    real sum = 0;
    long long t = begin + threadIdx.x % 32;
    for (; t + 96 < end; t += 128) {
      real w[4], other[4];
      int j[4];
      #pragma unroll
      for (int u = 0; u < 4; ++u) { j[u] = Q.slice_node[t + 32 * u]; w[u] = Q.slice_weight[t + 32 * u]; }
      #pragma unroll
      for (int u = 0; u < 4; ++u) other[u] = from[j[u]];
      #pragma unroll
      for (int u = 0; u < 4; ++u) sum += w[u] * (own - other[u]);
    }
    for (; t < end; t += 32) sum += Q.slice_weight[t] * (own - from[Q.slice_node[t]]);
    if (!some) continue;
    const real value = inverse != 0 ? sum + ridge * own : 0;
    ((real*)y)[i] = value;
    dot[0] += (double)own * value;
  }
#else
  for (long long e = blockIdx.x * (long long)THREADS + threadIdx.x; e < Q.n * LANES; e += stride) {
    const long long i = e / LANES;
    if (Q.first[i + 1] - Q.first[i] >= LONG) continue;
    pack value = {};
    if (Q.inverse[i] != 0) {
      const pack own = x[e];
      value = row_times(Q, i, x, own);
      for (int v = 0; v < VEC; ++v) dot[v] += (double)own.v[v] * value.v[v];
    }
    y[e] = value;
  }
#endif
  for (int h = blockIdx.x; h < Q.longs; h += gridDim.x) {  // rows with many neighbors, a thread block each
    const long long i = Q.longest[h];
    const int lane = threadIdx.x % LANES;
    const pack own = x[i * LANES + lane];
    double sum[VEC];
    for (int v = 0; v < VEC; ++v) sum[v] = 0.0;
    if (Q.inverse[i] != 0)
      for (long long t = Q.first[i] + threadIdx.x / LANES; t < Q.first[i + 1]; t += THREADS / LANES) {
        const pack other = x[Q.node[t] * (long long)LANES + lane];
        for (int v = 0; v < VEC; ++v) sum[v] += (double)(Q.weight[t] * (own.v[v] - other.v[v]));
      }
    for (int v = 0; v < VEC; ++v)
      for (int s = 16; s >= LANES; s /= 2) sum[v] += __shfl_xor_sync(0xffffffffu, sum[v], s);
    if (threadIdx.x % 32 < LANES)
      for (int v = 0; v < VEC; ++v) room.each[0][threadIdx.x / 32][lane * VEC + v] = sum[v];
    __syncthreads();
    if (threadIdx.x < LANES) {
      pack value = {};
      for (int v = 0; v < VEC; ++v) {
        double total = Q.inverse[i] != 0 ? (double)(Q.ridge[i] * own.v[v]) : 0.0;
        for (int w = 0; w < THREADS / 32; ++w) total += room.each[0][w][lane * VEC + v];
        value.v[v] = (real)total;
        dot[v] += (double)own.v[v] * value.v[v];
      }
      y[i * LANES + lane] = value;
    }
    __syncthreads();
  }
}

#define MATRIX                                                                                                        \
  const long long n, const int longs, const int* __restrict__ longest, const long long* __restrict__ first,           \
      const int* __restrict__ node, const real* __restrict__ weight, const real* __restrict__ ridge,                  \
      const real* __restrict__ inverse, const int* __restrict__ slot, const long long* __restrict__ slice,            \
      const int* __restrict__ slice_node, const real* __restrict__ slice_weight

#if !ITERATE
extern "C" __global__ void __launch_bounds__(THREADS) multiplied(MATRIX, const pack* x, pack* y) {
  __shared__ Room room;
  const Matrix Q = {n, longs, longest, first, node, weight, ridge, inverse, slot, slice, slice_node, slice_weight};
  double dot[1][VEC];
  times(Q, x, y, dot, room);
}
#else
extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) iterate(
    MATRIX, const double* goals, const int limit, quad* __restrict__ x, quad* __restrict__ r, quad* __restrict__ p,
    quad* __restrict__ q, double* partial, unsigned* gate, int* taken) {
  __shared__ Room room;
  const Matrix Q = {n, longs, longest, first, node, weight, ridge, inverse, slot, slice, slice_node, slice_weight};
  const long long size = QUADS, stride = (long long)gridDim.x * THREADS;
  const long long start = blockIdx.x * (long long)THREADS + threadIdx.x;
  double* state = partial + gridDim.x * K;
  double a[WIDE] = {}, b[WIDE] = {};
  for (long long e = start; e < size; e += stride) {
    INVERSE(e);
    const quad left = r[e];
    quad z;
    for (int v = 0; v < WIDE; ++v) {
      z.v[v] = INVERTED(v) * left.v[v];
      a[v] += (double)(left.v[v] * z.v[v]);
      b[v] += (double)(left.v[v] * left.v[v]);
    }
    p[e] = z;
  }
  if (threadIdx.x < K) room.goal[threadIdx.x] = goals[threadIdx.x];
  leave_wide(a, b, room, state);
  meet(gate);
  collect<2>(state, room, room.state);
  int step = 0;
  for (; step < limit; ++step) {
    if (!__syncthreads_or(threadIdx.x < K && room.state[1][threadIdx.x % K] > room.goal[threadIdx.x % K])) break;
    double dot[1][VEC];
    times(Q, (const pack*)p, (pack*)q, dot, room);
    leave<1>(dot, room, partial);
    meet(gate);
    collect<1>(partial, room, room.bend);
    if (threadIdx.x < K) {
      const int c = threadIdx.x;
      if (!(room.bend[0][c] > 0.0)) room.goal[c] = 1e300;  // rounding is all that is left of this column
      room.alpha[c] = room.state[1][c] > room.goal[c] ? (real)(room.state[0][c] / room.bend[0][c]) : (real)0;
    }
    __syncthreads();
    real alpha[WIDE], beta[WIDE];
    for (int v = 0; v < WIDE; ++v) { alpha[v] = room.alpha[COLUMN(v)]; a[v] = b[v] = 0.0; }
    #pragma unroll 2
    for (long long e = start; e < size; e += stride) {
      INVERSE(e);
      quad left = r[e], found = x[e];
      const quad along = p[e], moved = q[e];
      for (int v = 0; v < WIDE; ++v) {
        left.v[v] -= alpha[v] * moved.v[v];
        found.v[v] += alpha[v] * along.v[v];
        a[v] += (double)(left.v[v] * left.v[v] * INVERTED(v));
        b[v] += (double)(left.v[v] * left.v[v]);
      }
      r[e] = left;
      x[e] = found;
    }
    leave_wide(a, b, room, state);
    meet(gate);
    const double before = threadIdx.x < K ? room.state[0][threadIdx.x] : 0.0;
    collect<2>(state, room, room.state);
    if (threadIdx.x < K) room.beta[threadIdx.x] = before > 0.0 ? (real)(room.state[0][threadIdx.x] / before) : (real)0;
    __syncthreads();
    for (int v = 0; v < WIDE; ++v) beta[v] = room.beta[COLUMN(v)];
    #pragma unroll 2
    for (long long e = start; e < size; e += stride) {
      INVERSE(e);
      const quad left = r[e];
      quad along = p[e];
      for (int v = 0; v < WIDE; ++v) along.v[v] = INVERTED(v) * left.v[v] + beta[v] * along.v[v];
      p[e] = along;
    }
    meet(gate);
  }
  if (start == 0) *taken = step;
}
#endif
"""

SLICES = r"""
extern "C" __global__ void fill(
    const long long size, const int* slot, const long long* slice, const long long* first, const int* node,
    const float* weight, int* slice_node, float* slice_weight) {
  const long long s = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (s >= size) return;
  const int i = slot[s];
  const long long length = i >= 0 ? first[i + 1] - first[i] : 0;
  const long long width = (slice[s / 32 + 1] - slice[s / 32]) / 32;
  for (long long t = 0; t < width; ++t) {
    const long long at = slice[s / 32] + 32 * t + s % 32;
    slice_node[at] = t < length ? node[first[i] + t] : 0;
    slice_weight[at] = t < length ? weight[first[i] + t] : 0.0f;
  }
}
"""

SUMS = r"""
extern "C" __global__ void sums(const int k, const long long* begin, const double* x, double* out) {
  // of rows begin[part] to begin[part + 1], a thread block a part, in the same order every time
  __shared__ double buffer[256];
  const int lanes = 256 / k, c = threadIdx.x % k, lane = threadIdx.x / k;
  double sum = 0.0;
  if (lane < lanes)
    for (long long i = begin[blockIdx.x] + lane; i < begin[blockIdx.x + 1]; i += lanes) sum += x[i * k + c];
  buffer[threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.x >= k) return;
  for (int l = 1; l < lanes; ++l) sum += buffer[l * k + threadIdx.x];
  out[blockIdx.x * (long long)k + threadIdx.x] = sum;
}
"""


class Pattern:
    """W on the device, its nodes by component and near their neighbors: it does not depend on labels."""

    def __init__(self, W: csr_array, component: IntArray) -> None:
        cp, n = cupy(), W.shape[0]
        order = reverse_cuthill_mckee(W, symmetric_mode=True)
        order = order[np.argsort(component[order], kind="stable")]
        place = np.empty(n, np.int32)
        place[order] = np.arange(n, dtype=np.int32)
        W = W[order]
        self.n = n
        self.first = cp.asarray(W.indptr.astype(np.int64))
        self.node = cp.asarray(place[W.indices])
        self.wide = cp.asarray(W.data)
        self.longest = cp.asarray(np.flatnonzero(np.diff(W.indptr) >= LONG).astype(np.int32))
        self.order, self.place = cp.asarray(order.astype(np.int64)), cp.asarray(place.astype(np.int64))
        sizes = np.bincount(component)
        parts = -(-sizes // PART)
        self.parts = cp.asarray(_cut(sizes, parts))
        self.begin = cp.asarray(np.append(0, np.cumsum(parts)))
        self.component = cp.asarray(np.repeat(np.arange(sizes.size), sizes).astype(np.int32))
        self.degree = cp.asarray(np.asarray(W.sum(axis=1)).ravel())

    @cached_property
    def narrow(self) -> Any:
        """The weights in float32."""
        return self.wide.astype(np.float32)

    @cached_property
    def slices(self) -> tuple[Any, Any, Any, Any]:
        """Entries for one column in float32: 32 rows of about as many neighbors side by side, a thread a row."""
        cp, n, size = cupy(), self.n, -(-self.n // 32) * 32
        length = cp.diff(self.first)
        slot = cp.full(size, -1, np.int32)
        slot[:n] = cp.lexsort(cp.stack([-length, cp.arange(n) // WINDOW])).astype(np.int32)
        slot[:n] = cp.where(length[slot[:n]] < LONG, slot[:n], -1)  # longer rows are seen to apart
        slice_ = cp.zeros(size // 32 + 1, np.int64)
        widest = cp.where(slot >= 0, length[slot], 0).reshape(-1, 32).max(axis=1)
        slice_[1:] = cp.cumsum(32 * widest)
        node, weight = (cp.empty(max(int(slice_[-1]), 1), kind) for kind in (np.int32, np.float32))
        arrays = np.int64(size), slot, slice_, self.first, self.node, self.narrow, node, weight
        compiled(SLICES, "fill")((-(-size // THREADS),), (THREADS,), arrays)
        return slot, slice_, node, weight

    @property
    def nbytes(self) -> int:
        """What it takes on the device, both precisions."""
        return int(self.node.nbytes + 1.5 * self.wide.nbytes + 10 * self.first.nbytes)


class Solver:
    """Solves with Q = L + diag(ridge), the rows and columns of pinned nodes left out; X is 0 there."""

    width = WIDTHS[-1]  # columns that are solved together
    steps = 0  # of the last block

    def __init__(self, pattern: Pattern, ridge: Array, pinned: AnyArray) -> None:
        cp, self._at = cupy(), pattern
        self._ridge = cp.asarray(ridge)[pattern.order]
        self._free = ~cp.asarray(pinned)[pattern.order]
        self._diagonal = pattern.degree + self._ridge
        self._inverse = cp.where(self._free, 1 / self._diagonal, 0.0)
        flat = self._free.astype(np.float64)[:, None]
        total = self._by_component(self._times(flat) * flat)
        self._balance = cp.where(total > 0, 1 / cp.where(total > 0, total, 1.0), 0.0)

    def solve(self, b: Any, rtol: float) -> Any:
        """X with ‖Qx - b‖ ≤ rtol ‖b‖ for every column, checked in float64, or as near as float64 can hold x."""
        B = b.reshape(len(b), -1)
        X = cupy().empty(B.shape)
        for some in _blocks(B.shape[1]):
            X[:, some] = self._refined(self._entered(B[:, some]), rtol)[self._at.place]
        return X.reshape(b.shape)

    def rough(
        self,
        sides: Callable[[slice], Any] | Any,
        rtol: float,
        count: int = 0,
        smooth: bool = False,
        tick: Callable[[], None] = lambda: None,
        out: Any = None,
    ) -> Any:
        """The same for shortlists and probes, kept in float32; ``smooth`` gives D⁻¹W X instead."""
        cp = cupy()
        if not callable(sides):
            b, count = sides, sides.shape[1]
            sides = lambda some: b[:, some]  # noqa: E731 -- the columns of an array are sides too
        X = cp.empty((self._at.n, count), np.float32) if out is None else out
        for some in _blocks(count):
            x = self._refined(self._entered(sides(some)), rtol)
            x = (x - self._times(x) * self._inverse[:, None]) * self._free[:, None] if smooth else x
            X[:, some] = x[self._at.place]
            tick()
        return X

    def _entered(self, b: Any) -> Any:
        """Columns in the order of the pattern, 0 at pinned nodes."""
        return b[self._at.order].astype(np.float64) * self._free[:, None]

    def _refined(self, b: Any, rtol: float) -> Any:
        """Rounds of conjugate gradients on what is left, in float32 where there are several columns, until that is small."""
        cp = cupy()
        x, norm, steps = cp.zeros_like(b), self._norms(b), 0
        aim = rtol * norm
        for _ in range(ROUNDS):
            r = self._balanced(b, x)
            left = self._left(r, x, aim)
            if not (left > aim).any() or steps >= STEPS:
                break
            scale = cp.where(left > 0, left, 1.0)
            goal = cp.where(left > aim, cp.maximum(0.9 * aim / scale, NARROW), np.inf)
            d, taken = self._iterated((r / scale).astype(np.float32), goal)
            x += d * scale
            steps += taken
        if (left > aim).any():
            worst = float((left / cp.where(norm > 0, norm, 1.0)).max())
            raise ConvergenceError(
                f"conjugate gradients on the GPU stopped at a relative residual of {worst:.1e} after {steps} steps, {rtol:g} was "
                'asked for: raise delta, narrow the range of the weights, or use engine="direct"'
            )
        self.steps = steps
        return x

    def _balanced(self, b: Any, x: Any) -> Any:
        """The residual, once x is moved along the constants to where they vanish from it."""
        cp = cupy()
        r = b - self._times(x) if x.any() else b
        shift = (self._by_component(r) * self._balance)[self._at.component] * self._free[:, None]
        x += shift
        return cp.where(self._free[:, None], b - self._times(x), 0.0)

    def _left(self, r: Any, x: Any, aim: Any) -> Any:
        """‖r‖; where that is above aim, less what rounding of x explains row by row, 16 ε |Q| |x|."""
        cp = cupy()
        left = self._norms(r)
        if not ((left > aim) & (left <= aim + 64 * EPS * self._norms(self._diagonal[:, None] * x))).any():
            return left
        y = abs(x)
        explained = 16 * EPS * (2 * self._diagonal[:, None] * y - self._times(y))
        return cp.where(left > aim, self._norms(cp.maximum(abs(r) - explained, 0.0)), left)

    def _by_component(self, x: Any) -> Any:
        return _sums(_sums(x, self._at.parts), self._at.begin)

    def _norms(self, x: Any) -> Any:
        return cupy().sqrt(_sums(x * x, self._at.parts).sum(axis=0))

    def _times(self, x: Any) -> Any:
        """Q x in float64."""
        cp, k = cupy(), x.shape[1]
        width = _width(k)
        wide = x if width == k and x.flags.c_contiguous else cp.zeros((self._at.n, width))
        if wide is not x:
            wide[:, :k] = x
        out = cp.empty_like(wide)
        kernel, blocks = _kernel("multiplied", "double", width)
        kernel((blocks,), (THREADS,), (*self._matrix(np.float64, width), wide, out))
        return out[:, :k]

    def _iterated(self, r: Any, goal: Any) -> tuple[Any, int]:
        """Q d ≈ r, and the steps that took."""
        cp, k, kind = cupy(), r.shape[1], r.dtype
        width = _width(k)
        block, goals = cp.zeros((self._at.n + 3, width), kind), cp.full(width, np.inf)  # four rows are read at once
        block[:-3, :k], goals[:k] = r, goal**2
        x, p, q = (cp.zeros_like(block) for _ in range(3))
        kernel, blocks = _kernel("iterate", "float", width)
        partial, gate, taken = cp.empty(3 * blocks * width), cp.zeros(1, np.uint32), cp.zeros(1, np.int32)
        arrays = goals, np.int32(STEPS), x, block, p, q, partial, gate, taken
        kernel((blocks,), (THREADS,), (*self._matrix(kind, width), *arrays))
        return x[:-3, :k], int(taken[0])

    def _matrix(self, kind: Any, width: int) -> tuple[Any, ...]:
        at, wide = self._at, kind == np.float64
        ridge, inverse = (self._ridge, self._inverse) if wide else self._narrowed
        slices = at.slices if width == 1 and not wide else (at.longest, at.first, at.node, at.wide)  # not looked at
        weight = at.wide if wide else at.narrow
        rows = np.int64(at.n), np.int32(at.longest.size), at.longest, at.first, at.node, weight, ridge, inverse
        return *rows, *slices

    @cached_property
    def _narrowed(self) -> tuple[Any, Any]:
        return self._ridge.astype(np.float32), cupy().pad(self._inverse.astype(np.float32), (0, 3))


def _kernel(name: str, real: str, width: int) -> tuple[Any, int]:
    """A kernel and how many of its thread blocks the device runs at once."""
    cp = cupy()
    vector, sliced = 1 if width == 1 else 16 // (4 if real == "float" else 8), width == 1 and real == "float"
    sizes = {
        "K": width,
        "VEC": vector,
        "SLICED": int(sliced),
        "THREADS": THREADS,
        "LONG": LONG,
        "BLOCKS": BLOCKS,
        "ITERATE": int(name == "iterate"),
    }
    options = f"-DREAL={real}", *(f"-D{key}={size}" for key, size in sizes.items())
    kernel = compiled(SOURCE, name, options, "conjugate gradients on the GPU")
    each = cp.cuda.driver.occupancyMaxActiveBlocksPerMultiprocessor(kernel.kernel.ptr, THREADS, 0)
    return kernel, each * cp.cuda.Device().attributes["MultiProcessorCount"]


def _width(count: int) -> int:
    return next(width for width in WIDTHS if width >= count)


def _blocks(count: int) -> list[slice]:
    return [slice(at, min(at + WIDTHS[-1], count)) for at in range(0, count, WIDTHS[-1])]


def _sums(x: Any, begin: Any) -> Any:
    """Over rows from one beginning to the next."""
    cp, k = cupy(), x.shape[1]
    out = cp.empty((begin.size - 1, k))
    compiled(SUMS, "sums")((begin.size - 1,), (256,), (np.int32(k), begin, cp.ascontiguousarray(x), out))
    return out


def _cut(sizes: IntArray, parts: IntArray) -> IntArray:
    """Where parts of PART rows begin, none of them across components."""
    start = np.repeat(np.append(0, np.cumsum(sizes))[:-1], parts)
    number = np.arange(parts.sum()) - np.repeat(np.cumsum(parts) - parts, parts)
    return np.append(start + PART * number, sizes.sum())
