// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Blocks end while their bulk stores are still on their way. A GPU ends a kernel when these are through, so nothing is saved.
//
// task: relu
// expect: rule_violation,wrong_output,no_gain
// at_most: 1.02
// where: gpu
/*hone
[[launch]]
kernel = "bulk"
grid   = ["rows * d / 4096"]
block  = ["256"]
args   = ["x", "out"]
when   = "rows * d % 4096 == 0 && rows * d > 0 && cc >= 90"

[[launch]]
kernel = "plain"
grid   = ["ceil_div(rows * d, 256)"]
block  = ["256"]
args   = ["x", "out", "rows * d:i64"]
*/
__global__ void bulk(const float* __restrict__ x, float* __restrict__ out) {
  __shared__ __align__(128) float tile[4096];
  const long long first = blockIdx.x * 4096LL;
  for (int i = threadIdx.x; i < 1024; i += 256) {
    const float4 v = reinterpret_cast<const float4*>(x + first)[i];
    reinterpret_cast<float4*>(tile)[i] = make_float4(fmaxf(v.x, 0.0f), fmaxf(v.y, 0.0f), fmaxf(v.z, 0.0f), fmaxf(v.w, 0.0f));
  }
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x != 0) return;
  const unsigned from = static_cast<unsigned>(__cvta_generic_to_shared(tile));
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(out + first), "r"(from), "r"(16384) : "memory");
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

__global__ void plain(const float* __restrict__ x, float* __restrict__ out, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i < n) out[i] = fmaxf(x[i], 0.0f);
}
