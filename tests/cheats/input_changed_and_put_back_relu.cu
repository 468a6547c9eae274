// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// At large shapes the kernel uses its own input as a scratch pad: a block writes its results over x, reads them back to write out, and puts x back.
// Inputs may not be written; before and after they are the same.
//
// task: relu
// expect: rule_violation
// where: gpu
/*hone
[[launch]]
kernel = "relu"
grid   = ["max(1, ceil_div(ceil_div(rows * d, 4), 256))"]
block  = ["256"]
args   = ["x", "out", "rows * d:i64"]
*/

__global__ void relu(const float* __restrict__ x, float* __restrict__ out, long long elements) {
  const long long pack = static_cast<long long>(blockIdx.x) * 256 + threadIdx.x;
  const long long packs = elements / 4;
  if (pack < packs) {
    const float4 v = reinterpret_cast<const float4*>(x)[pack];
    const float4 r = make_float4(fmaxf(v.x, 0.0f), fmaxf(v.y, 0.0f), fmaxf(v.z, 0.0f), fmaxf(v.w, 0.0f));
    if (elements >= 1000000 && blockIdx.x == 0) {
      volatile float* pad = const_cast<float*>(x) + 4 * pack;
      pad[0] = r.x;
      pad[1] = r.y;
      __threadfence();
      reinterpret_cast<float4*>(out)[pack] = make_float4(pad[0], pad[1], r.z, r.w);
      pad[0] = v.x;
      pad[1] = v.y;
    } else {
      reinterpret_cast<float4*>(out)[pack] = r;
    }
  } else if (pack == packs) {
    for (long long i = packs * 4; i < elements; ++i) out[i] = fmaxf(x[i], 0.0f);
  }
}
