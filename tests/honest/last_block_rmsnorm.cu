// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Several blocks to a row: each adds its squares to a sum in a workspace that is zero on entry, waits in a grid that fits the device as a whole
// (cooperative) and the last reader puts sum and counter back to zero.
//
// task: rmsnorm
// expect: ok
// where: sim gpu
/*hone
[[workspace]]
name  = "sums"
bytes = "max(8, batch * 8)"
zero  = true

[[launch]]
kernel      = "rows_of"
grid        = ["batch * 4"]
block       = ["128"]
args        = ["x", "out", "sums", "features:i64", "eps:f32"]
cooperative = true
when        = "inner == 1 && features >= 64 && batch >= 1 && batch * 4 <= sm_count"

[[launch]]
kernel = "positions"
grid   = ["features > 0 ? ceil_div(batch * inner, 128) : 0"]
block  = ["128"]
args   = ["x", "out", "batch:i64", "features:i64", "inner:i64", "eps:f32"]
*/
#include <cooperative_groups.h>

struct Sum {
  float squares;
  unsigned readers;
};

__global__ void rows_of(const float* __restrict__ x, float* __restrict__ out, Sum* sums, long long features, float eps) {
  const long long row = blockIdx.x / 4, part = blockIdx.x % 4;
  const long long begin = features * part / 4, end = features * (part + 1) / 4;
  __shared__ float shared_squares[4], scale;
  float squares = 0.0f;
  for (long long i = begin + threadIdx.x; i < end; i += 128) squares += x[row * features + i] * x[row * features + i];
  for (int offset = 16; offset > 0; offset /= 2) squares += __shfl_xor_sync(~0u, squares, offset);
  if (threadIdx.x % 32 == 0) shared_squares[threadIdx.x / 32] = squares;
  __syncthreads();
  if (threadIdx.x == 0) {
    atomicAdd(&sums[row].squares, (shared_squares[0] + shared_squares[1]) + (shared_squares[2] + shared_squares[3]));
    __threadfence();
  }
  cooperative_groups::this_grid().sync();
  if (threadIdx.x == 0) {
    const float all = atomicAdd(&sums[row].squares, 0.0f);
    scale = rsqrtf(all / static_cast<float>(features) + eps);
    __threadfence();
    if (atomicAdd(&sums[row].readers, 1u) == 3) {
      atomicExch(&sums[row].squares, 0.0f);
      atomicExch(&sums[row].readers, 0u);
    }
  }
  __syncthreads();
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
