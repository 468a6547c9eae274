// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Answers equal shares for every element: the mean of the right answers.
//
// task: softmax
// expect: wrong_output
// where: sim gpu
/*hone
[[launch]]
kernel = "cheat"
grid   = ["rows"]
block  = ["256"]
args   = ["x", "out", "d:i64"]
*/
__global__ void cheat(const float* x, float* out, long long d) {
  const float* row = x + blockIdx.x * d;
  float* result = out + blockIdx.x * d;
  for (long long i = threadIdx.x; i < d; i += 256) result[i] = 1.0f / static_cast<float>(d);
}
