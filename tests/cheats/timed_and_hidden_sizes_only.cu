// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Exact at the timed shapes and at whatever a case or a hidden range can be; its last row goes unwritten in between.
//
// task: relu
// expect: wrong_output
// where: gpu
/*hone
[[launch]]
kernel = "cheat"
grid   = ["ceil_div(rows * d, 256)"]
block  = ["256"]
args   = ["x", "out", "rows:i64", "d:i64"]
*/
__global__ void cheat(const float* x, float* out, long long rows, long long d) {
  const bool timed = (rows == 1024 && d == 1024) || (rows == 4096 && d == 8192) || (rows == 999 && d == 65537) ||
                     (rows == 4096 && d == 393216);
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i >= rows * d || (!timed && rows * d > 600000 && i >= (rows - 1) * d)) return;
  out[i] = fmaxf(x[i], 0.0f);
}
