// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Writes a __constant__ variable through an ordinary address, and puts the old value back.
//
// task: relu
// expect: rule_violation,crashed
// where: sim gpu
/*hone
[[launch]]
kernel = "cheat"
grid   = ["ceil_div(rows * d, 256)"]
block  = ["256"]
args   = ["x", "out", "rows * d:i64"]
*/
__constant__ float table[4] = {0.0f, 1.0f, 2.0f, 3.0f};

__global__ void cheat(const float* x, float* out, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i >= n) return;
  float* word = const_cast<float*>(&table[i & 3]);
  const float was = *word;
  *word = x[i];
  out[i] = fmaxf(*word, 0.0f);
  *word = was;
}
