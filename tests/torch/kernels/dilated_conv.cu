// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// One thread an output.
/*hone
[[launch]]
kernel = "conv"
grid   = ["ceil_div(batch_size * out_channels * (length - 4), 128)"]
block  = ["128"]
args   = ["x", "conv_weight", "conv_bias", "out", "batch_size:i64", "in_channels:i64", "out_channels:i64", "length:i64"]
*/
__global__ void conv(const float* x, const float* weight, const float* bias, float* out, long long images, long long inputs,
                     long long outputs, long long length) {
  const long long i = blockIdx.x * 128LL + threadIdx.x;
  const long long places = length - 4;
  if (i >= images * outputs * places) return;
  const long long image = i / (outputs * places), output = i / places % outputs, place = i % places;
  float sum = bias[output];
  for (long long c = 0; c < inputs; ++c) {
    for (int d = 0; d < 3; ++d) sum += x[(image * inputs + c) * length + place + 2 * d] * weight[(output * inputs + c) * 3 + d];
  }
  out[i] = sum;
}
