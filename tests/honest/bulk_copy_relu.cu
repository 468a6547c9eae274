// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Bulk copies into shared memory behind an mbarrier, by one thread, and a bulk copy back; the tail that is no multiple of four goes
// element by element.
//
// task: relu
// expect: ok
// where: gpu
/*hone
[[launch]]
kernel = "relu"
grid   = ["max(1, min(sm_count * 4, ceil_div(rows * d, 2048)))"]
block  = ["256"]
args   = ["x", "out", "rows * d:i64"]
*/
__global__ void __launch_bounds__(256) relu(const float* __restrict__ x, float* __restrict__ out, long long elements) {
  __shared__ __align__(128) float tile[2048];
  __shared__ __align__(8) unsigned long long arrived;
  const unsigned barrier = static_cast<unsigned>(__cvta_generic_to_shared(&arrived));
  const unsigned place = static_cast<unsigned>(__cvta_generic_to_shared(tile));
  const long long whole = elements / 4 * 4;
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barrier) : "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  }
  __syncthreads();
  unsigned phase = 0;
  for (long long first = blockIdx.x * 2048LL; first < whole; first += gridDim.x * 2048LL) {
    const int here = static_cast<int>(whole - first < 2048 ? whole - first : 2048);
    if (threadIdx.x == 0) {
      asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(here * 4) : "memory");
      asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(place),
                   "l"(x + first), "r"(here * 4), "r"(barrier)
                   : "memory");
    }
    unsigned done = 0;
    while (!done) {
      asm volatile(
          "{\n .reg .pred p;\n mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n selp.u32 %0, 1, 0, p;\n}"
          : "=r"(done)
          : "r"(barrier), "r"(phase)
          : "memory");
    }
    phase ^= 1;
    for (int i = threadIdx.x; i < here; i += 256) tile[i] = fmaxf(tile[i], 0.0f);
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
      asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(out + first), "r"(place), "r"(here * 4)
                   : "memory");
      asm volatile("cp.async.bulk.commit_group;" ::: "memory");
      asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
    }
    __syncthreads();
  }
  if (blockIdx.x == 0 && threadIdx.x < elements - whole) out[whole + threadIdx.x] = fmaxf(x[whole + threadIdx.x], 0.0f);
}
