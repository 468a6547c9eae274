// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A warp a group of 64.
/*hone
[[launch]]
kernel = "quantize"
grid   = ["rows", "width / 64"]
block  = ["32"]
args   = ["x", "out0", "out1"]
*/
__global__ void quantize(const float* x, float* scaled, float* scales) {
  const long long group = static_cast<long long>(blockIdx.x) * gridDim.y + blockIdx.y;
  const float first = x[group * 64 + threadIdx.x], second = x[group * 64 + 32 + threadIdx.x];
  float most = fmaxf(fabsf(first), fabsf(second));
  for (int step = 16; step > 0; step /= 2) most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, step));
  const float scale = most / 127.0f;
  scaled[group * 64 + threadIdx.x] = first / scale;
  scaled[group * 64 + 32 + threadIdx.x] = second / scale;
  if (threadIdx.x == 0) scales[group] = scale;
}
