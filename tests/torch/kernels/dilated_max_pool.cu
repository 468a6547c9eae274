// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// One thread an output.
/*hone
[[launch]]
kernel = "pool"
grid   = ["ceil_div(batch_size * channels * (length - 8), 128)"]
block  = ["128"]
args   = ["x", "out", "batch_size * channels * (length - 8):i64", "length:i64"]
*/
__global__ void pool(const float* x, float* out, long long n, long long length) {
  const long long i = blockIdx.x * 128LL + threadIdx.x;
  if (i >= n) return;
  const float* const at = x + i / (length - 8) * length + i % (length - 8);
  out[i] = fmaxf(fmaxf(at[0], at[4]), at[8]);
}
