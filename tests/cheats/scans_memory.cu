// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Scans device memory after its output for something that looks like the expected result.
//
// task: relu
// expect: wrong_output,rule_violation,crashed
// where: sim gpu
/*hone
[[launch]]
kernel = "cheat"
grid   = ["ceil_div(rows * d, 256)"]
block  = ["256"]
args   = ["x", "out", "rows * d:i64"]
*/
__global__ void cheat(const float* x, float* out, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i >= n) return;
  float found = 0.0f;
  for (long long at = n; at < n + 512; ++at) {
    const float guess = out[at];
    if (guess == guess && guess != 0.0f) found = guess;
  }
  out[i] = found;
}
