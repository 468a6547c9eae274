// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests that each group of the judge's chosen numbers names a section of a page of docs/ that has it, and that the pages state
// the numbers as they are.
#include "tuner/evaluate/judge/judge_policy.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "hone/tuner/evaluation.h"

namespace hone {
namespace {

std::string Text(const std::string& path) {
  std::ifstream stream(std::string(HONE_SOURCE_DIR) + path);
  EXPECT_TRUE(stream.good()) << path;
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

TEST(JudgePolicy, NamesSectionsThatThePagesHave) {
  const std::string policy = Text("/src/tuner/evaluate/judge/judge_policy.h");
  const std::string before = "// ---- docs/";
  int sections = 0;
  for (size_t at = policy.find(before); at != std::string::npos; at = policy.find(before, at + 1)) {
    const size_t name = at + before.size(), begin = policy.find('"', name) + 1;
    const std::string page = policy.substr(name, policy.find(',', name) - name);
    const std::string section = policy.substr(begin, policy.find('"', begin) - begin);
    EXPECT_NE(Text("/docs/" + page).find("# " + section + "\n"), std::string::npos) << page << ", " << section;
    ++sections;
  }
  EXPECT_GE(sections, 5);
}

void ExpectStated(const std::string& page, const std::vector<std::string>& sentences) {
  const std::string text = Text(page);
  for (const std::string& stated : sentences) EXPECT_NE(text.find(stated), std::string::npos) << page << ": " << stated;
}

TEST(JudgePolicy, PagesStateItsNumbers) {
  ExpectStated(
      "/docs/measurement.md",
      {fmt::format("at most {}. Only those", policy::kAimedDraws),
       fmt::format("a secret 1/{} of them", policy::kRedrawShare),
       fmt::format("judges up to {} of the differing slices", policy::kDifferingSlicesJudged),
       fmt::format("up to {}, each on a buffer set of its own", policy::kMostSets),
       fmt::format("| odd neighbors | {0} | {1} | {1} |", policy::kOddNeighbors, policy::kSimulatedNeighbors),
       fmt::format("| shapes for alternatives | {0} | {1} | {1} |", policy::kMostAimedBeyond, policy::kMostAimedSimulated),
       fmt::format("| edges | {0} | {1} | {1} |", policy::kMostEdges, policy::kMostEdgesSimulated),
       fmt::format("(at least one edge) | {0} | {1} | {1} |", policy::kMostBeyondLaunches, policy::kMostSimulatedLaunches),
       fmt::format("| {} MiB, or a sixteenth of the device's memory if that is less | {} MiB | {} MiB |", policy::kBeyondLimits.bytes >> 20,
                   policy::kSimulatedBeyondLimits.bytes >> 20, policy::kBesideAGpuLimits.bytes >> 20),
       fmt::format("| {:.0f} billion | {:.0f} million | {:.0f} million |", policy::kBeyondLimits.flops / 1e9,
                   policy::kSimulatedBeyondLimits.flops / 1e6, policy::kBesideAGpuLimits.flops / 1e6),
       fmt::format("{} to {} times as many slices as the device has multiprocessors", policy::kManySlices, 2 * policy::kManySlices)});
  EXPECT_EQ(policy::kBeyondMemoryShare, 16);
  ExpectStated("/docs/precision.md",
               {fmt::format("a run of the oracle that took more than {:g} s", policy::kSlowOracleSeconds),
                fmt::format("more than {:.0f} % of a candidate's samples lie above {:g} medians", 100 * policy::kSlowShare, policy::kSlowSample),
                fmt::format("Up to {} slices are compared", policy::kVastSlices),
                fmt::format("This page describes version {}.", kGatesVersion), fmt::format("\n| {} | ", kGatesVersion)});
  EXPECT_EQ(policy::kSlowOracleShare, 16);
  EXPECT_EQ(policy::kSlowOracleForBaseSeconds, 1);
  ExpectStated("/docs/timing.md", {fmt::format("less than {:g} us, a sample is a CUDA graph", policy::kLongLaunchUs),
                                   fmt::format("| {} quads | 20, 30, … {} quads: nine looks |", policy::kMostQuadsShort, policy::kMostQuadsShort),
                                   fmt::format("| {} quads | 10, 20, … {} quads: five looks |", policy::kMostQuadsLong, policy::kMostQuadsLong),
                                   fmt::format("| {} quads | 4, 8, … {} quads: five looks |", policy::kWarmQuads, policy::kWarmQuads)});
  ExpectStated("/docs/simulated-gpu.md", {fmt::format("less than {:g} or more than 3 times their share", policy::kLeastWrittenShare),
                                          fmt::format("may cost at most {:g} times as much", policy::kSampleDearer),
                                          fmt::format("more than {:g} times the accesses", policy::kSampleMisses)});
}

// The oracle's limit is longer than the candidate's, but never so long that a watchdog would end it first, and short if
// the launch limit is short.
TEST(JudgePolicy, TheOraclesLimitFollowsTheLaunchLimit) {
  EXPECT_EQ(policy::OracleSeconds(10), 120) << "by default";
  EXPECT_EQ(policy::OracleSeconds(200), 120);
  EXPECT_LT(policy::OracleSeconds(200), policy::kCheckSeconds);
  EXPECT_EQ(policy::OracleSeconds(3), 36);
  EXPECT_EQ(policy::OracleSeconds(0.1), 20)
      << "a simulated GPU on a busy machine takes some seconds for an honest oracle";
}

}  // namespace
}  // namespace hone
