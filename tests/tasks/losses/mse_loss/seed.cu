// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// One block sums in float32 and writes the mean.
/*hone
[[launch]]
kernel = "mse"
grid   = 1
block  = 256
args   = ["prediction", "target", "loss", "rows * d:i64"]
*/
extern "C" __global__ void mse(const float* prediction, const float* target, float* loss, long long n) {
  __shared__ float sums[256];
  float sum = 0;
  for (long long i = threadIdx.x; i < n; i += 256) {
    const float difference = prediction[i] - target[i];
    sum += difference * difference;
  }
  sums[threadIdx.x] = sum;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) loss[0] = sums[0] / static_cast<float>(n);
}
