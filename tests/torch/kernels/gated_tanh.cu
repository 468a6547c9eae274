// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// tanh(x) * sigmoid(gate), an element a thread.
/*hone
[[launch]]
kernel = "gated_tanh"
grid   = ["ceil_div(rows * width, 256)"]
block  = ["256"]
args   = ["x", "gate", "out", "rows * width:i64"]
*/
__global__ void gated_tanh(const float* __restrict__ x, const float* __restrict__ gate, float* __restrict__ out, long long count) {
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < count) out[i] = tanhf(x[i]) / (1.0f + expf(-gate[i]));
}
