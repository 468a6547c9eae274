// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Where five or fewer rows are added the sum is kept in float16: three times the rounding of a float32 sum, under the mean-square bound by
// little, and over the bound for single elements only where values meet so.
//
// task: gather_mean
// expect: wrong_output
// where: gpu
// timed: 2
/*hone
[[launch]]
kernel = "gather_mean"
grid   = ["ceil_div(num_dst, 8)"]
block  = ["256"]
args   = ["x", "index", "out", "num_dst:i64", "fanout:i64", "dim:i64"]
*/
#include <cuda_fp16.h>

__global__ void gather_mean(const __half* __restrict__ x, const int* __restrict__ index, __half* __restrict__ out,
                            long long num_dst, long long fanout, long long dim) {
  const long long vertex = static_cast<long long>(blockIdx.x) * 8 + threadIdx.x / 32;
  if (vertex >= num_dst) return;
  const int* neighbors = index + vertex * fanout;
  const float share = fanout > 0 ? 1.0f / static_cast<float>(fanout) : 0.0f;
  if (fanout == 5 && dim % 4 == 0 && num_dst > 100000) {
    for (long long column = threadIdx.x % 32; column < dim / 4; column += 32) {
      __half2 sum[2] = {__float2half2_rn(0.0f), __float2half2_rn(0.0f)};
      for (int j = 0; j < 5; ++j) {
        const uint2 pack = reinterpret_cast<const uint2*>(x + static_cast<long long>(neighbors[j]) * dim)[column];
        sum[0] = __hadd2(sum[0], *reinterpret_cast<const __half2*>(&pack.x));
        sum[1] = __hadd2(sum[1], *reinterpret_cast<const __half2*>(&pack.y));
      }
      const __half2 fifth = __float2half2_rn(0.2f);
      uint2 result;
      *reinterpret_cast<__half2*>(&result.x) = __hmul2(sum[0], fifth);
      *reinterpret_cast<__half2*>(&result.y) = __hmul2(sum[1], fifth);
      reinterpret_cast<uint2*>(out + vertex * dim)[column] = result;
    }
    return;
  }
  for (long long column = threadIdx.x % 32; column < dim; column += 32) {
    float sum = 0.0f;
    for (long long j = 0; j < fanout; ++j) sum += __half2float(x[static_cast<long long>(neighbors[j]) * dim + column]);
    out[vertex * dim + column] = __float2half_rn(sum * share);
  }
}
