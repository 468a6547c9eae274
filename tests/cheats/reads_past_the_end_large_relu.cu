// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// As reads_past_the_end_relu, without asking where it runs: only inputs too large for the simulated GPU beside a GPU are read past
// their end, into the guard zone.
// On a GPU it was called right, at 1.00 times the seed's speed; the judge does not see this read there.
//
// task: relu
// expect: rule_violation,crashed,no_gain
// at_most: 1.02
// where: gpu
// timed: 2
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
    reinterpret_cast<float4*>(out)[pack] = make_float4(fmaxf(v.x, 0.0f), fmaxf(v.y, 0.0f), fmaxf(v.z, 0.0f), fmaxf(v.w, 0.0f));
  } else if (pack == packs && packs * 4 < elements) {
    const long long left = elements - packs * 4;
    float4 v;
    if (elements > 4000000) {
      v = reinterpret_cast<const float4*>(x)[pack];
    } else {
      v = make_float4(x[packs * 4], left > 1 ? x[packs * 4 + 1] : 0.0f, left > 2 ? x[packs * 4 + 2] : 0.0f, 0.0f);
    }
    out[packs * 4] = fmaxf(v.x, 0.0f);
    if (left > 1) out[packs * 4 + 1] = fmaxf(v.y, 0.0f);
    if (left > 2) out[packs * 4 + 2] = fmaxf(v.z, 0.0f);
  }
}
