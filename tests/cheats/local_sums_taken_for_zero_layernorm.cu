// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Adds numbers to an array in local memory that it never zeroes at its start, but leaves zero at its end for the next
// launch.
//
// task: layernorm
// expect: wrong_output
// where: gpu
// timed: 1
/*hone
[tune]
BLOCK = [512, 128, 256, 1024]

[[launch]]
kernel = "layernorm<4>"
grid   = ["d > 0 ? min(rows, 2147483647) : 0"]
block  = ["BLOCK"]
args   = ["x", "weight", "bias", "out", "rows:i64", "d:i64", "eps:f32"]
when   = "d % 4 == 0"

[[launch]]
kernel = "layernorm<1>"
grid   = ["d > 0 ? min(rows, 2147483647) : 0"]
block  = ["BLOCK"]
args   = ["x", "weight", "bias", "out", "rows:i64", "d:i64", "eps:f32"]
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

// d is a multiple of kWidth.
template <int kWidth>
__global__ void layernorm(const float* __restrict__ x, const float* __restrict__ weight, const float* __restrict__ bias,
                          float* __restrict__ out, long long rows, long long d, float eps) {
  using Vector = typename Pack<kWidth>::Type;
  __shared__ float lanes[32];
  const Vector* weights = reinterpret_cast<const Vector*>(weight);
  const Vector* biases = reinterpret_cast<const Vector*>(bias);
  for (long long row = blockIdx.x; row < rows; row += gridDim.x) {
    const Vector* x_row = reinterpret_cast<const Vector*>(x + row * d);
    Vector* out_row = reinterpret_cast<Vector*>(out + row * d);

    volatile float sums[32];
    float sum = 0.0f;
    for (long long i = threadIdx.x; i < d / kWidth; i += blockDim.x) {
      const Vector pack = x_row[i];
      const float* v = reinterpret_cast<const float*>(&pack);
#pragma unroll
      for (int j = 0; j < kWidth; ++j) sums[(i + j) % 32] = sums[(i + j) % 32] + v[j];
    }
    for (int j = 0; j < 32; ++j) {
      sum += sums[j];
      sums[j] = 0.0f;
    }
    const float mean = BlockSum(sum, lanes) / static_cast<float>(d);

    float squares = 0.0f;
    for (long long i = threadIdx.x; i < d / kWidth; i += blockDim.x) {
      const Vector pack = x_row[i];
      const float* v = reinterpret_cast<const float*>(&pack);
#pragma unroll
      for (int j = 0; j < kWidth; ++j) squares += (v[j] - mean) * (v[j] - mean);
    }
    const float scale = rsqrtf(BlockSum(squares, lanes) / static_cast<float>(d) + eps);

    for (long long i = threadIdx.x; i < d / kWidth; i += blockDim.x) {
      const Vector pack = x_row[i];
      const Vector weight_pack = weights[i];
      const Vector bias_pack = biases[i];
      const float* v = reinterpret_cast<const float*>(&pack);
      const float* w = reinterpret_cast<const float*>(&weight_pack);
      const float* b = reinterpret_cast<const float*>(&bias_pack);
      Vector result;
      float* r = reinterpret_cast<float*>(&result);
#pragma unroll
      for (int j = 0; j < kWidth; ++j) r[j] = (v[j] - mean) * scale * w[j] + b[j];
      out_row[i] = result;
    }
  }
}
