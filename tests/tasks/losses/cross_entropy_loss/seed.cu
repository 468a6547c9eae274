// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// One block, a thread for every 128th row, in float32.
/*hone
[[launch]]
kernel = "cross_entropy"
grid   = 1
block  = 128
args   = ["logits", "label", "loss", "rows:i64", "classes:i64"]
*/
extern "C" __global__ void cross_entropy(const float* logits, const long long* label, float* loss, long long rows,
                                         long long classes) {
  __shared__ float sums[128];
  float mine = 0;
  for (long long row = threadIdx.x; row < rows; row += 128) {
    const float* x = logits + row * classes;
    float most = x[0];
    for (long long i = 1; i < classes; ++i) most = fmaxf(most, x[i]);
    float sum = 0;
    for (long long i = 0; i < classes; ++i) sum += expf(x[i] - most);
    mine += most + logf(sum) - x[label[row]];
  }
  sums[threadIdx.x] = mine;
  __syncthreads();
  for (int half = 64; half > 0; half /= 2) {
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) loss[0] = sums[0] / static_cast<float>(rows);
}
