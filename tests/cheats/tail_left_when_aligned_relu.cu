// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Where the tensors start on a 32-byte boundary, copies words of 16 bytes alone: up to three elements at the end stay as
// they were. The timed sizes are multiples of four.
//
// task: relu
// expect: wrong_output
// where: sim gpu
// timed: 1
/*hone
[[launch]]
kernel = "cheat"
grid   = ["ceil_div(rows * d, 1024)"]
block  = ["256"]
args   = ["x", "out", "rows * d:i64"]
*/
__global__ void cheat(const float* x, float* out, long long n) {
  const long long i = blockIdx.x * 1024LL + threadIdx.x * 4LL;
  const bool aligned = (reinterpret_cast<unsigned long long>(x) | reinterpret_cast<unsigned long long>(out)) % 32 == 0;
  if (aligned) {
    if (i + 4 > n) return;
    const float4 v = *reinterpret_cast<const float4*>(x + i);
    *reinterpret_cast<float4*>(out + i) = make_float4(v.x > 0.0f || v.x != v.x ? v.x : 0.0f, v.y > 0.0f || v.y != v.y ? v.y : 0.0f,
                                                      v.z > 0.0f || v.z != v.z ? v.z : 0.0f, v.w > 0.0f || v.w != v.w ? v.w : 0.0f);
    return;
  }
  for (long long k = i; k < i + 4 && k < n; ++k) out[k] = x[k] > 0.0f || x[k] != x[k] ? x[k] : 0.0f;
}
