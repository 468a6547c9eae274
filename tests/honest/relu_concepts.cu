// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A candidate in C++20.
//
// task: relu
// expect: ok
// where: sim
/*hone
[[launch]]
kernel = "relu"
grid   = ["ceil_div(rows * d, 256)"]
block  = ["256"]
args   = ["x", "out", "rows * d:i64"]
*/
template <typename T>
concept Number = requires(T a, T b) {
  { a < b };
};

template <Number T>
__device__ constexpr T positive(T v) {
  return v < T{0} ? T{0} : v;
}

struct Options {
  int skip = 0;
  float low = 0.0f;
};

__global__ void relu(const float* x, float* out, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  constexpr Options options{.skip = 0, .low = 0.0f};
  const auto clamp = []<typename T>(T v) { return positive(v); };
  if (i < n) out[i] = fmaxf(clamp(x[i]), options.low);
}
