// The noise of probes, hashed as it is added up.
typedef unsigned long long word;

__device__ __forceinline__ word mixed(word x, word part) {  // a round of splitmix64
  x = x * 0x9E3779B97F4A7C15ull + part + 1ull;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
  return x ^ (x >> 31);
}

__device__ __forceinline__ int sign_at(word seed, word i, word column) {
  const word bits = mixed(mixed(seed + column / 64, i), i);
  return (bits >> column % 64) & 1ull ? 1 : -1;
}

extern "C" __global__ void signs(const long long n, const int k, const word seed, const int start, float* out) {
  const long long e = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (e < n * k) out[e] = sign_at(seed, e / k, start + e % k);
}

extern "C" __global__ void sum_signs(
    const long long n, const int k, const word seed, const int start, const int* part, int* sums, float* out) {
  // integers: the sums are the same in any order
  const long long e = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (e >= n * k) return;
  const int sign = sign_at(seed, e / k, start + e % k), group = part[e / k];
  out[e] = sign;
  if (group >= 0) atomicAdd(&sums[group * (long long)k + e % k], sign);
}

extern "C" __global__ void center(
    const long long n, const int k, const int* part, const bool* free, const float* mean, float* out) {
  const long long e = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (e >= n * k) return;
  const int group = part[e / k];
  out[e] = group >= 0 && free[e / k] ? out[e] - mean[group * (long long)k + e % k] : 0.0f;
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
