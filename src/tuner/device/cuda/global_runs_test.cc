// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/device/cuda/global_runs.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

TEST(GlobalRuns, NeighboursAreOneRunPaddingIncluded) {
  const std::vector<GlobalRun> runs = GlobalRuns({{1024, 8}, {1000, 4}, {1008, 4}});
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_EQ(runs[0].whole.address, 1000u);
  EXPECT_EQ(runs[0].whole.bytes, 32u);
  ASSERT_EQ(runs[0].variables.size(), 3u);
  EXPECT_EQ(runs[0].variables[1].address, 1008u);
}

TEST(GlobalRuns, WhatLiesApartStaysApart) {
  const std::vector<GlobalRun> runs = GlobalRuns({{4096, 16}, {0x10000, 4}, {4096 + 16 + 128, 4}});
  ASSERT_EQ(runs.size(), 3u);
  EXPECT_EQ(runs[0].whole.bytes, 16u);
  EXPECT_EQ(GlobalRuns({{4096, 16}, {4096 + 16 + 127, 4}}).size(), 1u);
}

TEST(GlobalRuns, TwoNamesForOnePlaceAndEmptyOnesDoNoHarm) {
  const std::vector<GlobalRun> runs = GlobalRuns({{4096, 64}, {4096, 64}, {4100, 4}, {9000, 0}});
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_EQ(runs[0].whole.bytes, 64u);
}

TEST(GlobalRuns, AThousandConstantsAreOneCopy) {
  std::vector<GlobalRange> variables;
  for (uint64_t i = 0; i < 1000; ++i) variables.push_back({1 << 20 | i * 2, 1});
  EXPECT_EQ(GlobalRuns(variables).size(), 1u);
  EXPECT_TRUE(GlobalRuns({}).empty());
}

}  // namespace
}  // namespace hone
