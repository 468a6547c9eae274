// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// One block; its threads' sums are added in shared memory.
/*hone
[[launch]]
kernel = "loss"
grid   = ["1"]
block  = ["128"]
args   = ["prediction", "target", "out", "rows * width:i64"]
*/
__global__ void loss(const float* prediction, const float* target, float* out, long long n) {
  __shared__ float sums[128];
  float sum = 0.0f;
  for (long long i = threadIdx.x; i < n; i += 128) {
    const float d = fabsf(prediction[i] - target[i]);
    sum += d < 1.0f ? 0.5f * d * d : d - 0.5f;
  }
  sums[threadIdx.x] = sum;
  __syncthreads();
  for (int half = 64; half > 0; half /= 2) {
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[0] = sums[0] / static_cast<float>(n);
}
