// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// One thread per output element.
//
// task: gather_mean
// expect: ok
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
  const int* neighbors = index + i / dim * fanout;
  float sum = 0.0f;
  for (int j = 0; j < fanout; ++j) sum += __half2float(x[neighbors[j] * dim + i % dim]);
  out[i] = __float2half_rn(fanout > 0 ? sum / static_cast<float>(fanout) : 0.0f);
}
