// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Step 2: tiles in shared memory, said in layouts. A block computes 128 x 128 results from tiles of 128 x 16; every
// element of a tile, fetched once, serves 128 products. A thread keeps 8 x 8 results in registers, so that 16 reads from
// shared memory feed 64 products.
//
// CuTe's part: what is where is a layout, which part of it a thread takes is a partition by a layout of threads, and the
// arithmetic between the two is the compiler's. a's tile stands with M contiguous and a stride of 130 between columns: the
// writes of a warp (two rows, sixteen columns) then fall on 32 different banks, and so do the reads.
//
// What bounds it: the FMA units, at a fifteenth of what tensor cores would do; and nothing overlaps, a tile is waited for.
// The plain version of the same idea: plain/02_shared_tiles.cu. The simulated GPU runs both.
/*hone
[[launch]]
kernel = "shared_tiles"
grid   = ["ceil_div(m, 128) * ceil_div(n, 128)"]
block  = ["256"]
args   = ["a", "b", "c", "m:i32", "n:i32", "k:i32"]
*/
#include <cute/tensor.hpp>

using namespace cute;
using Element = bfloat16_t;
using BlockTile = Shape<_128, _128, _16>;                                // M, N, K of a block's step
using LayoutA = Layout<Shape<_128, _16>, Stride<_1, Int<130>>>;     // (M, K) in shared memory
using LayoutB = Layout<Shape<_128, _16>, Stride<_1, _128>>;         // (N, K)
using FetchA = Layout<Shape<_16, _16>, Stride<_16, _1>>;            // threads along K, as a lies in memory
using FetchB = Layout<Shape<_128, _2>, Stride<_1, _128>>;           // threads along N, as b does
using Threads = Layout<Shape<_16, _16>, Stride<_16, _1>>;           // threads over the results, along N for the stores

// Elements inside the matrix, as floats; zeros outside it.
template <class From, class At, class Extent, class To>
__device__ void Fetch(const From& from, const At& at, const Extent& extent, To&& to) {
  CUTE_UNROLL
  for (int i = 0; i < size(to); ++i) to(i) = elem_less(at(i), extent) ? float(from(i)) : 0.0f;
}

__global__ void __launch_bounds__(256) shared_tiles(const Element* a, const Element* b, Element* c, int m, int n, int k) {
  __shared__ float a_shared[cosize_v<LayoutA>], b_shared[cosize_v<LayoutB>];
  const auto extent_a = make_shape(m, k), extent_b = make_shape(n, k), extent_c = make_shape(m, n);
  const int tiles_n = (n + 127) / 128;
  const auto block = make_coord(int(blockIdx.x) / tiles_n, int(blockIdx.x) % tiles_n, _);

  // The matrices as (M, K), (N, K) and (M, N), and this block's tiles of them; and where each element stands.
  const Tensor ga = local_tile(make_tensor(make_gmem_ptr(a), extent_a, make_stride(int64_t(k), _1{})), BlockTile{}, block,
                               Step<_1, X, _1>{});
  const Tensor gb = local_tile(make_tensor(make_gmem_ptr(b), extent_b, make_stride(_1{}, int64_t(n))), BlockTile{}, block,
                               Step<X, _1, _1>{});
  Tensor gc = local_tile(make_tensor(make_gmem_ptr(c), extent_c, make_stride(int64_t(n), _1{})), BlockTile{}, block,
                         Step<_1, _1, X>{});
  const Tensor at_a = local_tile(make_identity_tensor(extent_a), BlockTile{}, block, Step<_1, X, _1>{});
  const Tensor at_b = local_tile(make_identity_tensor(extent_b), BlockTile{}, block, Step<X, _1, _1>{});
  const Tensor at_c = local_tile(make_identity_tensor(extent_c), BlockTile{}, block, Step<_1, _1, X>{});

  Tensor sa = make_tensor(make_smem_ptr(a_shared), LayoutA{});
  Tensor sb = make_tensor(make_smem_ptr(b_shared), LayoutB{});
  const int thread = threadIdx.x;
  const Tensor mine_a = local_partition(sa, Threads{}, thread, Step<_1, X>{});  // (8, K)
  const Tensor mine_b = local_partition(sb, Threads{}, thread, Step<X, _1>{});  // (8, K)
  Tensor mine_c = local_partition(gc, Threads{}, thread, Step<_1, _1>{});       // (8, 8)
  const Tensor mine_at = local_partition(at_c, Threads{}, thread, Step<_1, _1>{});
  Tensor sum = make_tensor<float>(shape(mine_c));
  clear(sum);

  for (int step = 0; step < size<2>(ga); ++step) {
    Fetch(local_partition(ga(_, _, step), FetchA{}, thread), local_partition(at_a(_, _, step), FetchA{}, thread), extent_a,
          local_partition(sa, FetchA{}, thread));
    Fetch(local_partition(gb(_, _, step), FetchB{}, thread), local_partition(at_b(_, _, step), FetchB{}, thread), extent_b,
          local_partition(sb, FetchB{}, thread));
    __syncthreads();
    gemm(mine_a, mine_b, sum);
    __syncthreads();
  }
  CUTE_UNROLL
  for (int i = 0; i < size(sum); ++i) {
    if (elem_less(mine_at(i), extent_c)) mine_c(i) = Element(sum(i));
  }
}
