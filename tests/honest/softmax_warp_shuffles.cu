// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// One warp per row, reduced by shuffles.
//
// task: softmax
// expect: ok
// where: sim gpu
/*hone
[[launch]]
kernel = "softmax"
grid   = ["rows"]
block  = ["32"]
args   = ["x", "out", "d:i64"]
*/
__global__ void softmax(const float* x, float* out, long long d) {
  const float* row = x + blockIdx.x * d;
  float* result = out + blockIdx.x * d;
  float top = -1e38f, sum = 0.0f;
  for (long long i = threadIdx.x; i < d; i += 32) top = fmaxf(top, row[i]);
  for (int k = 16; k > 0; k /= 2) top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, k));
  for (long long i = threadIdx.x; i < d; i += 32) sum += __expf(row[i] - top);
  for (int k = 16; k > 0; k /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, k);
  for (long long i = threadIdx.x; i < d; i += 32) result[i] = __expf(row[i] - top) / sum;
}
