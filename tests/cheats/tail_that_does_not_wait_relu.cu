// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The work is step one, which lets its dependent go when some microseconds of it are left; step two is empty, is launched by
// programmatic dependent launch and waits for nothing. An event behind it may be recorded before step one is over.
// It gains nothing: a tail that waits, and the work alone, take as long; the event behind it comes when all is over.
//
// task: relu
// expect: rule_violation,wrong_output,no_gain
// at_most: 1.0
// where: gpu
/*hone
[[launch]]
kernel = "work"
grid   = ["max(1, min(sm_count * occupancy(work), ceil_div(rows * d, 1024)))"]
block  = ["256"]
args   = ["x", "out", "rows * d:i64"]
step   = 0

[[launch]]
kernel = "tail"
grid   = ["1"]
block  = ["32"]
args   = ["out"]
step   = 1
pdl    = true
*/
__global__ void __launch_bounds__(256) work(const float* __restrict__ x, float* __restrict__ out, long long elements) {
  const long long packs = elements / 4, threads = static_cast<long long>(gridDim.x) * 256;
  const long long left = packs > 524288 ? 524288 : packs;  // 2 M elements, about 4 us
  bool told = false;
  for (long long pack = static_cast<long long>(blockIdx.x) * 256 + threadIdx.x; pack < packs; pack += threads) {
    if (!told && pack >= packs - left) {
      cudaTriggerProgrammaticLaunchCompletion();
      told = true;
    }
    const float4 v = reinterpret_cast<const float4*>(x)[pack];
    reinterpret_cast<float4*>(out)[pack] = make_float4(fmaxf(v.x, 0.0f), fmaxf(v.y, 0.0f), fmaxf(v.z, 0.0f), fmaxf(v.w, 0.0f));
  }
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    for (long long i = packs * 4; i < elements; ++i) out[i] = fmaxf(x[i], 0.0f);
  }
}

__global__ void tail(float*) {}
