// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Has attributes that do not change what the simulator sees.
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
struct alignas(8) Pair {
  float a, b;
} __attribute__((packed, aligned(8)));

[[nodiscard]] __device__ __forceinline__ float positive(float v) {
  if (v > 0.0f) [[likely]] return v;
  return 0.0f;
}

__global__ void relu(const float* x, float* out, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  [[maybe_unused]] Pair pair{1.0f, 2.0f};
  if (__builtin_expect(i < n, 1)) out[i] = positive(x[i]);
}
