// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests that the probabilities stated in docs/precision.md follow from the judge's numbers.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
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
  // The kernel leaves out half a percent of the slices in every launch: the least that could be called faster. The more
  // slices there are, the likelier it is that none of the wrong ones is drawn.
  constexpr int64_t kMany = int64_t{1} << 32;
  const double longest = EscapesAVerdict(kMany, 0.005, policy::kMostQuadsLong, 1);
  const double shortest = EscapesAVerdict(kMany, 0.005, policy::kMostQuadsShort, 2);
  for (const std::string& stated :
       {fmt::format("{:.1g} with one execution in each sample ({} launches)", longest, LaunchesBeforeADecision(policy::kMostQuadsLong, 1)),
        fmt::format("{:.1g} with two.", shortest), fmt::format("among the {} that are drawn", policy::kDifferingSlicesJudged),
        fmt::format("It then saves 1 / ({} *m*) of the work", policy::kRedrawShare)}) {
    EXPECT_NE(page.find(stated), std::string::npos) << stated;
  }
  EXPECT_LT(longest, 0.01);
  EXPECT_GT(longest, EscapesAVerdict(4096, 0.005, policy::kMostQuadsLong, 1));
}

// After four launches at a timed shape, the simulated GPU compares what these blocks wrote: those that give the time, a
// secret sample, and two samples on stress values.
TEST(Escape, ThePageStatesWhatTheSimulatedGpuCompares) {
  const std::string page = Page();
  const int other_blocks = policy::kSecretSample.least + policy::kSpecialSample.least + policy::kStressSample.least;
  constexpr int kInAll = 200, kOfTheTimedBlocks = 100;  // least numbers of compared slices that the page names
  EXPECT_GT(4 * policy::kMostSampledSlices, kInAll);
  EXPECT_GE(policy::kMostParts * policy::kPartSlices, static_cast<size_t>(kOfTheTimedBlocks));
  const double few = policy::kFewSlices;
  for (const std::string& stated :
       {fmt::format("more than {} in all: {:.2f} for a hundredth", kInAll, std::pow(0.99, kInAll)),
        fmt::format("{:.1g} for a tenth with {} short slices, {:.5f} with {} slices of parts", std::pow(0.9, policy::kMostSampledSlices),
                    policy::kMostSampledSlices, std::pow(0.9, kOfTheTimedBlocks), kOfTheTimedBlocks),
        fmt::format("at most (1 - *p*)^{}: {:.2f} for a third", other_blocks, std::pow(2.0 / 3, other_blocks)),
        fmt::format("(no second dimension) | {:.2f} |", std::pow(2.0 / 3, 2 * few + 2)),
        fmt::format("one of 16 such rows | {:.2f}.", std::pow((16 - few) / 16, 2) * std::pow(15.0 / 16, 2)),
        fmt::format("parts with up to {} slices together after each launch; {} parts at most", policy::kMostParts * policy::kPartSlices,
                    policy::kMostSmallParts),
        fmt::format("up to {} slices times {} indices", policy::kPartSlices, policy::kPartIndices),
        fmt::format("at least three others ({} if they are cheap)", policy::kSecretSample.most)}) {
    EXPECT_NE(page.find(stated), std::string::npos) << stated;
  }
  EXPECT_EQ(policy::kSecretSample.least, 3);
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
