// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// An element of the result a thread.
/*hone
[[launch]]
kernel = "linear_relu"
grid   = ["ceil_div(out_features, 32)", "ceil_div(batch_size, 8)"]
block  = ["32", "8"]
args   = ["x", "fc_weight", "fc_bias", "out", "batch_size:i64", "in_features:i64", "out_features:i64"]
*/
__global__ void linear_relu(const float* __restrict__ x, const float* __restrict__ weight, const float* __restrict__ bias,
                            float* __restrict__ out, long long rows, long long inner, long long columns) {
  const long long column = static_cast<long long>(blockIdx.x) * 32 + threadIdx.x;
  const long long row = static_cast<long long>(blockIdx.y) * 8 + threadIdx.y;
  if (row >= rows || column >= columns) return;
  float sum = bias[column];
  for (long long k = 0; k < inner; ++k) sum += x[row * inner + k] * weight[column * inner + k];
  out[row * columns + column] = fmaxf(sum, 0.0f);
}
