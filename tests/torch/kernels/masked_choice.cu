// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
/*hone
[[launch]]
kernel = "masked_choice"
grid   = ["ceil_div(rows * width, 256)"]
block  = ["256"]
args   = ["x", "mask", "out0", "out1", "rows * width:i64"]
*/
__global__ void masked_choice(const float* x, const unsigned char* mask, float* chosen, unsigned char* large, long long count) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i >= count) return;
  chosen[i] = mask[i] ? x[i] : 0.25f * x[i];
  large[i] = mask[i] && chosen[i] > 0.5f;
}
