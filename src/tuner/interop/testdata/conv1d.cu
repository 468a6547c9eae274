// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A convolution in one dimension with zeros at both ends, three axes of the grid. For tests of `hone new`.
#include <cuda_runtime.h>

__global__ void conv1d_kernel(const float* x, const float* w, const float* bias, float* y, int batch, int in_channels,
                              int out_channels, int length, int taps) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  const int oc = blockIdx.y;
  const int b = blockIdx.z;
  if (t >= length) return;
  const int pad = taps / 2;
  float sum = bias[oc];
  for (int ic = 0; ic < in_channels; ++ic) {
    for (int j = 0; j < taps; ++j) {
      const int s = t + j - pad;
      if (s >= 0 && s < length) sum += x[(b * in_channels + ic) * length + s] * w[(oc * in_channels + ic) * taps + j];
    }
  }
  y[(b * out_channels + oc) * length + t] = sum;
}

void conv1d(const float* x, const float* w, const float* bias, float* y, int batch, int in_channels, int out_channels,
            int length, int taps) {
  const dim3 block(128);
  const dim3 grid((length + block.x - 1) / block.x, out_channels, batch);
  conv1d_kernel<<<grid, block>>>(x, w, bias, y, batch, in_channels, out_channels, length, taps);
}
