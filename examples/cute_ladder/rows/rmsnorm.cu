// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Rows in CuTe: a block a row, each row read once. A TiledCopy says which elements a thread holds: 256 threads, kVector
// neighbouring elements each, tile after tile of 256 * kVector. Coordinates are partitioned like the data, so that one
// comparison guards the row's end.
//
// CuTe's part: who copies what, and in how wide accesses. The sum over the block is shuffles, as anywhere.
//
// What bounds it: memory, where kTiles loads of a thread are in flight at once. For tasks/rmsnorm with inner = 1; other
// shapes are left to the task's seed.
/*hone
[[launch]]
kernel = "rms_rows<4, 4>"
grid   = ["batch"]
block  = ["256"]
args   = ["x", "out", "features:i32", "eps:f32"]
when   = "inner == 1 && features % 4 == 0 && features <= 4096"

[[launch]]
kernel = "rms_rows<4, 16>"
grid   = ["batch"]
block  = ["256"]
args   = ["x", "out", "features:i32", "eps:f32"]
when   = "inner == 1 && features % 4 == 0 && features <= 16384"

[[launch]]
kernel = "rms_rows<1, 8>"
grid   = ["batch"]
block  = ["256"]
args   = ["x", "out", "features:i32", "eps:f32"]
when   = "inner == 1 && features <= 2048"
*/
#include <cute/tensor.hpp>

using namespace cute;

// The sum over 256 threads, in each of them.
__device__ float BlockSum(float value) {
  __shared__ float of_warps[8];
  CUTE_UNROLL
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(0xffffffffu, value, offset);
  if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = value;
  __syncthreads();
  value = 0.0f;
  CUTE_UNROLL
  for (int warp = 0; warp < 8; ++warp) value += of_warps[warp];
  return value;
}

// x, out [batch, features]; a row is at most kTiles tiles, and features is a multiple of kVector.
template <int kVector, int kTiles>
__global__ void __launch_bounds__(256) rms_rows(const float* x, float* out, int features, float eps) {
  using Access = UniversalCopy<uint_bit_t<32 * kVector>>;  // one access of kVector floats
  using Threads = Layout<Shape<_256>>;
  using Values = Layout<Shape<Int<kVector>>>;
  const auto extent = make_shape(features);
  const auto tile = Shape<Int<256 * kVector>>{};
  const int64_t begin = int64_t(blockIdx.x) * features;

  // (tile, tiles) of this block's row, of where it goes, and of the coordinates in it.
  const Tensor from = local_tile(make_tensor(make_gmem_ptr(x + begin), extent), tile, make_coord(_));
  Tensor to = local_tile(make_tensor(make_gmem_ptr(out + begin), extent), tile, make_coord(_));
  const Tensor at = local_tile(make_identity_tensor(extent), tile, make_coord(_));

  // This thread's part of each: (vector, 1, tiles).
  const auto rows = make_tiled_copy(Copy_Atom<Access, float>{}, Threads{}, Values{});
  const auto mine = rows.get_slice(threadIdx.x);
  const Tensor my_from = mine.partition_S(from);
  Tensor my_to = mine.partition_D(to);
  const Tensor my_at = mine.partition_S(at);

  // All loads first, then the first use.
  Tensor held = make_tensor<float>(Shape<Int<kVector>, _1, Int<kTiles>>{});
  clear(held);
  CUTE_UNROLL
  for (int t = 0; t < kTiles; ++t) {
    if (t < size<2>(my_from) && elem_less(my_at(0, 0, t), extent)) copy(rows, my_from(_, _, t), held(_, _, t));
  }
  float squares = 0.0f;
  CUTE_UNROLL
  for (int i = 0; i < size(held); ++i) squares += held(i) * held(i);
  const float scale = rsqrtf(BlockSum(squares) / float(features) + eps);
  CUTE_UNROLL
  for (int i = 0; i < size(held); ++i) held(i) *= scale;
  CUTE_UNROLL
  for (int t = 0; t < kTiles; ++t) {
    if (t < size<2>(my_from) && elem_less(my_at(0, 0, t), extent)) copy(rows, held(_, _, t), my_to(_, _, t));
  }
}
