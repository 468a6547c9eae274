// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// One thread an output, which one place of the input reaches.
/*hone
[[launch]]
kernel = "conv"
grid   = ["ceil_div(batch_size * out_channels * height * width * 4, 128)"]
block  = ["128"]
args   = ["x", "conv_weight", "conv_bias", "out", "batch_size:i64", "in_channels:i64", "out_channels:i64", "height:i64", "width:i64"]
*/
__global__ void conv(const float* x, const float* weight, const float* bias, float* out, long long images, long long inputs,
                     long long outputs, long long height, long long width) {
  const long long i = blockIdx.x * 128LL + threadIdx.x;
  const long long pixels = 4 * height * width;
  if (i >= images * outputs * pixels) return;
  const long long image = i / (outputs * pixels), output = i / pixels % outputs, row = i % pixels / (2 * width), column = i % (2 * width);
  float sum = bias[output];
  for (long long c = 0; c < inputs; ++c) {
    sum += x[((image * inputs + c) * height + row / 2) * width + column / 2] * weight[(c * outputs + output) * 4 + row % 2 * 2 + column % 2];
  }
  out[i] = sum;
}
