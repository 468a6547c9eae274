// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Warp-specialised: one warp brings the indices of the next destinations to shared memory, seven warps add rows; named barriers, as PTX has
// them, hand the two buffers to and fro.
//
// task: gather_mean
// expect: ok
// where: sim gpu
/*hone
[[launch]]
kernel = "gather_mean"
grid   = ["min(sm_count * 4, ceil_div(num_dst, 7))"]
block  = ["256"]
shared = "2 * 7 * fanout * 4"
args   = ["x", "index", "out", "num_dst:i64", "fanout:i64", "dim:i64"]
*/
#include <cuda_fp16.h>

template <int kBarrier>
__device__ __forceinline__ void Sync() { asm volatile("bar.sync %0, 256;" ::"n"(kBarrier) : "memory"); }
template <int kBarrier>
__device__ __forceinline__ void Arrive() { asm volatile("bar.arrive %0, 256;" ::"n"(kBarrier) : "memory"); }

__global__ void __launch_bounds__(256) gather_mean(const __half* __restrict__ x, const int* __restrict__ index,
                                                   __half* __restrict__ out, long long num_dst, long long fanout, long long dim) {
  extern __shared__ int buffers[];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const long long stride = gridDim.x * 7LL;
  const float share = fanout > 0 ? 1.0f / static_cast<float>(fanout) : 0.0f;
  int stage = 0;
  // Barriers 1 and 2: buffer 0 and 1 is full; 3 and 4: it is empty again.
  if (warp == 0) {
    int turn = 0;
    for (long long first = blockIdx.x * 7LL; first < num_dst; first += stride, stage ^= 1, ++turn) {
      if (turn >= 2) {
        if (stage == 0) Sync<3>(); else Sync<4>();
      }
      const long long here = (num_dst - first < 7 ? num_dst - first : 7) * fanout;
      for (long long i = lane; i < here; i += 32) buffers[stage * 7 * fanout + i] = index[first * fanout + i];
      __threadfence_block();
      if (stage == 0) Arrive<1>(); else Arrive<2>();
    }
    return;
  }
  for (long long first = blockIdx.x * 7LL; first < num_dst; first += stride, stage ^= 1) {
    if (stage == 0) Sync<1>(); else Sync<2>();
    const long long vertex = first + warp - 1;
    const int* mine = buffers + (stage * 7 + warp - 1) * fanout;
    if (vertex < num_dst) {
      for (long long column = lane; column < dim; column += 32) {
        float sum = 0.0f;
        for (long long j = 0; j < fanout; ++j) sum += __half2float(x[static_cast<long long>(mine[j]) * dim + column]);
        out[vertex * dim + column] = __float2half_rn(sum * share);
      }
    }
    // Somebody waits for this buffer only if there is a turn after the next.
    if (first + 2 * stride < num_dst) {
      if (stage == 0) Arrive<3>(); else Arrive<4>();
    }
  }
}
