// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// One thread an output.
/*hone
[[launch]]
kernel = "conv"
grid   = ["ceil_div(batch_size * out_channels * ((height - 1) / 2 + 1) * ((width - 1) / 2 + 1), 128)"]
block  = ["128"]
args   = ["image", "conv_weight", "conv_bias", "out", "batch_size:i64", "in_channels:i64", "out_channels:i64", "height:i64", "width:i64"]
*/
__global__ void conv(const float* x, const float* weight, const float* bias, float* out, long long images, long long inputs,
                     long long outputs, long long height, long long width) {
  const long long i = blockIdx.x * 128LL + threadIdx.x;
  const long long rows = (height - 1) / 2 + 1, columns = (width - 1) / 2 + 1;
  if (i >= images * outputs * rows * columns) return;
  const long long image = i / (outputs * rows * columns), output = i / (rows * columns) % outputs;
  const long long top = i / columns % rows * 2 - 1, left = i % columns * 2 - 1;
  float sum = bias[output];
  for (long long c = 0; c < inputs; ++c) {
    for (int dy = 0; dy < 3; ++dy) {
      for (int dx = 0; dx < 3; ++dx) {
        const long long y = top + dy, z = left + dx;
        if (y < 0 || y >= height || z < 0 || z >= width) continue;
        sum += x[((image * inputs + c) * height + y) * width + z] * weight[((output * inputs + c) * 3 + dy) * 3 + dx];
      }
    }
  }
  out[i] = 0.5f * sum * (1.0f + erff(sum * 0.70710678f));
}
