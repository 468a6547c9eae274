// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// One warp per row, one running sum per lane: if a row of 393,216 numbers is nearly flat, each sum drifts one way.
//
// task: softmax
// expect: ok
// where: sim gpu
/*hone
[[launch]]
kernel = "softmax"
grid   = ["ceil_div(rows, 4)"]
block  = ["128"]
args   = ["x", "out", "rows:i64", "d:i64"]
*/
__global__ void softmax(const float* x, float* out, long long rows, long long d) {
  const long long r = blockIdx.x * 4LL + threadIdx.x / 32;
  if (r >= rows) return;
  const int lane = threadIdx.x % 32;
  const float* from = x + r * d;
  float* to = out + r * d;
  float top = __int_as_float(0xff800000);
  for (long long i = lane; i < d; i += 32) top = fmaxf(top, from[i]);
  for (int k = 16; k > 0; k /= 2) top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, k));
  float sum = 0.0f;
  for (long long i = lane; i < d; i += 32) sum += expf(from[i] - top);
  for (int k = 16; k > 0; k /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, k);
  for (long long i = lane; i < d; i += 32) to[i] = expf(from[i] - top) / sum;
}
