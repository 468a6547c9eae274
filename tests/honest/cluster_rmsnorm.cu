// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Rows of one are shared by a cluster of four blocks, whose sums meet in distributed shared memory.
//
// task: rmsnorm
// expect: ok
// where: gpu
/*hone
[[launch]]
kernel  = "rows_of"
grid    = ["features > 0 ? batch * 4 : 0"]
block   = ["128"]
cluster = ["4"]
args    = ["x", "out", "features:i64", "eps:f32"]
when    = "inner == 1 && batch < 500000000"

[[launch]]
kernel = "positions"
grid   = ["features > 0 ? ceil_div(batch * inner, 128) : 0"]
block  = ["128"]
args   = ["x", "out", "batch:i64", "features:i64", "inner:i64", "eps:f32"]
*/
#include <cooperative_groups.h>

__global__ void __launch_bounds__(128) rows_of(const float* __restrict__ x, float* __restrict__ out, long long features, float eps) {
  namespace cg = cooperative_groups;
  const cg::cluster_group cluster = cg::this_cluster();
  const long long row = blockIdx.x / 4, part = blockIdx.x % 4;
  const long long begin = features * part / 4, end = features * (part + 1) / 4;
  __shared__ float warps[4], mine;
  float squares = 0.0f;
  for (long long i = begin + threadIdx.x; i < end; i += 128) squares += x[row * features + i] * x[row * features + i];
  for (int offset = 16; offset > 0; offset /= 2) squares += __shfl_xor_sync(~0u, squares, offset);
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = squares;
  __syncthreads();
  if (threadIdx.x == 0) mine = (warps[0] + warps[1]) + (warps[2] + warps[3]);
  cluster.sync();
  float all = 0.0f;
  for (int i = 0; i < 4; ++i) all += *cluster.map_shared_rank(&mine, i);
  cluster.sync();
  const float scale = rsqrtf(all / static_cast<float>(features) + eps);
  for (long long i = begin + threadIdx.x; i < end; i += 128) out[row * features + i] = x[row * features + i] * scale;
}

__global__ void positions(const float* __restrict__ x, float* __restrict__ out, long long batch, long long features,
                          long long inner, float eps) {
  const long long at = static_cast<long long>(blockIdx.x) * 128 + threadIdx.x;
  if (at >= batch * inner) return;
  const long long begin = at / inner * features * inner + at % inner;
  float squares[4] = {};
  for (long long f = 0; f < features; ++f) squares[f & 3] = fmaf(x[begin + f * inner], x[begin + f * inner], squares[f & 3]);
  const float scale = rsqrtf(((squares[0] + squares[1]) + (squares[2] + squares[3])) / static_cast<float>(features) + eps);
  for (long long f = 0; f < features; ++f) out[begin + f * inner] = x[begin + f * inner] * scale;
}
