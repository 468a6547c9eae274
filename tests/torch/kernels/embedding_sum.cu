// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// An element of the result a thread.
/*hone
[[launch]]
kernel = "embedding_sum"
grid   = ["ceil_div(batch_size * width, 256)"]
block  = ["256"]
args   = ["ids", "table_weight", "out", "batch_size:i64", "bag:i64", "width:i64"]
*/
__global__ void embedding_sum(const long long* __restrict__ ids, const float* __restrict__ table, float* __restrict__ out,
                              long long batch, long long bag, long long width) {
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= batch * width) return;
  float sum = 0.0f;
  for (long long k = 0; k < bag; ++k) sum += table[ids[i / width * bag + k] * width + i % width];
  out[i] = sum;
}
