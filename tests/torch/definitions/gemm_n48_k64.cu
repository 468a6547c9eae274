// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
/*hone
[[launch]]
kernel = "gemm"
grid   = ["2 * m"]
block  = ["48"]
args   = ["a", "b", "bias", "c"]
*/
__global__ void gemm(const float* a, const float* b, const float* bias, float* c) {
  float sum = bias[threadIdx.x];
  for (int k = 0; k < 64; ++k) sum += a[static_cast<long long>(blockIdx.x) * 64 + k] * b[threadIdx.x * 64 + k];
  c[static_cast<long long>(blockIdx.x) * 48 + threadIdx.x] = sum;
}
