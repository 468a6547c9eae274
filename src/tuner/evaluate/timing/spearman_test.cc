// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// These tests compute rank correlations of cases small enough to work out by hand.
#include "tuner/evaluate/timing/spearman.h"

#include <gtest/gtest.h>

#include <cmath>

namespace hone {
namespace {

TEST(Spearman, SeesOrderAndNothingElse) {
  EXPECT_NEAR(*SpearmanCorrelation({1, 2, 3, 4}, {10, 1000, 1001, 1e9}), 1.0, 1e-15);
  EXPECT_NEAR(*SpearmanCorrelation({1, 2, 3, 4}, {4, 3, 2, -7}), -1.0, 1e-15);
}

TEST(Spearman, MatchesTheTextbookFormulaWithoutTies) {
  // Rank differences 0, 1, -1, 1, -1: 1 - 6 * 4 / (5 * 24) = 0.8.
  EXPECT_NEAR(*SpearmanCorrelation({1, 2, 3, 4, 5}, {1, 3, 2, 5, 4}), 0.8, 1e-15);
}

TEST(Spearman, AveragesTheRanksOfTies) {
  // Ranks of y are 0.5, 0.5, 2: products -1 * -0.5 + 0 + 1 * 1 over sqrt(2 * 1.5).
  EXPECT_NEAR(*SpearmanCorrelation({1, 2, 3}, {5, 5, 9}), 1.5 / std::sqrt(3.0), 1e-15);
}

TEST(Spearman, IsSilentWhereThereIsNoAnswer) {
  EXPECT_FALSE(SpearmanCorrelation({}, {}));
  EXPECT_FALSE(SpearmanCorrelation({1}, {1}));
  EXPECT_FALSE(SpearmanCorrelation({1, 2}, {3, 3}));
  EXPECT_FALSE(SpearmanCorrelation({1, 2}, {1, 2, 3}));
}

}  // namespace
}  // namespace hone
