// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests that the chances stated in docs/precision.md follow from the judge's numbers.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <random>
#include <string>

#include "tuner/evaluate/judge/escape.h"
#include "tuner/evaluate/timing/quad_order.h"

namespace hone {
namespace {

std::string Page() {
  std::ifstream stream(std::string(HONE_SOURCE_DIR) + "/docs/precision.md");
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

TEST(Escape, ThePageStatesWhatThePolicyGives) {
  const std::string page = Page();
  // The kernel leaves out half a percent of the slices in every launch: the least that could be called faster.
  const double longest = EscapesAVerdict(4096, 0.005, policy::kMostQuadsLong, 1);
  const double shortest = EscapesAVerdict(4096, 0.005, policy::kMostQuadsShort, 2);
  for (const std::string& stated : {fmt::format("{:.1g} with one execution in each sample", longest),
                                    fmt::format("{:.1g} with two.", shortest)}) {
    EXPECT_NE(page.find(stated), std::string::npos) << stated;
  }
  EXPECT_LT(longest, 0.01);
}

TEST(Escape, IsWhatDrawingSlicesGives) {
  // Ten of two hundred slices are wrong. The test counts how often none of the 64 that are drawn is a wrong one.
  constexpr int64_t kSlices = 200, kWrong = 10;
  std::mt19937_64 random(7);
  int escaped = 0;
  constexpr int kDraws = 20000;
  for (int draw = 0; draw < kDraws; ++draw) {
    const std::vector<int64_t> judged = SecretSubset(kSlices, policy::kDifferingSlicesJudged, random());
    escaped += judged.front() >= kWrong;  // the drawn slices are ascending
  }
  const double expected = EscapesOneLaunch(kSlices, kWrong);
  EXPECT_NEAR(escaped / static_cast<double>(kDraws), expected, 4 * std::sqrt(expected / kDraws));
}

TEST(Escape, NothingEscapesWhereAllSlicesAreJudged) {
  EXPECT_EQ(EscapesOneLaunch(policy::kDifferingSlicesJudged, 1), 0);
  EXPECT_EQ(EscapesOneLaunch(1000, 1000), 0);
  EXPECT_EQ(EscapesOneLaunch(1000, 0), 1);
}

TEST(Escape, FallsWithEveryLaunch) {
  EXPECT_LT(EscapesAVerdict(4096, 0.005, 50, 2), EscapesAVerdict(4096, 0.005, 50, 1));
  EXPECT_LT(EscapesAVerdict(4096, 0.02, 50, 1), 1e-10);
}

}  // namespace
}  // namespace hone
