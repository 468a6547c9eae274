// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// examples/kernels/gather_mean.cu with the bindings that were fastest on an H200, by shape.
//
// gather_mean with as many lanes a destination as its row has vectors, so that no lane idles, and DEEP neighbors' rows
// under way at once: the rows lie anywhere, and only loads in flight hide that. A group's lanes read its indexes
// together and hand them round.
/*hone
[tune]
BLOCK = [256]
DEEP = [5]

[[launch]]
kernel = "gather_mean<8, 16, DEEP>"
grid   = ["ceil_div(num_dst, BLOCK / 16)"]
block  = ["BLOCK"]
args   = ["x", "index", "out", "num_dst:i64", "fanout:i32", "dim:i32"]
when   = "dim % 8 == 0 && dim > 64 && dim <= 128"
with   = { BLOCK = 64, DEEP = 5 }

[[launch]]
kernel = "gather_mean<8, 32, DEEP>"
grid   = ["dim > 0 ? ceil_div(num_dst, BLOCK / 32) : 0"]
block  = ["BLOCK"]
args   = ["x", "index", "out", "num_dst:i64", "fanout:i32", "dim:i32"]
when   = "dim % 8 == 0"

[[launch]]
kernel = "gather_mean<4, 32, DEEP>"
grid   = ["ceil_div(num_dst, BLOCK / 32)"]
block  = ["BLOCK"]
args   = ["x", "index", "out", "num_dst:i64", "fanout:i32", "dim:i32"]
when   = "dim % 4 == 0"

[[launch]]
kernel = "gather_mean<1, 32, DEEP>"
grid   = ["ceil_div(num_dst, BLOCK / 32)"]
block  = ["BLOCK"]
args   = ["x", "index", "out", "num_dst:i64", "fanout:i32", "dim:i32"]
*/
#include <cuda_fp16.h>

namespace {

// kWidth consecutive float16 in one load or store.
template <int kWidth>
struct Pack;
template <>
struct Pack<8> {
  using Type = uint4;
};
template <>
struct Pack<4> {
  using Type = uint2;
};
template <>
struct Pack<1> {
  using Type = __half;
};

}  // namespace

// x [any, dim], index [num_dst, fanout], out [num_dst, dim]; dim is a multiple of kWidth. kLanes threads a destination.
template <int kWidth, int kLanes, int kDeep>
__global__ void gather_mean(const __half* __restrict__ x, const int* __restrict__ index, __half* __restrict__ out,
                            long long num_dst, int fanout, int dim) {
  using Vector = typename Pack<kWidth>::Type;
  const long long vertex = static_cast<long long>(blockIdx.x) * (blockDim.x / kLanes) + threadIdx.x / kLanes;
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const bool present = vertex < num_dst;  // shuffles want the whole warp
  const int* neighbors = index + vertex * fanout;
  const int vectors = dim / kWidth;
  const float share = fanout > 0 ? 1.0f / static_cast<float>(fanout) : 0.0f;

  for (int first_column = 0; first_column < vectors; first_column += kLanes) {
    const int column = first_column + lane;
    const bool mine = present && column < vectors;
    float sum[kWidth] = {};
    for (int base = 0; base < fanout; base += kLanes) {
      const int held = present && base + lane < fanout ? __ldg(neighbors + base + lane) : 0;
      const int here = min(kLanes, fanout - base);
      for (int j = 0; j < here; j += kDeep) {
        Vector packs[kDeep];
#pragma unroll
        for (int u = 0; u < kDeep; ++u) {
          const long long neighbor = __shfl_sync(0xffffffffu, held, min(j + u, kLanes - 1), kLanes);
          if (mine && j + u < here) packs[u] = __ldg(reinterpret_cast<const Vector*>(x + neighbor * dim) + column);
        }
#pragma unroll
        for (int u = 0; u < kDeep; ++u) {
          if (mine && j + u < here) {
            const __half* v = reinterpret_cast<const __half*>(&packs[u]);
#pragma unroll
            for (int e = 0; e < kWidth; ++e) sum[e] += __half2float(v[e]);
          }
        }
      }
    }
    if (mine) {
      Vector packed;
      __half* r = reinterpret_cast<__half*>(&packed);
#pragma unroll
      for (int e = 0; e < kWidth; ++e) r[e] = __float2half_rn(sum[e] * share);
      __stcs(reinterpret_cast<Vector*>(out + vertex * dim) + column, packed);
    }
  }
}
