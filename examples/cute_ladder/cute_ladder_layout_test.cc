// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Checks the memory layouts of the ladder where there is no GPU. CuTe's layouts are constexpr host code, so the
// candidates themselves are included here; the host compiler reads them and never calls them. Their layouts are
// compared with what the hardware does: the copy engine's 128-byte swizzle (PTX ISA, "tensor swizzling modes"), the 32
// banks of shared memory, the eight rows of an ldmatrix, the fields of a wgmma descriptor and the order of its
// accumulators.
#include <cuda_bf16.h>
#include <cuda_runtime_api.h>
#include <cute/tensor.hpp>
#include <cutlass/arch/barrier.h>
#include <cutlass/arch/reg_reconfig.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <vector>

// Replacements for names that device code uses, as far as reading the candidates needs them.
#undef __global__
#undef __device__
#undef __shared__
#undef __forceinline__
#undef __grid_constant__
#undef __launch_bounds__
#undef __align__
#define __global__ [[maybe_unused]] static
#define __device__
#define __shared__
#define __forceinline__ inline
#define __grid_constant__
#define __launch_bounds__(...)
#define __align__(n)

namespace {
struct Index { unsigned x, y, z; };
[[maybe_unused]] Index threadIdx, blockIdx, gridDim;
[[maybe_unused]] void __syncthreads() {}
[[maybe_unused]] void __syncwarp() {}
using std::min;

namespace step02 {
#include "02_shared_tiles.cu"
}
namespace step03 {
#include "03_mma_sync.cu"
}
namespace step04 {
#include "04_swizzle.cu"
}
namespace step05 {
#include "05_pipeline.cu"
}
namespace step06 {
#include "06_wgmma_tma.cu"
}
namespace step07 {
#include "07_cluster_multicast.cu"
}
namespace step08 {
#include "08_tma_store.cu"
}

using namespace cute;
constexpr int kElementBytes = 2;

// Returns where TMA puts byte `inner_bytes` of row `row` of a swizzled box whose rows are 128 bytes: the index of the
// 16-byte unit within the row is xored with the row's number modulo 8.
int TmaSwizzled(int row, int inner_bytes) { return row * 128 + ((inner_bytes / 16 ^ row % 8) * 16 + inner_bytes % 16); }

// A layout of 16-bit elements whose swizzle is applied to addresses (GMMA's layouts), as a function from coordinates to
// positions. It asks a tensor on an aligned buffer for the addresses of its elements.
template <class Layout>
struct Placed {
  Layout layout;
  template <class... Coordinate>
  int operator()(const Coordinate&... coordinate) const {
    alignas(1024) static bfloat16_t buffer[4 * 256 * 64];
    auto tensor = make_tensor(make_smem_ptr(buffer), layout);
    return static_cast<int>(&tensor(coordinate...) - buffer);
  }
  friend auto size(const Placed& placed) { return cute::size(placed.layout); }
};

// Expects that the layout uses every position once.
template <class Layout>
void ExpectBijective(const Layout& layout, int elements) {
  std::vector<char> used(static_cast<size_t>(elements), 0);
  ASSERT_EQ(int(size(layout)), elements);
  for (int i = 0; i < elements; ++i) {
    const int place = layout(i);
    ASSERT_GE(place, 0);
    ASSERT_LT(place, elements);
    ASSERT_FALSE(used[static_cast<size_t>(place)]++) << i;
  }
}

// Returns the number of passes in which a warp accesses these byte addresses, `bytes` each: the words of the fullest
// bank.
int MostOnABank(const std::vector<int>& addresses, int bytes) {
  std::vector<std::set<int>> words(32);
  for (const int address : addresses) {
    for (int b = 0; b < bytes; b += 4) words[static_cast<size_t>((address + b) / 4 % 32)].insert((address + b) / 4);
  }
  size_t most = 0;
  for (const auto& bank : words) most = std::max(most, bank.size());
  return static_cast<int>(most);
}

TEST(CuteLadderLayouts, TileOfAIsWhatTheCopyEngineWrites) {
  const Placed<step06::LayoutA<4>> layout;
  ExpectBijective(layout, 128 * 64 * 4);
  for (int stage = 0; stage < 4; ++stage) {
    for (int row = 0; row < 128; ++row) {
      for (int k = 0; k < 64; ++k) {
        // The kernel asks for a box of 64 x 128 at a + stage * BM * BK.
        ASSERT_EQ(layout(row, k, stage) * kElementBytes, stage * 128 * 64 * kElementBytes + TmaSwizzled(row, k * kElementBytes));
      }
    }
  }
}

template <int kBN, class Layout>
void ExpectTileOfB(const Layout& layout, int stages) {
  ExpectBijective(layout, kBN * 64 * stages);
  for (int stage = 0; stage < stages; ++stage) {
    for (int column = 0; column < kBN; ++column) {
      for (int k = 0; k < 64; ++k) {
        // Boxes of 64 columns x 64 steps of K, one after the other, at b + (stage * BN + 64 j) * BK.
        const int box = (stage * kBN + column / 64 * 64) * 64 * kElementBytes;
        ASSERT_EQ(layout(column, k, stage) * kElementBytes, box + TmaSwizzled(k, column % 64 * kElementBytes));
      }
    }
  }
}

TEST(CuteLadderLayouts, TileOfBIsWhatTheCopyEngineWritesBoxByBox) {
  ExpectTileOfB<256>(Placed<step06::LayoutB<256, 4>>{}, 4);
  ExpectTileOfB<128>(Placed<step07::LayoutB<128, 3>>{}, 3);
  ExpectTileOfB<256>(Placed<step08::LayoutB<256, 3>>{}, 3);
}

TEST(CuteLadderLayouts, TheStoredTileIsWhatTheCopyEngineReads) {
  const step08::LayoutOut layout;
  ExpectBijective(layout, 64 * 64);
  for (int row = 0; row < 64; ++row) {
    for (int column = 0; column < 64; ++column) {
      ASSERT_EQ(layout(row, column) * kElementBytes, TmaSwizzled(row, column * kElementBytes));
    }
  }
}

template <class Shared, class Element>
void ExpectShared(int stages, int columns, int extra) {
  // A plan asks for STAGES * (128 + BN) * 128 + extra bytes. The alignment of the base may use up 1023 of them.
  const int asked = stages * (128 + columns) * 128 + extra;
  EXPECT_LE(asked, 232448) << "what a block may have";
  alignas(1024) static unsigned char storage[sizeof(Shared)];
  const Shared* shared = reinterpret_cast<const Shared*>(storage);
  const auto offset = [&](const auto& member) {
    return static_cast<int>(reinterpret_cast<const unsigned char*>(&member) - storage);
  };
  EXPECT_EQ(offset(shared->a) % 1024, 0);
  EXPECT_EQ(offset(shared->b) % 1024, 0);
  EXPECT_LE(offset(shared->empty) + stages * 8 + 1023, asked);
  EXPECT_EQ(offset(shared->full) % 8, 0);
}

TEST(CuteLadderLayouts, SharedMemoryFitsWhatThePlansAskFor) {
  ExpectShared<step06::Shared<256, 4>, step06::Element>(4, 256, 1280);
  ExpectShared<step06::Shared<128, 6>, step06::Element>(6, 128, 1280);
  ExpectShared<step07::Shared<256, 4>, step07::Element>(4, 256, 1280);
  ExpectShared<step08::Shared<256, 4>, step08::Element>(4, 256, 34048);
  ExpectShared<step08::Shared<128, 5>, step08::Element>(5, 128, 34048);
  EXPECT_EQ(sizeof(step08::Shared<256, 4>{}.out[0][0]), 8192u) << "every tile of results starts at a multiple of 1024";
}

// A wgmma descriptor holds addresses and strides in units of 16 bytes (PTX ISA, "matrix descriptor"). The host has no
// shared-memory address for it, about which CuTe prints a message; the test checks the other fields.
TEST(CuteLadderLayouts, DescriptorsHaveTheStridesOfTheSwizzledTiles) {
  step06::Mma<256> mma;
  const auto thread = mma.get_slice(0);
  alignas(1024) static step06::Element memory[256 * 64];
  const auto a = thread.partition_A(make_tensor(make_smem_ptr(memory), step06::LayoutA<1>{}));
  const GmmaDescriptor da = SM90::GMMA::make_gmma_desc<GMMA::Major::K>(tensor<0>(a));
  EXPECT_EQ(da.bitfield.layout_type_, 1) << "128-byte swizzle";
  EXPECT_EQ(da.bitfield.stride_byte_offset_, 1024 / 16) << "from eight rows to the next eight";
  EXPECT_EQ(da.bitfield.base_offset_, 0);
  const auto b = thread.partition_B(make_tensor(make_smem_ptr(memory), step06::LayoutB<256, 1>{}));
  const GmmaDescriptor db = SM90::GMMA::make_gmma_desc<GMMA::Major::MN>(tensor<0>(b));
  EXPECT_EQ(db.bitfield.layout_type_, 1);
  EXPECT_EQ(db.bitfield.stride_byte_offset_, 1024 / 16) << "from eight steps of K to the next eight";
  EXPECT_EQ(db.bitfield.leading_byte_offset_, 64 * 64 * 2 / 16) << "from 64 columns to the next 64";
  // The second warp group starts 64 rows further down. Sixteen steps of K are 32 bytes in a, and sixteen rows in b.
  const auto layout_a = step06::LayoutA<1>{};
  EXPECT_EQ(int(layout_a(64, 0, 0)) * 2, 64 * 128);
  EXPECT_EQ(int(a.layout()(0, 0, 1, 0)) * 2, 32);
  EXPECT_EQ(int(b.layout()(0, 0, 1, 0)) * 2, 16 * 128);
}

TEST(CuteLadderLayouts, AccumulatorsStandWhereTheEpiloguesPutThem) {
  const auto check = [](const auto& layout, int columns) {
    for (int thread = 0; thread < 128; ++thread) {
      for (int i = 0; i < columns / 2; ++i) {
        const int at = layout(thread, i);  // row + 64 * column
        ASSERT_EQ(at % 64, thread / 32 * 16 + thread % 32 / 4 + i / 2 % 2 * 8);
        ASSERT_EQ(at / 64, thread % 4 * 2 + i % 2 + i / 4 * 8);
      }
    }
  };
  check(GMMA::CLayout_64xN<256>{}, 256);
  check(GMMA::CLayout_64xN<128>{}, 128);
  // A stmatrix of four matrices: matrix q has results first + 2 q and first + 2 q + 1 of every lane; lane l gives the
  // address of row l % 8 of matrix l / 8.
  for (int first = 0; first < 128; first += 8) {
    for (int q = 0; q < 4; ++q) {
      for (int lane = 0; lane < 32; ++lane) {
        const int at = GMMA::CLayout_64xN<256>{}(lane, first + 2 * q);
        // The row and column that lane q * 8 + lane / 4 names.
        const int named_row = (q * 8 + lane / 4) % 16, named_column = (q * 8 + lane / 4) / 16 * 8;
        ASSERT_EQ(at % 64, named_row);
        ASSERT_EQ(at / 64, first / 8 * 16 + named_column + lane % 4 * 2);
      }
    }
  }
}

template <class LayoutA, class LayoutB>
void ExpectNoConflicts(const LayoutA& a, const LayoutB& b) {
  for (int k = 0; k < 32; k += 8) {
    for (int row = 0; row < 128; row += 8) {
      std::vector<int> rows;  // one ldmatrix reads eight rows of 16 bytes at once
      for (int i = 0; i < 8; ++i) rows.push_back(a(row + i, k) * kElementBytes);
      EXPECT_EQ(MostOnABank(rows, 16), 1) << "a " << row << " " << k;
      for (const int address : rows) EXPECT_EQ(address % 16, 0);
    }
    for (int column = 0; column < 128; column += 8) {
      std::vector<int> rows;
      for (int i = 0; i < 8; ++i) rows.push_back(b(column, k + i) * kElementBytes);
      EXPECT_EQ(MostOnABank(rows, 16), 1) << "b " << column << " " << k;
      for (const int address : rows) EXPECT_EQ(address % 16, 0);
    }
  }
  // cp.async writes eight lanes' 16 bytes at once: four lanes to a row of a, sixteen to a row of b.
  for (int first = 0; first < 256; first += 8) {
    std::vector<int> to_a, to_b;
    for (int t = first; t < first + 8; ++t) {
      to_a.push_back(a(t / 4, t % 4 * 8) * kElementBytes);
      to_b.push_back(b(t % 16 * 8, t / 16) * kElementBytes);
    }
    // Two of the padded rows of 80 bytes share a bank.
    EXPECT_LE(MostOnABank(to_a, 16), 1 + int(a(1, 0) == 40)) << first;
    EXPECT_EQ(MostOnABank(to_b, 16), 1) << first;
  }
}

TEST(CuteLadderLayouts, NoBankConflictsPaddedOrSwizzled) {
  ExpectNoConflicts(step03::LayoutA{}, step03::LayoutB{});
  ExpectNoConflicts(step04::LayoutA{}, step04::LayoutB{});
  ExpectBijective(step04::LayoutA{}, 128 * 32);
  ExpectBijective(step05::LayoutB{}, 128 * 32);
  EXPECT_EQ(int(cosize_v<step05::LayoutA> + cosize_v<step05::LayoutB>) * kElementBytes, 16384) << "a stage in step 5's plan";
  // In step 2, a warp writes two rows of sixteen columns of a.
  std::vector<int> writes;
  for (int t = 0; t < 32; ++t) writes.push_back(step02::LayoutA{}(t / 16, t % 16) * 4);
  EXPECT_EQ(MostOnABank(writes, 4), 1);
}

TEST(CuteLadderLayouts, ThePlainVersionsExclusiveOrsAreTheSwizzles) {
  for (int k = 0; k < 32; ++k) {
    for (int i = 0; i < 128; ++i) {
      ASSERT_EQ(int(step05::LayoutA{}(i, k)), (i * 32 + k) ^ (((i * 32 + k) >> 3) & 0x18));
      ASSERT_EQ(int(step05::LayoutB{}(i, k)), (k * 128 + i) ^ (((k * 128 + i) >> 4) & 0x38));
    }
  }
}

TEST(CuteLadderLayouts, EveryPairOfTilesIsWalkedOnce) {
  for (const int pairs_m : {1, 7, 8, 9, 32}) {
    for (const int tiles_n : {1, 3, 16}) {
      std::set<std::pair<int, int>> seen;
      for (int turn = 0; turn < pairs_m * tiles_n; ++turn) {
        const step08::Pair pair(turn, pairs_m, tiles_n, 256);
        EXPECT_EQ(pair.row % 256, 0);
        EXPECT_LT(pair.row, pairs_m * 256);
        EXPECT_LT(pair.column, tiles_n * 256);
        seen.insert({pair.row, pair.column});
      }
      EXPECT_EQ(seen.size(), static_cast<size_t>(pairs_m * tiles_n));
    }
  }
}

}  // namespace
