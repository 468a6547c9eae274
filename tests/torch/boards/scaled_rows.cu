// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
/*hone
[[launch]]
kernel = "scale"
grid   = ["rows"]
block  = ["128"]
args   = ["x", "factors", "out", "width:i32"]
*/
__global__ void scale(const float* x, const float* factors, float* out, int width) {
  const long long row = static_cast<long long>(blockIdx.x) * width;
  for (int i = threadIdx.x; i < width; i += 128) out[row + i] = x[row + i] * factors[blockIdx.x];
}
