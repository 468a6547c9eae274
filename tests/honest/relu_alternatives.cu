// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A vector path where the width allows it and a scalar one elsewhere, with a tunable each.
//
// task: relu
// expect: ok
// where: sim gpu
/*hone
[tune]
BLOCK = [128, 256]

[[launch]]
kernel = "relu_rows<4>"
grid   = ["rows"]
block  = ["BLOCK"]
args   = ["x", "out", "d:i32"]
when   = "d % 4 == 0"

[[launch]]
kernel = "relu_rows<1>"
grid   = ["rows"]
block  = ["BLOCK"]
args   = ["x", "out", "d:i32"]
with   = { BLOCK = 64 }
*/
template <int kWidth>
__global__ void relu_rows(const float* x, float* out, int d) {
  const float* from = x + static_cast<long long>(blockIdx.x) * d;
  float* to = out + static_cast<long long>(blockIdx.x) * d;
  if constexpr (kWidth == 4) {
    for (int i = threadIdx.x; i < d / 4; i += blockDim.x) {
      const float4 v = reinterpret_cast<const float4*>(from)[i];
      reinterpret_cast<float4*>(to)[i] =
          make_float4(fmaxf(v.x, 0.0f), fmaxf(v.y, 0.0f), fmaxf(v.z, 0.0f), fmaxf(v.w, 0.0f));
    }
  } else {
    for (int i = threadIdx.x; i < d; i += blockDim.x) to[i] = fmaxf(from[i], 0.0f);
  }
}
