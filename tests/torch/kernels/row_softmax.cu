// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A warp a row: the largest, the sum, the quotients. The temperature is the problem's 0.5.
/*hone
[[launch]]
kernel = "row_softmax"
grid   = ["ceil_div(rows, 4)"]
block  = ["128"]
args   = ["logits", "out", "rows:i64", "width:i64"]
*/
__global__ void row_softmax(const float* __restrict__ x, float* __restrict__ out, long long rows, long long width) {
  const long long row = static_cast<long long>(blockIdx.x) * 4 + threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  if (row >= rows) return;
  const float* mine = x + row * width;
  float most = -INFINITY, sum = 0.0f;
  for (long long i = lane; i < width; i += 32) most = fmaxf(most, mine[i] * 2.0f);
  for (int offset = 16; offset > 0; offset /= 2) most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, offset));
  for (long long i = lane; i < width; i += 32) sum += expf(mine[i] * 2.0f - most);
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
  for (long long i = lane; i < width; i += 32) out[row * width + i] = expf(mine[i] * 2.0f - most) / sum;
}
