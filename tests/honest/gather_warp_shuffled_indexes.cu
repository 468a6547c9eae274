// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// One warp per row; the lanes load the indexes together and shuffle them. Sums backwards.
//
// task: gather_mean
// expect: ok
// where: sim gpu
/*hone
[[launch]]
kernel = "gather"
grid   = ["ceil_div(num_dst, 4)"]
block  = ["128"]
args   = ["x", "index", "out", "num_dst:i64", "fanout:i32", "dim:i64"]
*/
#include <cuda_fp16.h>

__global__ void gather(const __half* x, const int* index, __half* out, long long num_dst, int fanout, long long dim) {
  const long long row = blockIdx.x * 4LL + threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  if (row >= num_dst) return;
  for (long long first = 0; first < dim; first += 32) {
    float sum = 0.0f;
    for (int base = (fanout - 1) / 32 * 32; base >= 0 && fanout > 0; base -= 32) {
      const int mine = base + lane < fanout ? index[row * fanout + base + lane] : 0;
      for (int j = min(31, fanout - base - 1); j >= 0; --j) {
        const int neighbor = __shfl_sync(0xffffffffu, mine, j);
        if (first + lane < dim) sum += __half2float(x[neighbor * dim + first + lane]);
      }
    }
    if (first + lane < dim) out[row * dim + first + lane] = __float2half_rn(fanout > 0 ? sum / fanout : 0.0f);
  }
}
