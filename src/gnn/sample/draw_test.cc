// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests the draw of a row: known answers of the generator, exact bounds, and equal results of the vector and scalar
// code.
#include "gnn/sample/draw.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "base/numbers/random.h"
#include "gnn/sample/draw_rows.h"

namespace hone::gnn {
namespace {

// The expected values are published with the generator (Random123, kat_vectors, philox4x32-10).
TEST(Philox, GivesThePublishedAnswers) {
  EXPECT_EQ(Philox4x32(0, {0, 0, 0, 0}), (PhiloxWords{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(Philox4x32(~uint64_t{0}, {~0u, ~0u, ~0u, ~0u}), (PhiloxWords{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(Philox4x32(0x299f31d0a4093822, {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}),
            (PhiloxWords{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Draw, CounterIsNodeStepEpochAndHopWithBlockAndRetry) {
  const DrawKey key{.seed = 0x1122334455667788, .step = 5, .epoch = 6, .hop = 2};
  EXPECT_EQ(DrawWord(key, 9, 7, 3), Philox4x32(key.seed, {9, 5, 6, 2 | 1 << 8 | 3 << 24})[3]);
}

TEST(Draw, RejectsWhatWouldBiasAndAsksAgainWithTheNextRetry) {
  // n = 3 * 2^30: words whose low product half is below 2^32 mod n = 2^30 are rejected, one word in four.
  constexpr uint32_t kBound = 3u << 30;
  EXPECT_EQ(RejectBelow(kBound), 1u << 30);
  const DrawKey key{.seed = 1};
  int rejected = 0;
  for (uint32_t node = 0; node < 4000; ++node) {
    uint32_t retry = 0;
    uint64_t product = uint64_t{DrawWord(key, node, 0, 0)} * kBound;
    while (static_cast<uint32_t>(product) < (1u << 30)) product = uint64_t{DrawWord(key, node, 0, ++retry)} * kBound;
    rejected += retry > 0;
    ASSERT_EQ(BoundedDraw(key, node, 0, DrawWord(key, node, 0, 0), kBound), product >> 32) << "node " << node;
  }
  EXPECT_NEAR(rejected, 1000, 137);  // tolerance: five standard deviations of 4000 trials with probability 1/4
}

TEST(Draw, FloydReplacesATakenSlotByTheLargest) {
  // Degree 10, fanout 4: draws from [0, 6], [0, 7], [0, 8], [0, 9]. The second 6 becomes 7, then 7 is taken too.
  std::vector<uint32_t> draws = {6, 6, 7, 0};
  ResolveFloyd(10, 4, draws.data(), 1);
  EXPECT_EQ(draws, (std::vector<uint32_t>{6, 7, 8, 0}));
}

TEST(Draw, FloydWithASetEqualsFloydByComparing) {
  Rng rng(4);
  for (const int fanout : {1, 2, 5, 31, 32, 33, 64, 257, 1024}) {
    for (int trial = 0; trial < 20; ++trial) {
      const auto degree = static_cast<uint32_t>(fanout) + 1 + static_cast<uint32_t>(rng.Below(trial % 2 ? 10 : 100000));
      std::vector<uint32_t> draws(static_cast<size_t>(fanout)), expected;
      for (int slot = 0; slot < fanout; ++slot) {
        draws[static_cast<size_t>(slot)] = static_cast<uint32_t>(rng.Below(degree - static_cast<uint32_t>(fanout - slot) + 1));
      }
      for (int slot = 0; slot < fanout; ++slot) {
        const uint32_t draw = draws[static_cast<size_t>(slot)];
        const bool already_drawn = std::find(expected.begin(), expected.end(), draw) != expected.end();
        expected.push_back(already_drawn ? degree - static_cast<uint32_t>(fanout - slot) : draw);
      }
      ResolveFloyd(degree, fanout, draws.data(), 1);
      ASSERT_EQ(draws, expected) << "fanout " << fanout << ", degree " << degree;
    }
  }
}

void ExpectLanesEqualScalarOnes(const RowDrawer& fast) {
  const RowDrawer plain = DrawRowsScalar();
  Rng rng(5);
  uint32_t nodes[kMaxDrawLanes], degrees[kMaxDrawLanes];
  std::vector<uint32_t> fast_slots(1024 * kMaxDrawLanes), plain_slots(1024 * kMaxDrawLanes);
  for (const int fanout : {1, 2, 3, 4, 5, 10, 15, 20, 32, 33, 100, 1024}) {
    // The last degrees are so large that words are rejected.
    for (const uint64_t spread : {uint64_t{1}, uint64_t{40}, uint64_t{100000}, uint64_t{3000000000}}) {
      for (int trial = 0; trial < 4; ++trial) {
        for (int lane = 0; lane < fast.lanes; ++lane) {
          nodes[lane] = static_cast<uint32_t>(rng.Below(1u << 31));
          degrees[lane] = static_cast<uint32_t>(fanout) + 1 + static_cast<uint32_t>(rng.Below(spread));
        }
        const DrawKey key{rng(), static_cast<uint32_t>(rng()), static_cast<uint32_t>(rng()), static_cast<uint32_t>(rng.Below(64))};
        fast.draw(key, nodes, degrees, fanout, fast_slots.data());
        for (int first = 0; first < fast.lanes; first += plain.lanes) {
          plain.draw(key, nodes + first, degrees + first, fanout, plain_slots.data());
          for (int slot = 0; slot < fanout; ++slot) {
            for (int lane = 0; lane < plain.lanes; ++lane) {
              ASSERT_EQ(fast_slots[static_cast<size_t>(slot * fast.lanes + first + lane)],
                        plain_slots[static_cast<size_t>(slot * plain.lanes + lane)])
                  << "fanout " << fanout << ", slot " << slot << ", lane " << first + lane;
            }
          }
        }
        std::set<uint32_t> distinct;
        for (int slot = 0; slot < fanout; ++slot) distinct.insert(fast_slots[static_cast<size_t>(slot * fast.lanes)]);
        ASSERT_EQ(distinct.size(), static_cast<size_t>(fanout));
        ASSERT_LT(*distinct.rbegin(), degrees[0]);
      }
    }
  }
}

TEST(DrawRows, LanesOfAvx2EqualTheScalarOnes) {
  if (DrawRowsAvx2().draw == nullptr) GTEST_SKIP() << "this processor has no AVX2";
  ExpectLanesEqualScalarOnes(DrawRowsAvx2());
}

TEST(DrawRows, LanesOfAvx512EqualTheScalarOnes) {
  if (DrawRowsAvx512().draw == nullptr) GTEST_SKIP() << "this processor has no AVX-512";
  ExpectLanesEqualScalarOnes(DrawRowsAvx512());
}

}  // namespace
}  // namespace hone::gnn
