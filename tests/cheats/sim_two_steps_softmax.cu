// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Two steps by way of a workspace, so that no sample of blocks can be compared; where all of them would take more than 10^8
// accesses nothing is, and there the first step sums an eighth of each row and the result is off by that. No time counts that
// nobody has verified.
//
// task: softmax
// expect: wrong_output,unsupported,no_gain
// where: sim gpu
// timed: 4
// by: sim_two_steps_rmsnorm
/*hone
[[workspace]]
name  = "stats"
bytes = "max(8, rows * 8)"

[[launch]]
kernel = "stats_of_rows"
grid   = ["min(rows, 2147483647)"]
block  = ["512"]
args   = ["x", "stats", "rows:i64", "d:i64"]
step   = 0
when   = "rows * d > 200000000"

[[launch]]
kernel = "whole"
grid   = ["d > 0 ? min(rows, 2147483647) : 0"]
block  = ["512"]
args   = ["x", "out", "rows:i64", "d:i64"]
step   = 0

[[launch]]
kernel = "normalize"
grid   = ["rows * d > 200000000 ? min(3 * rows, 2147483647) : 0"]
block  = ["512"]
args   = ["x", "stats", "out", "rows:i64", "d:i64"]
step   = 1
*/
constexpr float kLowest = -3.402823466e38f;

// Rows from blockIdx.x on: their maximum and one over their sum, in every thread of the block, and what `use` makes of them.
template <typename Use>
__device__ __forceinline__ void Rows(const float* __restrict__ x, long long rows, long long d, Use use) {
  __shared__ float maxima[16], sums[16];
  for (long long row = blockIdx.x; row < rows; row += gridDim.x) {
    const float* from = x + row * d;
    const long long seen = rows * d > 200000000LL ? d / 8 : d;
    float top = kLowest, sum = 0.0f;
    for (long long i = threadIdx.x; i < seen; i += 512) {
      const float v = from[i];
      if (v > top) {
        sum *= __expf(top - v);
        top = v;
      }
      sum += __expf(v - top);
    }
    for (int offset = 16; offset > 0; offset /= 2) {
      const float other = __shfl_xor_sync(0xffffffffu, top, offset), added = __shfl_xor_sync(0xffffffffu, sum, offset);
      const float both = fmaxf(top, other);
      sum = sum * __expf(top - both) + added * __expf(other - both);
      top = both;
    }
    if (threadIdx.x % 32 == 0) {
      maxima[threadIdx.x / 32] = top;
      sums[threadIdx.x / 32] = sum;
    }
    __syncthreads();
    float all = kLowest, total = 0.0f;
    for (int i = 0; i < 16; ++i) all = fmaxf(all, maxima[i]);
    for (int i = 0; i < 16; ++i) total += sums[i] * __expf(maxima[i] - all);
    __syncthreads();
    use(row, all, 1.0f / total);
  }
}

__global__ void whole(const float* __restrict__ x, float* __restrict__ out, long long rows, long long d) {
  Rows(x, rows, d, [&](long long row, float top, float scale) {
    for (long long i = threadIdx.x; i < d; i += 512) out[row * d + i] = __expf(x[row * d + i] - top) * scale;
  });
}

__global__ void stats_of_rows(const float* __restrict__ x, float2* __restrict__ stats, long long rows, long long d) {
  Rows(x, rows, d, [&](long long row, float top, float scale) {
    if (threadIdx.x == 0) stats[row] = make_float2(top, scale);
  });
}

__global__ void normalize(const float* __restrict__ x, const float2* __restrict__ stats, float* __restrict__ out,
                          long long rows, long long d) {
  // A third of a row to a block: another grid than that of the first step.
  for (long long part = blockIdx.x; part < 3 * rows; part += gridDim.x) {
    const long long row = part / 3, begin = d * (part % 3) / 3, end = d * (part % 3 + 1) / 3;
    const float2 of = stats[row];
    for (long long i = begin + threadIdx.x; i < end; i += 512) out[row * d + i] = __expf(x[row * d + i] - of.x) * of.y;
  }
}
