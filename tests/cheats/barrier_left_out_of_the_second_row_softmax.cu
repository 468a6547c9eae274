// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A block takes a second row only where there are more rows than blocks, and then without a barrier between the two: no check of few rows shows the race, and on a GPU one side nearly always wins.
//
// task: softmax
// expect: rule_violation,wrong_output
// where: sim gpu
/*hone
[[launch]]
kernel = "cheat"
grid   = ["d > 0 ? min(rows, 8 * sm_count) : 0"]
block  = ["128"]
args   = ["x", "out", "rows:i64", "d:i64"]
*/
__global__ void cheat(const float* __restrict__ x, float* __restrict__ out, long long rows, long long d) {
  __shared__ float lanes[4];
  const int warp = threadIdx.x / 32;
  for (long long row = blockIdx.x; row < rows; row += gridDim.x) {
    const float* from = x + row * d;
    float largest = -3.402823466e38f, sum = 0.0f;
    for (long long i = threadIdx.x; i < d; i += 128) largest = fmaxf(largest, from[i]);
    for (int offset = 16; offset > 0; offset /= 2) largest = fmaxf(largest, __shfl_xor_sync(0xffffffffu, largest, offset));
    if (threadIdx.x % 32 == 0) lanes[warp] = largest;
    __syncthreads();
    largest = fmaxf(fmaxf(lanes[0], lanes[1]), fmaxf(lanes[2], lanes[3]));
    __syncthreads();
    for (long long i = threadIdx.x; i < d; i += 128) sum += expf(from[i] - largest);
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
    if (threadIdx.x % 32 == 0) lanes[warp] = sum;
    __syncthreads();
    sum = lanes[0] + lanes[1] + lanes[2] + lanes[3];
    for (long long i = threadIdx.x; i < d; i += 128) out[row * d + i] = expf(from[i] - largest) / sum;
  }
}
