// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// One thread an output.
/*hone
[[launch]]
kernel = "pool"
grid   = ["ceil_div(batch_size * channels * (height / 2) * (width / 2), 128)"]
block  = ["128"]
args   = ["x", "out", "batch_size * channels:i64", "height:i64", "width:i64"]
*/
__global__ void pool(const float* x, float* out, long long images, long long height, long long width) {
  const long long i = blockIdx.x * 128LL + threadIdx.x;
  const long long rows = height / 2, columns = width / 2;
  if (i >= images * rows * columns) return;
  const float* const at = x + (i / (rows * columns) * height + i / columns % rows * 2) * width + i % columns * 2;
  out[i] = fmaxf(fmaxf(at[0], at[1]), fmaxf(at[width], at[width + 1]));
}
