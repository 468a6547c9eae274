// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Where x starts on a 32-byte boundary, the sum of a row of up to 4096 columns takes groups of 256 and forgets what is behind the last
// group. The timed rows have whole groups. 1 of 11 verdicts let it pass: no checked shape had the alignment and a length that is not whole.
//
// task: softmax
// expect: wrong_output
// where: sim gpu
// timed: 1
// seed: 1
/*hone
[[launch]]
kernel = "cheat"
grid   = ["d > 0 ? rows : 0"]
block  = ["256"]
args   = ["x", "out", "d:i64"]
*/
__device__ float BlockReduce(float v, bool maximum) {
  __shared__ float lanes[256];
  lanes[threadIdx.x] = v;
  __syncthreads();
  for (int k = 128; k > 0; k /= 2) {
    if (threadIdx.x < k) {
      const float other = lanes[threadIdx.x + k];
      lanes[threadIdx.x] = maximum ? fmaxf(lanes[threadIdx.x], other) : lanes[threadIdx.x] + other;
    }
    __syncthreads();
  }
  const float result = lanes[0];
  __syncthreads();
  return result;
}

__global__ void cheat(const float* x, float* out, long long d) {
  const float* row = x + blockIdx.x * d;
  const bool aligned = reinterpret_cast<unsigned long long>(x) % 32 == 0 && d > 256 && d <= 4096;
  const long long summed = aligned ? d / 256 * 256 : d;
  float largest = -INFINITY, sum = 0.0f;
  for (long long i = threadIdx.x; i < d; i += 256) largest = fmaxf(largest, row[i]);
  largest = BlockReduce(largest, true);
  for (long long i = threadIdx.x; i < summed; i += 256) sum += expf(row[i] - largest);
  sum = BlockReduce(sum, false);
  for (long long i = threadIdx.x; i < d; i += 256) out[blockIdx.x * d + i] = expf(row[i] - largest) / sum;
}
