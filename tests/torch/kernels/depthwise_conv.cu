// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// One thread an output.
/*hone
[[launch]]
kernel = "conv"
grid   = ["ceil_div(batch_size * channels * height * width, 128)"]
block  = ["128"]
args   = ["x", "conv_weight", "out", "batch_size * channels:i64", "channels:i64", "height:i64", "width:i64"]
*/
__global__ void conv(const float* x, const float* weight, float* out, long long images, long long channels, long long height,
                     long long width) {
  const long long i = blockIdx.x * 128LL + threadIdx.x;
  if (i >= images * height * width) return;
  const long long image = i / (height * width), row = i / width % height, column = i % width;
  float sum = 0.0f;
  for (int dy = 0; dy < 3; ++dy) {
    for (int dx = 0; dx < 3; ++dx) {
      const long long y = row + dy - 1, z = column + dx - 1;
      if (y < 0 || y >= height || z < 0 || z >= width) continue;
      sum += x[(image * height + y) * width + z] * weight[image % channels * 9 + dy * 3 + dx];
    }
  }
  out[i] = sum;
}
