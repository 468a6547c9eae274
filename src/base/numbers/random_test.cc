// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests the generator: known outputs, uniformity with a stated false-alarm rate, replay.
#include "base/numbers/random.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <set>

namespace hone {
namespace {

TEST(Rng, IsSplitMix64) {
  // First outputs of the reference implementation for the seed 1234567.
  Rng rng(1234567);
  EXPECT_EQ(rng.Next(), 6457827717110365317ULL);
  EXPECT_EQ(rng.Next(), 3203168211198807973ULL);
  EXPECT_EQ(rng.Next(), 9817491932198370423ULL);
}

TEST(Rng, BelowIsUniform) {
  Rng rng(1);
  std::array<int, 7> counts{};
  constexpr int kDraws = 70000;
  for (int i = 0; i < kDraws; ++i) ++counts[rng.Below(7)];
  double chi_square = 0;
  for (const int count : counts) chi_square += (count - 10000.0) * (count - 10000.0) / 10000.0;
  EXPECT_LT(chi_square, 22.46);  // 6 degrees of freedom: exceeded with probability 0.001; the seed is fixed
  for (int i = 0; i < 100; ++i) EXPECT_EQ(rng.Below(1), 0u);
  for (int i = 0; i < 100; ++i) EXPECT_LT(rng.Below((1ULL << 63) + 1), (1ULL << 63) + 1);
}

TEST(Rng, UniformAndNormalHaveTheirMoments) {
  Rng rng(2);
  constexpr int kDraws = 200000;
  double sum = 0, normal_sum = 0, normal_squares = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double u = rng.Uniform();
    ASSERT_TRUE(u >= 0 && u < 1);
    sum += u;
    const double z = rng.Normal();
    normal_sum += z;
    normal_squares += z * z;
  }
  // Tolerances are four standard errors: 0.289 / sqrt(n), 1 / sqrt(n), sqrt(2 / n).
  EXPECT_NEAR(sum / kDraws, 0.5, 0.0026);
  EXPECT_NEAR(normal_sum / kDraws, 0.0, 0.009);
  EXPECT_NEAR(normal_squares / kDraws, 1.0, 0.0127);
}

TEST(Rng, SplitsAreReplayableAndDifferent) {
  const Rng parent(9);
  EXPECT_EQ(parent.Split(3).Next(), parent.Split(3).Next());
  EXPECT_NE(parent.Split(3).Next(), parent.Split(4).Next());
  EXPECT_NE(parent.Split(3).Next(), Rng(9).Next());
}

TEST(SystemSeed, DoesNotRepeat) {
  std::set<uint64_t> seeds;
  for (int i = 0; i < 1000; ++i) seeds.insert(SystemSeed());
  EXPECT_EQ(seeds.size(), 1000u);
}

}  // namespace
}  // namespace hone
