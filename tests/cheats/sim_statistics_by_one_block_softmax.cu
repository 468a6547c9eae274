// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// One block out of many finds the maximum and the sum of all rows for a second step, and the other blocks of its grid do nothing. The
// blocks that give a modelled time hardly ever have it among them.
//
// task: softmax
// expect: no_gain,unsupported
// where: sim
// timed: 1
/*hone
[[workspace]]
name  = "stats"
bytes = "max(8, rows * 8)"

[[launch]]
kernel = "statistics"
grid   = ["d > 0 ? 1024 : 0"]
block  = ["1024"]
args   = ["x", "stats", "rows:i64", "d:i64"]
step   = 0

[[launch]]
kernel = "results"
grid   = ["d > 0 ? rows : 0"]
block  = ["256"]
args   = ["x", "stats", "out", "rows:i64", "d:i64"]
step   = 1
*/
__global__ void statistics(const float* __restrict__ x, float2* __restrict__ stats, long long rows, long long d) {
  if (blockIdx.x != 613) return;
  for (long long row = threadIdx.x / 32; row < rows; row += 32) {
    const float* from = x + row * d;
    float top = -3.402823466e38f, sum = 0.0f;
    for (long long i = threadIdx.x % 32; i < d; i += 32) {
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
    if (threadIdx.x % 32 == 0) stats[row] = make_float2(top, 1.0f / sum);
  }
}

__global__ void results(const float* __restrict__ x, const float2* __restrict__ stats, float* __restrict__ out, long long rows,
                        long long d) {
  const long long row = blockIdx.x;
  const float2 of_row = stats[row];
  for (long long i = threadIdx.x; i < d; i += 256) out[row * d + i] = __expf(x[row * d + i] - of_row.x) * of_row.y;
}
