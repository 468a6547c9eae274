// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Words move by memcpy, four elements at a time where they are whole.
//
// task: relu
// expect: ok
// where: sim gpu
/*hone
[[launch]]
kernel = "relu"
grid   = ["ceil_div(rows * d, 256)"]
block  = ["256"]
args   = ["x", "out", "rows * d:i64"]
*/
__global__ void relu(const float* x, float* out, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i * 4 + 4 <= n) {
    float v[4];
    for (int j = 0; j < 4; ++j) memcpy(&v[j], x + i * 4 + j, 4);
    for (int j = 0; j < 4; ++j) v[j] = fmaxf(v[j], 0.0f);
    for (int j = 0; j < 4; ++j) memcpy(out + i * 4 + j, &v[j], 4);
  } else {
    for (long long j = i * 4; j < n; ++j) out[j] = fmaxf(x[j], 0.0f);
  }
}
