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

THREADS = 512
LONG = 512  # neighbors from which a whole thread block works on a row
STEPS, ROUNDS = 5_000, 12
PART = 4_096  # rows that a thread block sums
NARROW = 2e-5  # the least residual that a round in float32 aims at, relative to its start
WIDTHS = (1, 4, 8, 16, 32)
EPS = float(np.finfo(np.float64).eps)

SOURCE = r"""
#define SHARE (THREADS / K)
typedef REAL real;

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

__device__ __forceinline__ double column_sum(double mine, double* buffer) {  // over threads of the same column
  buffer[threadIdx.x] = mine;
  __syncthreads();
  for (int s = THREADS / 2; s >= K; s /= 2) {
    if (threadIdx.x < s) buffer[threadIdx.x] += buffer[threadIdx.x + s];
    __syncthreads();
  }
  const double sum = buffer[threadIdx.x % K];
  __syncthreads();
  return sum;
}

__device__ __forceinline__ void leave(double mine, double* buffer, double* partial) {
  const double sum = column_sum(mine, buffer);
  if (threadIdx.x < K) partial[blockIdx.x * K + threadIdx.x] = sum;
}

__device__ __forceinline__ double collected(const double* partial, double* buffer) {
  double sum = 0.0;
  for (int b = threadIdx.x / K; b < gridDim.x; b += SHARE) sum += __ldcg(partial + b * K + threadIdx.x % K);
  return column_sum(sum, buffer);
}

struct Matrix {
  long long n;
  int longs;
  const int* longest;
  const long long* first;
  const int* node;
  const real* weight;
  const real* ridge;
  const real* inverse;
};

#if K == 1
#define LANES 8
#else
#define LANES K
#endif

// (Q x)_i for the column of this thread; with one column its neighbors are shared among lanes
__device__ __forceinline__ real row_times(const Matrix& Q, long long i, const real* x, int lane) {
#if K == 1
  const real own = x[i];
  real sum = 0;
  for (long long t = Q.first[i] + lane; t < Q.first[i + 1]; t += LANES) sum += Q.weight[t] * (own - x[Q.node[t]]);
  for (int s = LANES / 2; s > 0; s /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, s);
#else
  const real own = x[i * K + lane];
  real sum = 0;
  long long t = Q.first[i];
  const long long end = Q.first[i + 1];
  for (; t + 4 <= end; t += 4) {
    const int a = Q.node[t], b = Q.node[t + 1], c = Q.node[t + 2], d = Q.node[t + 3];
    const real xa = x[a * (long long)K + lane], xb = x[b * (long long)K + lane];
    const real xc = x[c * (long long)K + lane], xd = x[d * (long long)K + lane];
    sum += Q.weight[t] * (own - xa) + Q.weight[t + 1] * (own - xb);
    sum += Q.weight[t + 2] * (own - xc) + Q.weight[t + 3] * (own - xd);
  }
  for (; t < end; ++t) sum += Q.weight[t] * (own - x[Q.node[t] * (long long)K + lane]);
#endif
  return sum + Q.ridge[i] * own;
}

// y = Q x on free rows, 0 elsewhere; returns this thread's part of xᵀQx
__device__ double times(const Matrix& Q, const real* x, real* y, double* buffer) {
  double dot = 0.0;
  const int lane = threadIdx.x % LANES;
  const long long groups = (long long)gridDim.x * (THREADS / LANES);
  const long long rounds = (Q.n + groups - 1) / groups;
  const long long mine = blockIdx.x * (long long)(THREADS / LANES) + threadIdx.x / LANES;
  for (long long k = 0; k < rounds; ++k) {  // as many for every thread, since lanes speak with each other
    const long long i = k * groups + mine;
    const bool here = i < Q.n && Q.first[i + 1] - Q.first[i] < LONG && Q.inverse[i] != 0;
#if K == 1
    if (!__any_sync(0xffffffffu, here)) { if (i < Q.n && lane == 0 && Q.inverse[i] == 0) y[i] = 0; continue; }
    const real value = row_times(Q, here ? i : 0, x, here ? lane : (1 << 28));
    if (here && lane == 0) { y[i] = value; dot += (double)x[i] * value; }
    if (i < Q.n && lane == 0 && Q.inverse[i] == 0) y[i] = 0;
#else
    if (here) {
      const real value = row_times(Q, i, x, lane);
      y[i * K + lane] = value;
      dot += (double)x[i * K + lane] * value;
    } else if (i < Q.n && Q.inverse[i] == 0) y[i * K + lane] = 0;
#endif
  }
  for (int h = blockIdx.x; h < Q.longs; h += gridDim.x) {  // rows with many neighbors, a thread block each
    const long long i = Q.longest[h];
    const int c = threadIdx.x % K;
    if (Q.inverse[i] == 0) continue;
    const real own = x[i * K + c];
    double sum = 0.0;
    for (long long t = Q.first[i] + threadIdx.x / K; t < Q.first[i + 1]; t += SHARE)
      sum += (double)(Q.weight[t] * (own - x[Q.node[t] * (long long)K + c]));
    const real value = (real)(column_sum(sum, buffer) + (double)(Q.ridge[i] * own));
    if (threadIdx.x < K) { y[i * K + c] = value; dot += (double)own * value; }
  }
  return dot;
}

extern "C" __global__ void __launch_bounds__(THREADS) multiplied(
    const long long n, const int longs, const int* longest, const long long* first, const int* node, const real* weight,
    const real* ridge, const real* inverse, const real* x, real* y) {
  __shared__ double buffer[THREADS];
  const Matrix Q = {n, longs, longest, first, node, weight, ridge, inverse};
  times(Q, x, y, buffer);
}

extern "C" __global__ void __launch_bounds__(THREADS) iterate(
    const long long n, const int longs, const int* longest, const long long* first, const int* node, const real* weight,
    const real* ridge, const real* inverse, const double* goals, const int limit, real* x, real* r, real* p, real* q,
    double* partial, unsigned* gate, int* taken) {
  __shared__ double buffer[THREADS];
  const Matrix Q = {n, longs, longest, first, node, weight, ridge, inverse};
  const int c = threadIdx.x % K;
  const long long size = n * K, stride = (long long)gridDim.x * THREADS;
  const long long start = blockIdx.x * (long long)THREADS + threadIdx.x;
  double *bend = partial, *level = partial + gridDim.x * K, *square = partial + 2 * gridDim.x * K;
  double goal = goals[c], a = 0.0, b = 0.0;
  for (long long e = start; e < size; e += stride) {
    const real left = r[e], z = Q.inverse[e / K] * left;
    p[e] = z;
    a += (double)left * z;
    b += (double)left * left;
  }
  leave(a, buffer, level);
  leave(b, buffer, square);
  meet(gate);
  double rho = collected(level, buffer), rest = collected(square, buffer);
  int step = 0;
  for (; step < limit; ++step) {
    if (!__syncthreads_or(rest > goal)) break;  // the same in every thread block
    leave(times(Q, p, q, buffer), buffer, bend);
    meet(gate);
    const double pq = collected(bend, buffer);
    if (!(pq > 0.0)) goal = 1e300;  // rounding is all that is left of this column
    const real alpha = rest > goal ? (real)(rho / pq) : (real)0;
    a = b = 0.0;
    for (long long e = start; e < size; e += stride) {
      const real left = r[e] - alpha * q[e];
      x[e] += alpha * p[e];
      r[e] = left;
      a += (double)left * (Q.inverse[e / K] * left);
      b += (double)left * left;
    }
    leave(a, buffer, level);
    leave(b, buffer, square);
    meet(gate);
    const double now = collected(level, buffer);
    rest = collected(square, buffer);
    const real beta = rho > 0.0 ? (real)(now / rho) : (real)0;
    rho = now;
    for (long long e = start; e < size; e += stride) p[e] = Q.inverse[e / K] * r[e] + beta * p[e];
    meet(gate);
  }
  if (start == 0) *taken = step;
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
        kernel((blocks,), (THREADS,), (*self._matrix(np.float64), wide, out))
        return out[:, :k]

    def _iterated(self, r: Any, goal: Any) -> tuple[Any, int]:
        """Q d ≈ r, and the steps that took."""
        cp, k, kind = cupy(), r.shape[1], r.dtype
        width = _width(k)
        block, goals = cp.zeros((self._at.n, width), kind), cp.full(width, np.inf)
        block[:, :k], goals[:k] = r, goal**2
        x, p, q = (cp.zeros_like(block) for _ in range(3))
        kernel, blocks = _kernel("iterate", "float" if kind == np.float32 else "double", width)
        partial, gate, taken = cp.empty(3 * blocks * width), cp.zeros(1, np.uint32), cp.zeros(1, np.int32)
        arrays = goals, np.int32(STEPS), x, block, p, q, partial, gate, taken
        kernel((blocks,), (THREADS,), (*self._matrix(kind), *arrays))
        return x[:, :k], int(taken[0])

    def _matrix(self, kind: Any) -> tuple[Any, ...]:
        at, wide = self._at, kind == np.float64
        ridge, inverse = (self._ridge, self._inverse) if wide else self._narrowed
        weight = at.wide if wide else at.narrow
        return np.int64(at.n), np.int32(at.longest.size), at.longest, at.first, at.node, weight, ridge, inverse

    @cached_property
    def _narrowed(self) -> tuple[Any, Any]:
        return self._ridge.astype(np.float32), self._inverse.astype(np.float32)


def _kernel(name: str, real: str, width: int) -> tuple[Any, int]:
    """A kernel and how many of its thread blocks the device runs at once."""
    cp = cupy()
    options = f"-DREAL={real}", f"-DK={width}", f"-DTHREADS={THREADS}", f"-DLONG={LONG}"
    kernel = compiled(SOURCE, name, options)
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
