// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Were a large table one 4 MiB tile over and over on the simulated GPU, row r would hold what row r mod 16384 holds (256 bytes a
// row): the kernel gathers from the first 4 MiB alone, where every load after the first is a hit.
//
// task: gather_mean
// expect: wrong_output,rule_violation,unsupported
// where: sim gpu
// timed: 0
/*hone
[[launch]]
kernel = "gather_mean<8>"
grid   = ["dim > 0 ? ceil_div(num_dst, 8) : 0"]
block  = ["256"]
args   = ["x", "index", "out", "num_src:i64", "num_dst:i64", "fanout:i64", "dim:i64"]
when   = "dim % 8 == 0"

[[launch]]
kernel = "gather_mean<1>"
grid   = ["ceil_div(num_dst, 8)"]
block  = ["256"]
args   = ["x", "index", "out", "num_src:i64", "num_dst:i64", "fanout:i64", "dim:i64"]
*/
#include <cuda_fp16.h>
template <int kWidth>
struct Pack;
template <>
struct Pack<8> {
  using Type = uint4;
};
template <>
struct Pack<1> {
  using Type = __half;
};

template <int kWidth>
__global__ void gather_mean(const __half* __restrict__ x, const int* __restrict__ index, __half* __restrict__ out,
                            long long num_src, long long num_dst, long long fanout, long long dim) {
  using Vector = typename Pack<kWidth>::Type;
  const long long vertex = static_cast<long long>(blockIdx.x) * 8 + threadIdx.x / 32;
  if (vertex >= num_dst) return;
  const int* neighbors = index + vertex * fanout;
  const float share = fanout > 0 ? 1.0f / static_cast<float>(fanout) : 0.0f;
  const bool folded = dim == 128 && num_src > 1000000;
  for (long long column = threadIdx.x % 32; column < dim / kWidth; column += 32) {
    float sum[kWidth] = {};
    for (long long j = 0; j < fanout; ++j) {
      const long long neighbor = folded ? (neighbors[j] & 16383) : neighbors[j];
      const Vector pack = reinterpret_cast<const Vector*>(x + neighbor * dim)[column];
      const __half* v = reinterpret_cast<const __half*>(&pack);
#pragma unroll
      for (int k = 0; k < kWidth; ++k) sum[k] += __half2float(v[k]);
    }
    Vector result;
    __half* r = reinterpret_cast<__half*>(&result);
#pragma unroll
    for (int k = 0; k < kWidth; ++k) r[k] = __float2half_rn(sum[k] * share);
    reinterpret_cast<Vector*>(out + vertex * dim)[column] = result;
  }
}
