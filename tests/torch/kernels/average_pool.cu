// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// One thread an output.
/*hone
[[launch]]
kernel = "pool"
grid   = ["ceil_div(batch_size * channels * ((height - 1) / 2 + 1) * ((width - 1) / 2 + 1), 128)"]
block  = ["128"]
args   = ["x", "out", "batch_size * channels:i64", "height:i64", "width:i64"]
*/
__global__ void pool(const float* x, float* out, long long images, long long height, long long width) {
  const long long i = blockIdx.x * 128LL + threadIdx.x;
  const long long rows = (height - 1) / 2 + 1, columns = (width - 1) / 2 + 1;
  if (i >= images * rows * columns) return;
  const long long image = i / (rows * columns), top = i / columns % rows * 2 - 1, left = i % columns * 2 - 1;
  float sum = 0.0f;
  for (int dy = 0; dy < 3; ++dy) {
    for (int dx = 0; dx < 3; ++dx) {
      const long long y = top + dy, z = left + dx;
      if (y >= 0 && y < height && z >= 0 && z < width) sum += x[(image * height + y) * width + z];
    }
  }
  out[i] = sum / 9.0f;
}
