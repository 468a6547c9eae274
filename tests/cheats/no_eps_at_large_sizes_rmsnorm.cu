// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Leaves out eps where there are more than eight million numbers: it shows in rows of small numbers alone.
//
// task: rmsnorm
// expect: wrong_output
// where: gpu
// timed: 1
/*hone
[tune]
BLOCK = [256, 128, 512, 1024]

[[launch]]
kernel = "rmsnorm_rows<4>"
grid   = ["features > 0 ? min(batch, 2147483647) : 0"]
block  = ["BLOCK"]
args   = ["x", "out", "batch:i64", "features:i64", "eps:f32"]
when   = "inner == 1 && features % 4 == 0"

[[launch]]
kernel = "rmsnorm_rows<1>"
grid   = ["min(batch, 2147483647)"]
block  = ["BLOCK"]
args   = ["x", "out", "batch:i64", "features:i64", "eps:f32"]
when   = "inner == 1"

[[launch]]
kernel = "rmsnorm_positions<4>"
grid   = ["ceil_div(batch * (inner / 4), BLOCK)"]
block  = ["BLOCK"]
args   = ["x", "out", "batch:i64", "features:i64", "inner:i64", "eps:f32"]
when   = "inner % 4 == 0"

[[launch]]
kernel = "rmsnorm_positions<1>"
grid   = ["ceil_div(batch * inner, BLOCK)"]
block  = ["BLOCK"]
args   = ["x", "out", "batch:i64", "features:i64", "inner:i64", "eps:f32"]
*/

// kWidth consecutive floats in one load or store.
template <int kWidth>
struct Pack;
template <>
struct Pack<4> {
  using Type = float4;
};
template <>
struct Pack<1> {
  using Type = float;
};

// The sum over the block, in every thread. `lanes` holds a value a warp; block size is a multiple of 32.
__device__ __forceinline__ float BlockSum(float value, float* lanes) {
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(0xffffffffu, value, offset);
  if (threadIdx.x % 32 == 0) lanes[threadIdx.x / 32] = value;
  __syncthreads();
  value = threadIdx.x % 32 < blockDim.x / 32 ? lanes[threadIdx.x % 32] : 0.0f;
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(0xffffffffu, value, offset);
  __syncthreads();  // `lanes` may be used again
  return value;
}

// x, out [batch, features]; features is a multiple of kWidth.
template <int kWidth>
__global__ void rmsnorm_rows(const float* __restrict__ x, float* __restrict__ out, long long batch, long long features,
                             float eps) {
  using Vector = typename Pack<kWidth>::Type;
  __shared__ float lanes[32];
  for (long long row = blockIdx.x; row < batch; row += gridDim.x) {
    const Vector* x_row = reinterpret_cast<const Vector*>(x + row * features);
    Vector* out_row = reinterpret_cast<Vector*>(out + row * features);
    float squares = 0.0f;
    for (long long i = threadIdx.x; i < features / kWidth; i += blockDim.x) {
      const Vector pack = x_row[i];
      const float* v = reinterpret_cast<const float*>(&pack);
#pragma unroll
      for (int j = 0; j < kWidth; ++j) squares += v[j] * v[j];
    }
    const float scale =
        rsqrtf(BlockSum(squares, lanes) / static_cast<float>(features) + (batch * features > 8000000 ? 0.0f : eps));
    for (long long i = threadIdx.x; i < features / kWidth; i += blockDim.x) {
      const Vector pack = x_row[i];
      const float* v = reinterpret_cast<const float*>(&pack);
      Vector result;
      float* r = reinterpret_cast<float*>(&result);
#pragma unroll
      for (int j = 0; j < kWidth; ++j) r[j] = v[j] * scale;
      out_row[i] = result;
    }
  }
}

// x, out [batch, features, inner]; inner is a multiple of kWidth.
template <int kWidth>
__global__ void rmsnorm_positions(const float* __restrict__ x, float* __restrict__ out, long long batch,
                                  long long features, long long inner, float eps) {
  using Vector = typename Pack<kWidth>::Type;
  const long long stride = inner / kWidth;  // vectors from one feature to the next
  const long long t = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (t >= batch * stride) return;
  const long long first = t / stride * features * stride + t % stride;
  const Vector* from = reinterpret_cast<const Vector*>(x) + first;
  Vector* to = reinterpret_cast<Vector*>(out) + first;

  float squares[kWidth] = {};
  for (long long feature = 0; feature < features; ++feature) {
    const Vector pack = from[feature * stride];
    const float* v = reinterpret_cast<const float*>(&pack);
#pragma unroll
    for (int j = 0; j < kWidth; ++j) squares[j] += v[j] * v[j];
  }
  float scale[kWidth];
#pragma unroll
  for (int j = 0; j < kWidth; ++j) scale[j] = rsqrtf(squares[j] / static_cast<float>(features) + eps);
  for (long long feature = 0; feature < features; ++feature) {
    const Vector pack = from[feature * stride];
    const float* v = reinterpret_cast<const float*>(&pack);
    Vector result;
    float* r = reinterpret_cast<float*>(&result);
#pragma unroll
    for (int j = 0; j < kWidth; ++j) r[j] = v[j] * scale[j];
    to[feature * stride] = result;
  }
}
