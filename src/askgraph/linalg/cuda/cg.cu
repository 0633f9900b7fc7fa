// Conjugate gradients over K columns, all steps in one launch; cg.py compiles it for each REAL, K and VEC.
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
  double bend[1][K], state[2][K];  // rᵀz of the coarse levels or pᵀQp; rᵀD⁻¹r and rᵀr
  double goal[K], slope[K];  // slope is rᵀz
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
struct Coarse {  // the coarse levels, their nodes numbered one after another
  int levels;  // 0: the diagonal is the preconditioner
  const int* level;  // level k is level[k]:level[k + 1]
  const int* first;
  const int* node;
  const real* weight;
  const real* excess;
  const real* inverse;  // of the diagonal; 0 at nodes that another level solves
  const int* child;  // node a stands for child[a]:end[a] one level below
  const int* end;
  const int* group;  // the coarse node of each fine node, padded like a column
  const int* parent;  // the node one level above, for each coarse node
  int size;  // of the dense inverse on the last level
  const real* dense;
  const int* part;  // the component of each node of the last level
  const real* total;  // 1 / (1ᵀQ1) of that component
  pack* low;  // the residual
  pack* pre;  // the correction on the way down
  pack* out;  // the correction
};

#define TEAM 8  // threads of an aggregate
static_assert(TEAM >= LANES, "a team has at least one row");

template <int N> __device__ __forceinline__ void add_rows(pack& sum) {  // over N threads, lanes apart
  #pragma unroll
  for (int s = N / 2; s >= LANES; s /= 2)
    for (int v = 0; v < VEC; ++v) sum.v[v] += __shfl_xor_sync(0xffffffffu, sum.v[v], s);
}

__device__ __forceinline__ pack guess(const Coarse& C, int i, int lane) {  // corrected from above, before smoothing
  const pack mine = C.pre[i * (long long)LANES + lane], above = C.out[C.parent[i] * (long long)LANES + lane];
  pack value;
  for (int v = 0; v < VEC; ++v) value.v[v] = mine.v[v] + (real)OVERSHOOT * above.v[v];
  return value;
}

// level 0 and up: the residual of the children, summed; then a step of damped Jacobi from zero
__device__ __forceinline__ void descend(const Coarse& C, int k, const pack* r) {
  const int lane = threadIdx.x % LANES, row = threadIdx.x % TEAM / LANES, rows = TEAM / LANES;
  const int mine = (blockIdx.x * THREADS + threadIdx.x) / TEAM, begin = C.level[k], count = C.level[k + 1] - begin;
  for (int t = mine; t - mine % (32 / TEAM) < count; t += gridDim.x * (THREADS / TEAM)) {  // warps stay together
    const int a = begin + t;
    pack sum = {};
    for (int i = t < count ? C.child[a] + row : 0, end = t < count ? C.end[a] : 0; i < end; i += rows) {
      if (k == 0) {
        const pack left = r[i * (long long)LANES + lane];
        for (int v = 0; v < VEC; ++v) sum.v[v] += left.v[v];
        continue;
      }
      const pack own = C.pre[i * (long long)LANES + lane], left = C.low[i * (long long)LANES + lane];
      for (int v = 0; v < VEC; ++v) sum.v[v] += left.v[v] - C.excess[i] * own.v[v];
      for (int u = C.first[i]; u < C.first[i + 1]; ++u) {
        const pack other = C.pre[C.node[u] * (long long)LANES + lane];
        for (int v = 0; v < VEC; ++v) sum.v[v] -= C.weight[u] * (own.v[v] - other.v[v]);
      }
    }
    add_rows<TEAM>(sum);
    if (t < count && row == 0) {
      C.low[a * (long long)LANES + lane] = sum;
      for (int v = 0; v < VEC; ++v) sum.v[v] *= (real)DAMPING * C.inverse[a];
      C.pre[a * (long long)LANES + lane] = sum;
    }
  }
}

// the last level: a dense inverse, and the constant of every component
__device__ __forceinline__ void solve_last(const Coarse& C, double (&dot)[1][VEC]) {
  const int lane = threadIdx.x % LANES, begin = C.level[C.levels - 1], count = C.level[C.levels] - begin;
  const pack* low = C.low + begin * (long long)LANES;
  for (int i = (blockIdx.x * THREADS + threadIdx.x) / 32; i < count; i += gridDim.x * (THREADS / 32)) {
    pack sum = {};
    double flat[VEC] = {};
    for (int j = i < C.size ? threadIdx.x % 32 / LANES : C.size; j < C.size; j += 32 / LANES) {
      const real entry = C.dense[i * (long long)C.size + j];
      const pack left = low[j * (long long)LANES + lane];
      const bool same = C.part[j] == C.part[i];
      for (int v = 0; v < VEC; ++v) {
        sum.v[v] += entry * left.v[v];
        if (same) flat[v] += left.v[v];
      }
    }
    add_rows<32>(sum);
    for (int s = 16; s >= LANES; s /= 2)
      for (int v = 0; v < VEC; ++v) flat[v] += __shfl_xor_sync(0xffffffffu, flat[v], s);
    if (threadIdx.x % 32 >= LANES) continue;
    const pack left = low[i * (long long)LANES + lane];
    for (int v = 0; v < VEC; ++v) {
      sum.v[v] = i < C.size ? sum.v[v] + (real)(C.total[i] * flat[v]) : C.inverse[begin + i] * left.v[v];
      if (C.levels == 1) dot[0][v] += (double)left.v[v] * sum.v[v];
    }
    C.out[(begin + i) * (long long)LANES + lane] = sum;
  }
}

// the correction from above, then a step of damped Jacobi; dot is this thread's part of rᵀz on the first coarse level
__device__ __forceinline__ void ascend(const Coarse& C, int k, double (&dot)[1][VEC]) {
  const int begin = C.level[k], lane = threadIdx.x % LANES;
  const long long size = (C.level[k + 1] - begin) * (long long)LANES, stride = (long long)gridDim.x * THREADS;
  for (long long e = blockIdx.x * (long long)THREADS + threadIdx.x; e < size; e += stride) {
    const int i = begin + (int)(e / LANES);
    const pack own = guess(C, i, lane), low = C.low[i * (long long)LANES + lane];
    pack left;
    for (int v = 0; v < VEC; ++v) left.v[v] = low.v[v] - C.excess[i] * own.v[v];
    for (int u = C.first[i]; u < C.first[i + 1]; ++u) {
      const pack other = guess(C, C.node[u], lane);
      for (int v = 0; v < VEC; ++v) left.v[v] -= C.weight[u] * (own.v[v] - other.v[v]);
    }
    pack value;
    for (int v = 0; v < VEC; ++v) {
      value.v[v] = own.v[v] + (real)DAMPING * C.inverse[i] * left.v[v];
      if (k == 0) dot[0][v] += (double)low.v[v] * value.v[v];
    }
    C.out[i * (long long)LANES + lane] = value;
  }
}

// p += P out, on free rows
__device__ __forceinline__ void add_coarse(quad& along, const Coarse& C, long long e, const real* inverse) {
#if K == 1
  for (int v = 0; v < WIDE; ++v)
    if (((const quad*)inverse)[e].v[v] != 0) along.v[v] += ((const real*)C.out)[C.group[e * WIDE + v]];
#else
  if (inverse[e / LANES] == 0) return;
  const quad more = ((const quad*)C.out)[C.group[e / LANES] * (long long)LANES + e % LANES];
  for (int v = 0; v < WIDE; ++v) along.v[v] += more.v[v];
#endif
}

// a symmetric V-cycle: out ≈ (Pᵀ Q P)⁻¹ Pᵀ r on the first coarse level
__device__ __forceinline__ void cycle(const Coarse& C, const pack* r, double (&dot)[1][VEC], unsigned* gate) {
  for (int k = 0; k < C.levels; ++k) {
    descend(C, k, r);
    meet(gate);
  }
  solve_last(C, dot);
  for (int k = C.levels - 2; k >= 0; --k) {
    meet(gate);
    ascend(C, k, dot);
  }
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) iterate(
    MATRIX, const int levels, const int* level, const int* coarse_first, const int* coarse_node,
    const real* coarse_weight, const real* excess, const real* coarse_inverse, const int* child, const int* end,
    const int* group, const int* parent, const int dense_size, const real* dense, const int* part, const real* total,
    pack* low, pack* pre, pack* out, const double* goals, const int limit, quad* __restrict__ x, quad* __restrict__ r,
    quad* __restrict__ p, quad* __restrict__ q, double* partial, unsigned* gate, int* taken) {
  __shared__ Room room;
  const Matrix Q = {n, longs, longest, first, node, weight, ridge, inverse, slot, slice, slice_node, slice_weight};
  const Coarse C = {levels, level,  coarse_first, coarse_node, coarse_weight, excess, coarse_inverse, child, end,
                    group,  parent, dense_size,   dense,       part,          total,  low,            pre,   out};
  const long long size = QUADS, stride = (long long)gridDim.x * THREADS;
  const long long start = blockIdx.x * (long long)THREADS + threadIdx.x;
  double* state = partial + gridDim.x * K;
  double a[WIDE] = {}, b[WIDE] = {};
  for (long long e = start; e < size; e += stride) {
    INVERSE(e);
    const quad left = r[e];
    for (int v = 0; v < WIDE; ++v) {
      a[v] += (double)(left.v[v] * left.v[v] * INVERTED(v));
      b[v] += (double)(left.v[v] * left.v[v]);
    }
  }
  if (threadIdx.x < K) room.goal[threadIdx.x] = goals[threadIdx.x];
  leave_wide(a, b, room, state);
  meet(gate);
  collect<2>(state, room, room.state);
  int step = 0;
  for (; step < limit; ++step) {
    if (!__syncthreads_or(threadIdx.x < K && room.state[1][threadIdx.x % K] > room.goal[threadIdx.x % K])) break;
    double dot[1][VEC] = {};
    if (levels) {
      cycle(C, (const pack*)r, dot, gate);
      leave<1>(dot, room, partial);
      meet(gate);
      collect<1>(partial, room, room.bend);
    }
    if (threadIdx.x < K) {
      const int c = threadIdx.x;
      const double slope = room.state[0][c] + (levels ? room.bend[0][c] : 0.0);
      room.beta[c] = step > 0 && room.slope[c] > 0.0 ? (real)(slope / room.slope[c]) : (real)0;
      room.slope[c] = slope;
    }
    __syncthreads();
    real alpha[WIDE], beta[WIDE];
    for (int v = 0; v < WIDE; ++v) beta[v] = room.beta[COLUMN(v)];
    #pragma unroll 2
    for (long long e = start; e < size; e += stride) {
      INVERSE(e);
      const quad left = r[e];
      quad along = p[e];
      for (int v = 0; v < WIDE; ++v) along.v[v] = INVERTED(v) * left.v[v] + beta[v] * along.v[v];
      if (levels) add_coarse(along, C, e, inverse);
      p[e] = along;
    }
    meet(gate);
    times(Q, (const pack*)p, (pack*)q, dot, room);
    leave<1>(dot, room, partial);
    meet(gate);
    collect<1>(partial, room, room.bend);
    if (threadIdx.x < K) {
      const int c = threadIdx.x;
      if (!(room.bend[0][c] > 0.0)) room.goal[c] = 1e300;  // rounding is all that is left of this column
      room.alpha[c] = room.state[1][c] > room.goal[c] ? (real)(room.slope[c] / room.bend[0][c]) : (real)0;
    }
    __syncthreads();
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
    collect<2>(state, room, room.state);
  }
  if (start == 0) *taken = step;
}
#endif
