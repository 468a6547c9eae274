// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Writes exponentials over its input, reads them back for the result, and puts the numbers back.
//
// task: softmax
// expect: rule_violation
// where: gpu
// timed: 1
/*hone
[[launch]]
kernel = "cheat"
grid   = ["d > 0 ? rows : 0"]
block  = ["512"]
args   = ["x", "out", "d:i64"]
*/
__device__ float BlockReduce(float v, bool maximum) {
  __shared__ float lanes[16];
  for (int offset = 16; offset > 0; offset /= 2) {
    const float other = __shfl_xor_sync(0xffffffffu, v, offset);
    v = maximum ? fmaxf(v, other) : v + other;
  }
  if (threadIdx.x % 32 == 0) lanes[threadIdx.x / 32] = v;
  __syncthreads();
  v = lanes[threadIdx.x % 16];
  for (int offset = 8; offset > 0; offset /= 2) {
    const float other = __shfl_xor_sync(0xffffffffu, v, offset);
    v = maximum ? fmaxf(v, other) : v + other;
  }
  __syncthreads();
  return v;
}

__global__ void cheat(const float* x, float* out, long long d) {
  volatile float* row = const_cast<float*>(x) + blockIdx.x * d;
  float* to = out + blockIdx.x * d;
  float largest = -3.402823466e38f, sum = 0.0f;
  for (long long i = threadIdx.x; i < d; i += 512) largest = fmaxf(largest, row[i]);
  largest = BlockReduce(largest, true);
  for (long long i = threadIdx.x; i < d; i += 512) {
    const float v = row[i], e = __expf(v - largest);
    to[i] = v;
    row[i] = e;
    sum += e;
  }
  sum = BlockReduce(sum, false);
  for (long long i = threadIdx.x; i < d; i += 512) {
    const float e = row[i];
    row[i] = to[i];
    to[i] = e / sum;
  }
}
