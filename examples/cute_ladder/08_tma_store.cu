// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Step 8: results leave as they came, through shared memory and the copy engine. A consumer warp group turns 64 columns at
// a time to bfloat16, puts them into a tile of 64 x 64 with stmatrix, the counterpart of ldmatrix, swizzled so that neither
// it nor TMA meets a bank conflict; one thread then asks for the tile to be stored. Lines reach memory whole, edges are cut
// by the copy engine, and with two tiles a warp group, one is filled while the other is on its way; the last is on its way
// while the next product has begun.
//
// What bounds it: the tensor cores and the power they may draw. What is left to gain: another tile shape for small m, a
// share of K for each block where tiles are few, two consumers half a tile apart so that one multiplies while one stores.
/*hone
constraints = ["STAGES * (128 + BN) * 128 + 34048 <= 232448"]

[tune]
BN = [256, 128]
STAGES = [4, 3, 5]

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

[[tensor_map]]
name = "c_map"
tensor = "c"
dims = ["n", "m"]
strides = ["n * 2"]
box = ["64", "64"]
swizzle = "128B"

[[launch]]
kernel = "tma_store<BN, STAGES>"
grid   = ["2 * min(sm_count / 2, ceil_div(m, 256) * ceil_div(n, BN))"]
block  = ["384"]
cluster = ["2"]
shared = "STAGES * (128 + BN) * 128 + 34048"
args   = ["tensormap:a_map", "tensormap:b_map", "tensormap:c_map", "m:i32", "n:i32", "k:i32"]
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
constexpr int kConsumerWarps = 8;  // of one block
constexpr int kGroup = 8;          // pairs of tile rows walked together

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

// A tile of results on its way out, (row, column): the places that TMA's 128-byte swizzle expects.
using LayoutOut = decltype(composition(Swizzle<3, 3, 3>{}, Layout<Shape<_64, _64>, Stride<_64, _1>>{}));

// Where a cluster's `turn`-th pair of tiles stands.
struct Pair {
  int row, column;
  __device__ Pair(int turn, int pairs_m, int tiles_n, int tile_columns) {
    const int first = turn / (kGroup * tiles_n) * kGroup, rest = turn % (kGroup * tiles_n);
    const int rows = min(kGroup, pairs_m - first);
    row = (first + rest % rows) * 2 * kBM;
    column = rest / rows * tile_columns;
  }
};

template <int kBN, int kStages>
struct Shared {
  alignas(1024) Element a[cosize_v<LayoutA<kStages>>];
  alignas(1024) Element b[cosize_v<LayoutB<kBN, kStages>>];
  alignas(1024) Element out[2][2][cosize_v<LayoutOut>];  // of each consumer warp group, two
  uint64_t full[kStages], empty[kStages];
};

template <int kBN, int kStages>
__global__ void __launch_bounds__(384, 1)
    tma_store(const __grid_constant__ CUtensorMap a_map, const __grid_constant__ CUtensorMap b_map,
              const __grid_constant__ CUtensorMap c_map, int m, int n, int k) {
  extern __shared__ uint8_t raw[];
  // The swizzle is a function of the address: tiles start at multiples of 1024.
  auto& shared = *reinterpret_cast<Shared<kBN, kStages>*>((reinterpret_cast<uintptr_t>(raw) + 1023) & ~uintptr_t{1023});
  const int rank = block_rank_in_cluster();
  const int pairs_m = (m + 2 * kBM - 1) / (2 * kBM), tiles_n = (n + kBN - 1) / kBN, pairs = pairs_m * tiles_n;
  const int clusters = gridDim.x / 2;
  const int steps = (k + kBK - 1) / kBK;

  if (threadIdx.x == 0) {
    for (int s = 0; s < kStages; ++s) {
      TileBarrier::init(&shared.full[s], 1);
      Barrier::init(&shared.empty[s], 2 * kConsumerWarps);
    }
    cutlass::arch::fence_barrier_init();
  }
  cluster_sync();  // the neighbour's barriers are ready as well

  if (threadIdx.x < 128) {
    cutlass::arch::warpgroup_reg_dealloc<40>();
    if (threadIdx.x == 0) {
      int fetched = 0;  // tiles of K so far, over all pairs
      for (int turn = blockIdx.x / 2; turn < pairs; turn += clusters) {
        const Pair pair(turn, pairs_m, tiles_n, kBN);
        for (int step = 0; step < steps; ++step, ++fetched) {
          const int s = fetched % kStages;
          // A wait for the phase before the first one passes: all slots are empty at the start.
          Barrier::wait(&shared.empty[s], (fetched / kStages & 1) ^ 1);
          // Both halves of b count, the neighbour's too.
          TileBarrier::arrive_and_expect_tx(&shared.full[s], (kBM + kBN) * kBK * sizeof(Element));
          SM90_TMA_LOAD_2D::copy(&a_map, &shared.full[s], uint64_t(TMA::CacheHintSm90::EVICT_NORMAL),
                                 shared.a + s * kBM * kBK, step * kBK, pair.row + rank * kBM);
          for (int j = rank * (kBN / 128); j < (rank + 1) * (kBN / 128); ++j) {
            SM90_TMA_LOAD_MULTICAST_2D::copy(&b_map, &shared.full[s], uint16_t{0b11},
                                             uint64_t(TMA::CacheHintSm90::EVICT_NORMAL),
                                             shared.b + (s * kBN + j * 64) * kBK, pair.column + j * 64, step * kBK);
          }
        }
      }
    }
    __syncwarp();
  } else {
    cutlass::arch::warpgroup_reg_alloc<232>();
    Mma<kBN> mma;
    const auto thread = mma.get_slice(threadIdx.x - 128);
    const Tensor a_tile = make_tensor(make_smem_ptr(shared.a), LayoutA<kStages>{});       // (BM, BK, stage)
    const Tensor b_tile = make_tensor(make_smem_ptr(shared.b), LayoutB<kBN, kStages>{});  // (BN, BK, stage)
    const Tensor a = thread.make_fragment_A(thread.partition_A(a_tile));  // descriptors, not registers
    const Tensor b = thread.make_fragment_B(thread.partition_B(b_tile));
    Tensor sum = partition_fragment_C(mma, Shape<Int<kBM>, Int<kBN>>{});
    const auto leave = [&](int slot) {  // lanes 0 and 1 tell one block each
      if (threadIdx.x % 32 < 2) Barrier::arrive(&shared.empty[slot], threadIdx.x % 32, 1);
    };
    const int group = (threadIdx.x - 128) / 128;  // 64 rows each
    const bool leader = threadIdx.x % 128 == 0;
    // stmatrix: a lane names one row of eight results; sixteen rows, then the next eight columns.
    const int out_row = threadIdx.x % 128 / 32 * 16 + threadIdx.x % 16, out_column = threadIdx.x % 32 / 16 * 8;
    const auto packed = [](float low, float high) {
      const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
      return reinterpret_cast<const uint32_t&>(pair);
    };

    int used = 0;
    for (int turn = blockIdx.x / 2; turn < pairs; turn += clusters) {
      const Pair pair(turn, pairs_m, tiles_n, kBN);
      mma.accumulate_ = GMMA::ScaleOut::Zero;
      for (int step = 0; step < steps; ++step, ++used) {
        const int s = used % kStages;
        TileBarrier::wait(&shared.full[s], used / kStages & 1);
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
        if (step > 0) leave((used - 1) % kStages);
      }
      warpgroup_wait<0>();
      warpgroup_fence_operand(sum);  // no use of the results may be moved before the wait
      leave((used - 1) % kStages);

      CUTE_UNROLL
      for (int j = 0; j < kBN / 64; ++j) {
        Element* out = shared.out[group][j % 2];
        if (leader) tma_store_wait<1>();  // the store before the last has read its tile, which is this one
        cutlass::arch::NamedBarrier::sync(128, group);
        CUTE_UNROLL
        for (int i = 0; i < 4; ++i) {  // sixteen columns: eight results a lane
          const int first = j * 32 + i * 8;
          SM90_U32x4_STSM_N::copy(packed(sum(first), sum(first + 1)), packed(sum(first + 2), sum(first + 3)),
                                  packed(sum(first + 4), sum(first + 5)), packed(sum(first + 6), sum(first + 7)),
                                  *reinterpret_cast<uint128_t*>(out + LayoutOut{}(out_row, out_column + 16 * i)));
        }
        tma_store_fence();  // what was written is to be seen by the copy engine
        cutlass::arch::NamedBarrier::sync(128, group);
        if (leader) {
          SM90_TMA_STORE_2D::copy(&c_map, out, pair.column + j * 64, pair.row + rank * kBM + group * 64);
          tma_store_arrive();
        }
      }
    }
    if (leader) tma_store_wait<0>();  // the tiles are read before the block's shared memory goes
  }
  cluster_sync();
}

// What the copy engine cannot bring: rows that are no multiple of 16 bytes, and no products at all.
__global__ void any_shape(const Element* a, const Element* b, Element* c, long long m, long long n, long long k) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i >= m * n) return;
  float sum = 0;
  for (long long j = 0; j < k; ++j) sum += float(a[i / n * k + j]) * float(b[j * n + i % n]);
  c[i] = Element(sum);
}
