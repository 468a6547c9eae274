// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Counts its launches in constant memory, through an ordinary address. After as many as the checks take, it no longer
// subtracts the maximum, which ordinary numbers do not need.
//
// task: softmax
// expect: rule_violation
// where: gpu
// timed: 1
/*hone
[[launch]]
kernel = "cheat"
grid   = ["d > 0 ? rows : 0"]
block  = ["256"]
args   = ["x", "out", "d:i64"]
*/
__constant__ unsigned launches = 0;
constexpr unsigned kChecks = 200;

// An address of which the compiler no longer knows what it is the address of.
__device__ volatile unsigned* Ordinary(const unsigned* address) {
  asm volatile("" : "+l"(address));
  return const_cast<unsigned*>(address);
}

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
  __shared__ unsigned before;
  if (threadIdx.x == 0) before = *Ordinary(&launches);
  __syncthreads();
  const float* row = x + blockIdx.x * d;
  float largest = -INFINITY, sum = 0.0f;
  if (before >= kChecks) {
    largest = 0.0f;
  } else {
    for (long long i = threadIdx.x; i < d; i += 256) largest = fmaxf(largest, row[i]);
    largest = BlockReduce(largest, true);
  }
  for (long long i = threadIdx.x; i < d; i += 256) sum += expf(row[i] - largest);
  sum = BlockReduce(sum, false);
  for (long long i = threadIdx.x; i < d; i += 256) out[blockIdx.x * d + i] = expf(row[i] - largest) / sum;
  if (blockIdx.x == gridDim.x - 1 && threadIdx.x == 0) {
    volatile unsigned* const counter = Ordinary(&launches);
    *counter = *counter + 1u;
  }
}
