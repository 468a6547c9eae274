// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Structs of three floats are copied whole.
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
struct Three {
  float a, b, c;
};

__global__ void relu(const float* x, float* out, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  const long long first = i * 3;
  if (first + 3 <= n) {
    Three t = *reinterpret_cast<const Three*>(x + first);
    t.a = fmaxf(t.a, 0.0f);
    t.b = fmaxf(t.b, 0.0f);
    t.c = fmaxf(t.c, 0.0f);
    *reinterpret_cast<Three*>(out + first) = t;
  } else {
    for (long long j = first; j < n; ++j) out[j] = fmaxf(x[j], 0.0f);
  }
}
