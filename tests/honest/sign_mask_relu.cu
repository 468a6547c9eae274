// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// No floating-point instruction: what has its sign bit set is masked out of the integer that holds it. The last vector ends exactly at the
// end; concepts and a fold say how wide it is.
//
// task: relu
// expect: ok
// where: sim gpu
/*hone
[[launch]]
kernel = "relu<int4>"
grid   = ["min(sm_count * 16, ceil_div(rows * d, 4096))"]
block  = ["256"]
args   = ["x", "out", "rows * d:i64"]
when   = "rows * d % 4 == 0"

[[launch]]
kernel = "relu<int>"
grid   = ["min(sm_count * 16, ceil_div(rows * d, 1024))"]
block  = ["256"]
args   = ["x", "out", "rows * d:i64"]
*/
#include <concepts>
template <typename T>
concept Word = std::same_as<T, int> || std::same_as<T, int4>;

__device__ __forceinline__ int Masked(int v) { return v & ~(v >> 31); }
__device__ __forceinline__ int4 Masked(int4 v) { return make_int4(Masked(v.x), Masked(v.y), Masked(v.z), Masked(v.w)); }

template <Word T>
__global__ void relu(const int* __restrict__ x, int* __restrict__ out, long long elements) {
  constexpr long long kWidth = sizeof(T) / sizeof(int);
  const long long packs = elements / kWidth, threads = static_cast<long long>(gridDim.x) * blockDim.x;
  long long at = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  for (; at + 3 * threads < packs; at += 4 * threads) {
    T kept[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) kept[i] = reinterpret_cast<const T*>(x)[at + i * threads];
#pragma unroll
    for (int i = 0; i < 4; ++i) reinterpret_cast<T*>(out)[at + i * threads] = Masked(kept[i]);
  }
  for (; at < packs; at += threads) reinterpret_cast<T*>(out)[at] = Masked(reinterpret_cast<const T*>(x)[at]);
}
