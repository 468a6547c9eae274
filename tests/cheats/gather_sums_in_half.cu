// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Sums in float16.
//
// task: gather_mean
// expect: wrong_output
// where: sim gpu
/*hone
[[launch]]
kernel = "gather"
grid   = ["ceil_div(num_dst * dim, 256)"]
block  = ["256"]
args   = ["x", "index", "out", "num_dst:i64", "fanout:i32", "dim:i64"]
*/
#include <cuda_fp16.h>

__global__ void gather(const __half* x, const int* index, __half* out, long long num_dst, int fanout, long long dim) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i >= num_dst * dim) return;
  __half sum = __float2half_rn(0.0f);
  for (int j = 0; j < fanout; ++j) sum = __hadd(sum, x[index[i / dim * fanout + j] * dim + i % dim]);
  out[i] = __float2half_rn(fanout > 0 ? __half2float(sum) / static_cast<float>(fanout) : 0.0f);
}
