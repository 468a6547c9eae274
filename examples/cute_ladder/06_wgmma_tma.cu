// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Step 6: Hopper's own path. A warp group multiplies straight from shared memory (wgmma), whole tiles are brought by the
// copy engine (TMA) and announced by mbarriers, and the two run in different warps: one thread of the first warp group
// only asks for tiles, two warp groups only multiply, 64 x 256 results each.
//
// The plan's tensor maps describe a and b; their 128-byte swizzle is exactly what GMMA's SW128 layouts say, so a tile
// needs no address arithmetic at all. b lies K x N, and wgmma reads 16-bit operands in either order (Major::MN).
//
// What bounds it: the tensor cores during the main loop; before and after it, the start of a block, the epilogue's
// scattered stores and a partial last wave, all with the tensor cores idle.
/*hone
constraints = ["STAGES * (128 + BN) * 128 + 1280 <= 232448"]

[tune]
BN = [256, 128]
STAGES = [4, 3, 6]

[[tensor_map]]
name = "a_map"
tensor = "a"
dims = ["k", "m"]
strides = ["k * 2"]
box = ["64", "128"]
swizzle = "128B"
l2_promotion = "256B"

[[tensor_map]]
name = "b_map"
tensor = "b"
dims = ["n", "k"]
strides = ["n * 2"]
box = ["64", "64"]
swizzle = "128B"
l2_promotion = "256B"

[[launch]]
kernel = "wgmma_tma<BN, STAGES>"
grid   = ["ceil_div(m, 128) * ceil_div(n, BN)"]
block  = ["384"]
shared = "STAGES * (128 + BN) * 128 + 1280"
args   = ["tensormap:a_map", "tensormap:b_map", "c", "m:i32", "n:i32", "k:i32"]
when   = "n % 8 == 0 && k % 8 == 0 && k > 0"

[[launch]]
kernel = "any_shape"
grid   = ["ceil_div(m * n, 256)"]
block  = ["256"]
args   = ["a", "b", "c", "m:i64", "n:i64", "k:i64"]
*/
#include <cute/tensor.hpp>
#include <cutlass/arch/barrier.h>
#include <cutlass/arch/reg_reconfig.h>

using namespace cute;
using Element = bfloat16_t;
using Barrier = cutlass::arch::ClusterBarrier;
using TileBarrier = cutlass::arch::ClusterTransactionBarrier;  // also counts bytes that have arrived

constexpr int kBM = 128, kBK = 64;  // 64 elements are 128 bytes: one row of the swizzle
constexpr int kConsumerWarps = 8;

template <int kBN>
using Atom = conditional_t<kBN == 256, SM90_64x256x16_F32BF16BF16_SS<GMMA::Major::K, GMMA::Major::MN>,
                           SM90_64x128x16_F32BF16BF16_SS<GMMA::Major::K, GMMA::Major::MN>>;
template <int kBN>
using Mma = decltype(make_tiled_mma(Atom<kBN>{}, Layout<Shape<_2, _1, _1>>{}));  // two warp groups, one above the other
template <int kStages>
using LayoutA = decltype(tile_to_shape(GMMA::Layout_K_SW128_Atom<Element>{}, Shape<Int<kBM>, Int<kBK>, Int<kStages>>{}));
// K first, then N: a box of 64 x 64 lies in one piece, as TMA writes it.
template <int kBN, int kStages>
using LayoutB = decltype(tile_to_shape(GMMA::Layout_MN_SW128_Atom<Element>{},
                                       Shape<Int<kBN>, Int<kBK>, Int<kStages>>{}, Step<_2, _1, _3>{}));

template <int kBN, int kStages>
struct Shared {
  alignas(1024) Element a[cosize_v<LayoutA<kStages>>];
  alignas(1024) Element b[cosize_v<LayoutB<kBN, kStages>>];
  uint64_t full[kStages], empty[kStages];
};

template <int kBN, int kStages>
__global__ void __launch_bounds__(384, 1)
    wgmma_tma(const __grid_constant__ CUtensorMap a_map, const __grid_constant__ CUtensorMap b_map, Element* c, int m,
              int n, int k) {
  extern __shared__ uint8_t raw[];
  // The swizzle is a function of the address: tiles start at multiples of 1024.
  auto& shared = *reinterpret_cast<Shared<kBN, kStages>*>((reinterpret_cast<uintptr_t>(raw) + 1023) & ~uintptr_t{1023});
  const int tiles_n = (n + kBN - 1) / kBN;
  const int row = blockIdx.x / tiles_n * kBM, column = blockIdx.x % tiles_n * kBN;
  const int steps = (k + kBK - 1) / kBK;

  if (threadIdx.x == 0) {
    for (int s = 0; s < kStages; ++s) {
      TileBarrier::init(&shared.full[s], 1);
      Barrier::init(&shared.empty[s], kConsumerWarps);
    }
    cutlass::arch::fence_barrier_init();
  }
  __syncthreads();

  if (threadIdx.x < 128) {
    cutlass::arch::warpgroup_reg_dealloc<40>();
    if (threadIdx.x == 0) {
      for (int step = 0; step < steps; ++step) {
        const int s = step % kStages;
        // A wait for the phase before the first one passes: all slots are empty at the start.
        Barrier::wait(&shared.empty[s], (step / kStages & 1) ^ 1);
        TileBarrier::arrive_and_expect_tx(&shared.full[s], (kBM + kBN) * kBK * sizeof(Element));
        SM90_TMA_LOAD_2D::copy(&a_map, &shared.full[s], uint64_t(TMA::CacheHintSm90::EVICT_NORMAL),
                               shared.a + s * kBM * kBK, step * kBK, row);
        for (int j = 0; j < kBN / 64; ++j) {
          SM90_TMA_LOAD_2D::copy(&b_map, &shared.full[s], uint64_t(TMA::CacheHintSm90::EVICT_NORMAL),
                                 shared.b + (s * kBN + j * 64) * kBK, column + j * 64, step * kBK);
        }
      }
    }
    return;
  }

  cutlass::arch::warpgroup_reg_alloc<232>();
  Mma<kBN> mma;
  const auto thread = mma.get_slice(threadIdx.x - 128);
  const Tensor a_tile = make_tensor(make_smem_ptr(shared.a), LayoutA<kStages>{});      // (BM, BK, stage)
  const Tensor b_tile = make_tensor(make_smem_ptr(shared.b), LayoutB<kBN, kStages>{});  // (BN, BK, stage)
  const Tensor a = thread.make_fragment_A(thread.partition_A(a_tile));  // descriptors, not registers
  const Tensor b = thread.make_fragment_B(thread.partition_B(b_tile));
  Tensor sum = partition_fragment_C(mma, Shape<Int<kBM>, Int<kBN>>{});

  mma.accumulate_ = GMMA::ScaleOut::Zero;
  for (int step = 0; step < steps; ++step) {
    const int s = step % kStages;
    TileBarrier::wait(&shared.full[s], step / kStages & 1);
    warpgroup_fence_operand(sum);
    warpgroup_arrive();
    CUTE_UNROLL
    for (int i = 0; i < size<2>(a); ++i) {
      cute::gemm(mma, a(_, _, i, s), b(_, _, i, s), sum);
      mma.accumulate_ = GMMA::ScaleOut::One;
    }
    warpgroup_commit_batch();
    // The batch before this one is done, and its slot may be filled again.
    warpgroup_wait<1>();
    if (step > 0 && threadIdx.x % 32 == 0) Barrier::arrive(&shared.empty[(step - 1) % kStages]);
  }
  warpgroup_wait<0>();
  warpgroup_fence_operand(sum);  // no use of the results may be moved before the wait

  // How wgmma deals 64 x BN results to four warps: a lane has pairs of neighbouring columns, in rows lane / 4 and
  // lane / 4 + 8 of its warp's sixteen.
  const int lane_row = row + (threadIdx.x - 128) / 32 * 16 + threadIdx.x % 32 / 4;
  const int lane_column = column + threadIdx.x % 4 * 2;
  CUTE_UNROLL
  for (int i = 0; i < kBN / 2; i += 2) {
    const int r = lane_row + i / 2 % 2 * 8, q = lane_column + i / 4 * 8;
    if (r < m && q < n) {
      *reinterpret_cast<__nv_bfloat162*>(c + int64_t(r) * n + q) = __floats2bfloat162_rn(sum(i), sum(i + 1));
    }
  }
}

// What the copy engine cannot bring: rows that are no multiple of 16 bytes, and no products at all.
__global__ void any_shape(const Element* a, const Element* b, Element* c, long long m, long long n, long long k) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i >= m * n) return;
  float sum = 0;
  for (long long j = 0; j < k; ++j) sum += float(a[i / n * k + j]) * float(b[j * n + i % n]);
  c[i] = Element(sum);
}
