// The utilities that look ahead, one thread per candidate; lookahead_cuda.py compiles this file for each UTILITY and number of classes C.
#define TIE 1e-9
#define FLOOR 1e-12

struct Node {  // j
  double h[C];
  double more[C];  // ln p for the divergence
  double reach, variance;
  double top;  // the highest vote
};

__device__ __forceinline__ double logistic(double x) { return fmin(x, 0.0) - log1p(exp(-fabs(x))); }

__device__ __forceinline__ double risk(const Node& j, const double* own, const double* p, double rest, double G, double R) {
  double best = -1e300, top = 0.0;
  #pragma unroll
  for (int c = 0; c < C; ++c) best = fmax(best, j.h[c] - own[c] * R);
  #pragma unroll
  for (int y = 0; y < C; ++y) top += p[y] * fmax(j.h[y] + (1.0 - own[y]) * R, best);
  const double H = j.reach + rest * R;
  return 1.0 - (2.0 * top + 1.0 - H) / (C + (2 - C) * H);
}

__device__ __forceinline__ double flips(const Node& j, const double* own, const double* p, double rest, double G, double R) {
  double base[C], best = -1e300, sum = 0.0;
  #pragma unroll
  for (int c = 0; c < C; ++c) { base[c] = j.h[c] - own[c] * R; best = fmax(best, base[c]); }
  int before = 0, without = 0, common = 0;  // classes in the lead now, when the answer is of none of them, and in both
  #pragma unroll
  for (int c = 0; c < C; ++c) {
    const bool now = j.h[c] >= j.top - TIE, rival = base[c] >= best - TIE;
    before += now;
    without += rival;
    common += now && rival;
  }
  #pragma unroll
  for (int y = 0; y < C; ++y) {
    const double lead = base[y] + R - best;
    const bool now = j.h[y] >= j.top - TIE, joins = lead >= -TIE && base[y] < best - TIE;
    const int both = lead > TIE ? now : common + (joins && now), after = lead > TIE ? 1 : without + joins;
    if (both < before || both < after) sum += p[y] * (1.0 - both / (double)(before + after - both));
  }
  return sum;
}

__device__ __forceinline__ double divergence(
    const Node& j, const double* own, const double* p, double rest, double G, double R) {
  const double H = j.reach + rest * R, share = 2.0 / (C + (2 - C) * H), half = (1.0 - H) / 2;
  double sum = 0.0, certain = 0.0;
  #pragma unroll
  for (int c = 0; c < C; ++c) certain += p[c];
  #pragma unroll
  for (int c = 0; c < C; ++c) {
    const double if_not = fmax(j.h[c] - own[c] * R + half, 0.0) * share, if_so = if_not + R * share;
    sum += (certain - p[c]) * if_not * (log(fmax(if_not, FLOOR)) - j.more[c]);
    sum += p[c] * if_so * (log(fmax(if_so, FLOOR)) - j.more[c]);
  }
  return sum;
}

__device__ __forceinline__ double two_step_risk(
    const Node& j, const double* own, const double* p, double rest, double G, double R) {
  const double H = j.reach + rest * R;
  const double gain = 2.0 * BETA / fmax(j.variance - G * R, 1e-12 * fmax(j.variance, 1e-12));
  double best = -1e300, odds[C], total = 0.0, sum = 0.0;
  #pragma unroll
  for (int c = 0; c < C; ++c) best = fmax(best, j.h[c] - own[c] * R);
  const double first = logistic(gain * (2.0 * best - H));
  #pragma unroll
  for (int c = 0; c < C; ++c) {
    odds[c] = exp(logistic(gain * (2.0 * (j.h[c] - own[c] * R) - H)) - first);
    total += odds[c];
  }
  #pragma unroll
  for (int y = 0; y < C; ++y) {
    const double answered = logistic(gain * (2.0 * (j.h[y] + (1.0 - own[y]) * R) - H));
    const double top = fmax(answered, first);
    sum += p[y] * (1.0 - 1.0 / ((total - odds[y]) * exp(first - top) + exp(answered - top)));
  }
  return sum;
}

extern "C" __global__ void __launch_bounds__(THREADS) ahead(
    const int n, const int m, const double* G, const double* scale, const long long* rows, const double* mine,
    const double* chances, const double* votes, const double* logs, const double* top, const double* variance,
    const bool* labeled, double* out) {
  __shared__ Node tile[TILE];
  __shared__ bool counted[TILE];
  const int i = blockIdx.x * THREADS + threadIdx.x, k = i < m ? i : m - 1;
  const long long self = rows[k];
  const double inverse = 1.0 / scale[k];
  double own[C], p[C], rest = 1.0, total = 0.0;
  #pragma unroll
  for (int c = 0; c < C; ++c) {
    own[c] = mine[k * (long long)C + c];
    p[c] = chances[k * (long long)C + c];
    rest -= own[c];
  }
  const int part = (n + gridDim.y - 1) / gridDim.y, begin = blockIdx.y * part, end = min(n, begin + part);
  for (int start = begin; start < end; start += TILE) {
    const int size = min(TILE, end - start);
    __syncthreads();
    for (int t = threadIdx.x; t < size; t += THREADS) {
      const int j = start + t;
      double reach = 0.0;
      for (int c = 0; c < C; ++c) {
        tile[t].h[c] = votes[j * (long long)C + c];
        tile[t].more[c] = logs[j * (long long)C + c];
        reach += tile[t].h[c];
      }
      tile[t].reach = reach;
      tile[t].variance = variance[j];
      tile[t].top = top[j];
      counted[t] = !labeled[j];
    }
    __syncthreads();
    for (int t = 0; t < size; ++t) {
      if (!counted[t]) continue;
      const double g = fmax(G[(start + t) * (long long)m + k], 0.0);
      const double value = UTILITY(tile[t], own, p, rest, g, g * inverse);
      if (start + t != self) total += value;
    }
  }
  if (i < m) out[blockIdx.y * (long long)m + i] = total;
}
