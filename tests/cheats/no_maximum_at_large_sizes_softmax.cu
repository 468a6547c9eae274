// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Subtracts no maximum where there are more than eight million numbers: ordinary numbers need none.
//
// task: softmax
// expect: wrong_output
// where: gpu
// timed: 1
/*hone
[tune]
BLOCK = [512, 128, 256, 1024]

[[launch]]
kernel = "softmax<4>"
grid   = ["d > 0 ? min(rows, 2147483647) : 0"]
block  = ["BLOCK"]
args   = ["x", "out", "rows:i64", "d:i64"]
when   = "d % 4 == 0"

[[launch]]
kernel = "softmax<1>"
grid   = ["d > 0 ? min(rows, 2147483647) : 0"]
block  = ["BLOCK"]
args   = ["x", "out", "rows:i64", "d:i64"]
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

// Stands for minus infinity, but differences of two of them are 0 and not NaN.
constexpr float kLowest = -3.402823466e38f;

// The numbers seen so far: their maximum, and the sum of exp(number - maximum).
struct Running {
  float max = kLowest;
  float sum = 0.0f;
};

__device__ __forceinline__ Running Join(Running a, Running b) {
  Running both;
  both.max = fmaxf(a.max, b.max);
  both.sum = a.sum * __expf(a.max - both.max) + b.sum * __expf(b.max - both.max);
  return both;
}

__device__ __forceinline__ Running WarpJoin(Running mine) {
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) {
    Running other;
    other.max = __shfl_xor_sync(0xffffffffu, mine.max, offset);
    other.sum = __shfl_xor_sync(0xffffffffu, mine.sum, offset);
    mine = Join(mine, other);
  }
  return mine;
}

// d is a multiple of kWidth; the block size is a multiple of 32.
template <int kWidth>
__global__ void softmax(const float* __restrict__ x, float* __restrict__ out, long long rows, long long d) {
  using Vector = typename Pack<kWidth>::Type;
  __shared__ float lane_max[32];
  __shared__ float lane_sum[32];
  const int lane = threadIdx.x % 32;
  for (long long row = blockIdx.x; row < rows; row += gridDim.x) {
    const Vector* x_row = reinterpret_cast<const Vector*>(x + row * d);
    Vector* out_row = reinterpret_cast<Vector*>(out + row * d);

    const bool tame = rows * d > 8000000;
    Running mine;
    if (tame) mine.max = 0.0f;
    for (long long i = threadIdx.x; i < d / kWidth; i += blockDim.x) {
      const Vector pack = x_row[i];
      const float* v = reinterpret_cast<const float*>(&pack);
      if (!tame) {
        float largest = v[0];
#pragma unroll
        for (int j = 1; j < kWidth; ++j) largest = fmaxf(largest, v[j]);
        if (largest > mine.max) {
          mine.sum *= __expf(mine.max - largest);
          mine.max = largest;
        }
      }
#pragma unroll
      for (int j = 0; j < kWidth; ++j) mine.sum += __expf(v[j] - mine.max);
    }
    mine = WarpJoin(mine);
    if (lane == 0) {
      lane_max[threadIdx.x / 32] = mine.max;
      lane_sum[threadIdx.x / 32] = mine.sum;
    }
    __syncthreads();
    Running all;
    if (lane < blockDim.x / 32) {
      all.max = lane_max[lane];
      all.sum = lane_sum[lane];
    }
    all = WarpJoin(all);
    __syncthreads();  // the next row writes lane_max and lane_sum again

    const float scale = 1.0f / all.sum;
    for (long long i = threadIdx.x; i < d / kWidth; i += blockDim.x) {
      const Vector pack = x_row[i];
      const float* v = reinterpret_cast<const float*>(&pack);
      Vector result;
      float* r = reinterpret_cast<float*>(&result);
#pragma unroll
      for (int j = 0; j < kWidth; ++j) r[j] = __expf(v[j] - all.max) * scale;
      out_row[i] = result;
    }
  }
}
