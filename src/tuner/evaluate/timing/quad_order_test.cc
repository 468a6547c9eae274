// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// These tests check that coins are fair, that orders and subsets are uniform, and that a key always gives the same
// ones.
#include "tuner/evaluate/timing/quad_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

namespace hone {
namespace {

constexpr uint64_t kKey = 0x243f6a8885a308d3ULL;

// Returns five standard deviations of the number of successes in `n` draws with probability `p`. A test that allows
// them fails by chance once in two million runs.
double FiveSigma(double n, double p) { return 5.0 * std::sqrt(n * p * (1.0 - p)); }

TEST(QuadOrder, PutsTheCandidateOutsideOrInside) {
  const auto sides = [](QuadOrder order) {
    std::array<bool, 4> is_candidate{};
    for (int i = 0; i < 4; ++i) is_candidate[static_cast<size_t>(i)] = IsCandidate(order, i);
    return is_candidate;
  };
  EXPECT_EQ(sides(QuadOrder::kAbba), (std::array<bool, 4>{true, false, false, true}));
  EXPECT_EQ(sides(QuadOrder::kBaab), (std::array<bool, 4>{false, true, true, false}));
}

TEST(QuadOrder, CoinIsFairAndSuccessiveThrowsDoNotAgree) {
  const int n = 40000;
  int abba = 0, repeats = 0, agrees_with_next_key = 0;
  for (int quad = 0; quad < n; ++quad) {
    const QuadOrder order = SecretQuadOrder(static_cast<uint64_t>(quad), kKey);
    abba += order == QuadOrder::kAbba;
    repeats += order == SecretQuadOrder(static_cast<uint64_t>(quad) + 1, kKey);
    agrees_with_next_key += order == SecretQuadOrder(static_cast<uint64_t>(quad), kKey + 1);
  }
  EXPECT_NEAR(abba, n / 2, FiveSigma(n, 0.5));
  EXPECT_NEAR(repeats, n / 2, FiveSigma(n, 0.5));
  EXPECT_NEAR(agrees_with_next_key, n / 2, FiveSigma(n, 0.5));
}

TEST(QuadOrder, OrdersArePermutationsAndAllEquallyLikely) {
  std::map<std::vector<int>, int> times_drawn;
  const int n = 24000;
  for (int i = 0; i < n; ++i) ++times_drawn[SecretOrder(4, kKey + static_cast<uint64_t>(i))];
  EXPECT_EQ(times_drawn.size(), 24u);
  for (const auto& [order, count] : times_drawn) {
    EXPECT_TRUE(std::is_permutation(order.begin(), order.end(), std::array{0, 1, 2, 3}.begin()));
    EXPECT_NEAR(count, n / 24.0, FiveSigma(n, 1.0 / 24));
  }
  EXPECT_TRUE(SecretOrder(0, kKey).empty());
  EXPECT_EQ(SecretOrder(1, kKey), std::vector<int>{0});
  EXPECT_EQ(SecretOrder(50, kKey), SecretOrder(50, kKey));
  EXPECT_NE(SecretOrder(50, kKey), SecretOrder(50, kKey + 1));
}

TEST(QuadOrder, SubsetsAreSortedDistinctAndUniform) {
  std::map<int64_t, int> times_drawn;
  const int n = 20000;
  for (int i = 0; i < n; ++i) {
    const auto subset = SecretSubset(10, 3, kKey + static_cast<uint64_t>(i));
    ASSERT_EQ(subset.size(), 3u);
    ASSERT_TRUE(std::is_sorted(subset.begin(), subset.end()));
    ASSERT_EQ(std::set<int64_t>(subset.begin(), subset.end()).size(), 3u);
    for (int64_t x : subset) ++times_drawn[x];
  }
  ASSERT_EQ(times_drawn.size(), 10u);
  EXPECT_EQ(times_drawn.begin()->first, 0);
  EXPECT_EQ(times_drawn.rbegin()->first, 9);
  for (const auto& [x, count] : times_drawn) EXPECT_NEAR(count, 0.3 * n, FiveSigma(n, 0.3)) << x;
}

TEST(QuadOrder, SubsetOfEverythingIsEverything) {
  EXPECT_EQ(SecretSubset(3, 3, kKey), (std::vector<int64_t>{0, 1, 2}));
  EXPECT_EQ(SecretSubset(3, 9, kKey), (std::vector<int64_t>{0, 1, 2}));
  EXPECT_TRUE(SecretSubset(0, 4, kKey).empty());
  EXPECT_TRUE(SecretSubset(4, 0, kKey).empty());
}

}  // namespace
}  // namespace hone
