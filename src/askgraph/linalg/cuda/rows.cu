// Small things over rows: products with W, sums of parts, steps of refinement, entries of rows slice by slice.
extern "C" __global__ void product(
    const long long size, const int k, const long long* first, const int* node, const double* weight,
    const double* x, double* out) {
  const long long e = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (e >= size) return;
  const long long i = e / k;
  const int c = e % k;
  double sum = 0.0;
  for (long long t = first[i]; t < first[i + 1]; ++t) sum += weight[t] * x[node[t] * (long long)k + c];
  out[e] = sum;
}

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

extern "C" __global__ void move_constants(
    const long long size, const int k, const int* component, const double* move, const double* free, const double* unit,
    double* x, double* r) {
  // x += move on free rows and r -= Q move, where unit is Q times 1 on free rows
  const long long e = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (e >= size) return;
  const double by = move[component[e / k] * (long long)k + e % k];
  x[e] += by * free[e / k];
  r[e] -= by * unit[e / k];
}

extern "C" __global__ void narrow(
    const long long size, const int k, const int width, const double* r, const double* scale, float* out) {
  const long long e = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (e < size) out[e / k * width + e % k] = (float)(r[e] / scale[e % k]);
}

extern "C" __global__ void add_scaled(
    const long long size, const int k, const int width, const float* d, const double* scale, double* x) {
  const long long e = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (e < size) x[e] += scale[e % k] * (double)d[e / k * width + e % k];
}
