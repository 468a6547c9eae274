// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Step 3 once more, all of it said in CuTe's algebra: TiledMMA, TiledCopy, partitions, retiled fragments. It does what
// 03_mma_sync.cu does, and is the form in which CuTe is usually taught. The compiler works out every one of these types
// anew, which takes it about ten times as long (docs/cute.md); beside the other version it shows what each line there
// stands for, and what the price of saying it this way is.
/*hone
[[launch]]
kernel = "mma_sync"
grid   = ["ceil_div(m, 128) * ceil_div(n, 128)"]
block  = ["256"]
args   = ["a", "b", "c", "m:i32", "n:i32", "k:i32"]
when   = "n % 8 == 0 && k % 8 == 0"

[[launch]]
kernel = "any_shape"
grid   = ["ceil_div(m * n, 256)"]
block  = ["256"]
args   = ["a", "b", "c", "m:i64", "n:i64", "k:i64"]
*/
#include <cute/tensor.hpp>

using namespace cute;
using Element = bfloat16_t;
constexpr int kStages = 2;
using BlockTile = Shape<_128, _128, _32>;
using LayoutA = Layout<Shape<_128, _32, Int<kStages>>, Stride<Int<40>, _1, Int<128 * 40>>>;   // (M, K, stage)
using LayoutB = Layout<Shape<_128, _32, Int<kStages>>, Stride<_1, Int<136>, Int<32 * 136>>>;  // (N, K, stage)
// Eight warps, 2 x 4; a warp's step covers 16 rows and 16 columns, which is one ldmatrix of four for each operand.
using Mma = decltype(make_tiled_mma(MMA_Atom<SM80_16x8x16_F32BF16BF16F32_TN>{}, Layout<Shape<_2, _4, _1>>{},
                                    Tile<_32, _64, _16>{}));
using CopyAtom = Copy_Atom<SM80_CP_ASYNC_CACHEGLOBAL_ZFILL<uint128_t>, Element>;
using FetchA = decltype(make_tiled_copy(CopyAtom{}, Layout<Shape<_64, _4>, Stride<_4, _1>>{}, Layout<Shape<_1, _8>>{}));
using FetchB = decltype(make_tiled_copy(CopyAtom{}, Layout<Shape<_16, _16>>{}, Layout<Shape<_8, _1>>{}));

// One tile of one matrix: `from` (vector, rows, columns), `at` the same for coordinates.
template <class Fetch, class From, class At, class Extent, class To>
__device__ void FetchTile(const Fetch& fetch, const From& from, const At& at, const Extent& extent, To&& to) {
  CUTE_UNROLL
  for (int i = 0; i < size<1>(to); ++i) {
    CUTE_UNROLL
    for (int j = 0; j < size<2>(to); ++j) {
      copy(fetch.with(elem_less(at(0, i, j), extent)), from(_, i, j), to(_, i, j));
    }
  }
}

__global__ void __launch_bounds__(256) mma_sync(const Element* a, const Element* b, Element* c, int m, int n, int k) {
  __shared__ __align__(128) Element a_shared[cosize_v<LayoutA>], b_shared[cosize_v<LayoutB>];
  const auto extent_a = make_shape(m, k), extent_b = make_shape(n, k);
  const int tiles_n = (n + 127) / 128;
  const auto block = make_coord(int(blockIdx.x) / tiles_n, int(blockIdx.x) % tiles_n, _);
  const int thread = threadIdx.x;

  const Tensor ga = local_tile(make_tensor(make_gmem_ptr(a), extent_a, make_stride(int64_t(k), _1{})), BlockTile{}, block,
                               Step<_1, X, _1>{});
  const Tensor gb = local_tile(make_tensor(make_gmem_ptr(b), extent_b, make_stride(_1{}, int64_t(n))), BlockTile{}, block,
                               Step<X, _1, _1>{});
  const Tensor sa = make_tensor(make_smem_ptr(a_shared), LayoutA{});
  const Tensor sb = make_tensor(make_smem_ptr(b_shared), LayoutB{});

  // Who copies what.
  const FetchA fetch_a;
  const FetchB fetch_b;
  const auto copy_a = fetch_a.get_slice(thread);
  const auto copy_b = fetch_b.get_slice(thread);
  const Tensor from_a = copy_a.partition_S(ga);  // (vector, M, K, step)
  const Tensor from_b = copy_b.partition_S(gb);
  const Tensor to_a = copy_a.partition_D(sa);  // (vector, M, K, stage)
  const Tensor to_b = copy_b.partition_D(sb);
  const Tensor at_a = copy_a.partition_S(local_tile(make_identity_tensor(extent_a), BlockTile{}, block, Step<_1, X, _1>{}));
  const Tensor at_b = copy_b.partition_S(local_tile(make_identity_tensor(extent_b), BlockTile{}, block, Step<X, _1, _1>{}));
  const int steps = size<2>(ga);
  const auto fetch = [&](int step) {
    FetchTile(fetch_a, from_a(_, _, _, step), at_a(_, _, _, step), extent_a, to_a(_, _, _, step % kStages));
    FetchTile(fetch_b, from_b(_, _, _, step), at_b(_, _, _, step), extent_b, to_b(_, _, _, step % kStages));
    cp_async_fence();
  };

  // Who multiplies what.
  const Mma mma;
  const auto multiply = mma.get_slice(thread);
  Tensor fragment_a = multiply.partition_fragment_A(sa(_, _, 0));  // (values, M, K)
  Tensor fragment_b = multiply.partition_fragment_B(sb(_, _, 0));
  Tensor sum = partition_fragment_C(mma, Shape<_128, _128>{});
  clear(sum);
  const auto load_a = make_tiled_copy_A(Copy_Atom<SM75_U32x4_LDSM_N, Element>{}, mma);
  const auto load_b = make_tiled_copy_B(Copy_Atom<SM75_U16x8_LDSM_T, Element>{}, mma);
  const Tensor tile_a = load_a.get_slice(thread).partition_S(sa);  // (values, M, K, stage)
  const Tensor tile_b = load_b.get_slice(thread).partition_S(sb);
  Tensor into_a = load_a.get_slice(thread).retile_D(fragment_a);
  Tensor into_b = load_b.get_slice(thread).retile_D(fragment_b);

  if (steps > 0) fetch(0);
  for (int step = 0; step < steps; ++step) {
    cp_async_wait<0>();
    __syncthreads();  // this step's tiles are there, and everyone has left the other pair
    if (step + 1 < steps) fetch(step + 1);
    CUTE_UNROLL
    for (int i = 0; i < size<2>(fragment_a); ++i) {
      copy(load_a, tile_a(_, _, i, step % kStages), into_a(_, _, i));
      copy(load_b, tile_b(_, _, i, step % kStages), into_b(_, _, i));
      gemm(mma, fragment_a(_, _, i), fragment_b(_, _, i), sum);
    }
  }

  const Tensor at = multiply.partition_C(make_identity_tensor(Shape<_128, _128>{}));
  CUTE_UNROLL
  for (int i = 0; i < size(sum); i += 2) {  // pairs of neighbouring columns
    const int row = get<0>(block) * 128 + get<0>(at(i)), column = get<1>(block) * 128 + get<1>(at(i));
    if (row < m && column < n) {
      *reinterpret_cast<__nv_bfloat162*>(c + int64_t(row) * n + column) = __floats2bfloat162_rn(sum(i), sum(i + 1));
    }
  }
}

// What 16-byte copies cannot bring.
__global__ void any_shape(const Element* a, const Element* b, Element* c, long long m, long long n, long long k) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i >= m * n) return;
  float sum = 0;
  for (long long j = 0; j < k; ++j) sum += float(a[i / n * k + j]) * float(b[j * n + i % n]);
  c[i] = Element(sum);
}
