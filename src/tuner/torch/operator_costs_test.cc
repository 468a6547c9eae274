// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/torch/operator_costs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace hone {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kReport =
    R"js({"device": "NVIDIA H200", "torch": "2.11.0, cuDNN 9.1.0", "on_gpu": true, "training": true, "sizes": {"rows": 512}, "warm_calls": 3, "calls": 15, "own": 5244928,
"timer_us": 1.5, "all_us": {"median": 80, "low": 79, "high": 82}, "forward_us": {"median": 75, "low": 74, "high": 76}, "operators": [
{"name": "addmm", "calls": 1, "bytes": 5244928, "flops": 536870912, "us": {"median": 61.25, "low": 60, "high": 62}},
{"name": "mul", "calls": 2, "bytes": 4194304, "flops": 0, "us": {"median": 20, "low": 19, "high": 21}}]})js";

// Returns kReport with one text in place of another, which it must have.
std::string Report(const std::string& what, const std::string& by) {
  std::string text = kReport;
  const size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return text.replace(at, what.size(), by);
}

TEST(OperatorCosts, MeasuredTimesStandWithDeviceVersionAndShare) {
  const Result<OperatorProfile> profile = ReadOperatorProfile(kReport);
  ASSERT_TRUE(profile.ok()) << profile.status().message();
  // 61.25 of 81.25 us are 75.4 %, and 20 are 24.6 %. 9.44 MB are moved, and the module's own tensors have 5.24 MB.
  EXPECT_THAT(MeasuredCostNotes(*profile),
              ElementsAre("what forward's operators cost at the file's sizes, each by itself: time measured on NVIDIA H200 with PyTorch 2.11.0, cuDNN 9.1.0 (median of 15 warm "
                          "calls) and its share of all operators', bytes read and written: addmm 61.2 us, 75.4 %, 5.24 MB and 537 MFLOP; mul (x2) 20 us, 24.6 %, 4.19 MB",
                          "forward as a whole takes 75 us there, measured without timing its operators",
                          "they move 9.44 MB, and the module's inputs, weights and outputs have 5.24 MB: what they hand to one another is the rest, which a fused kernel "
                          "need not move"));
}

TEST(OperatorCosts, UnevenTimesAndThoseOfACpuAreCalledSo) {
  const Result<OperatorProfile> uneven = ReadOperatorProfile(Report(R"("all_us": {"median": 80, "low": 79, "high": 82})",
                                                                    R"("all_us": {"median": 80, "low": 50, "high": 160})"));
  ASSERT_TRUE(uneven.ok()) << uneven.status().message();
  EXPECT_THAT(MeasuredCostNotes(*uneven),
              Contains("the times are uneven, so that the shares say little: all operators together took 50 us to 160 us (95 % interval of the median)"));
  const Result<OperatorProfile> on_cpu = ReadOperatorProfile(Report(R"("on_gpu": true)", R"("on_gpu": false)"));
  ASSERT_TRUE(on_cpu.ok()) << on_cpu.status().message();
  EXPECT_THAT(MeasuredCostNotes(*on_cpu), Contains("a CPU's times say little about which operators are costly on a GPU"));
}

TEST(OperatorCosts, ComputedCostsSayThatNothingWasTimedAndWhy) {
  const Result<OperatorProfile> profile = ReadOperatorProfile(kReport);
  ASSERT_TRUE(profile.ok());
  EXPECT_THAT(ComputedCostNotes(profile->costs, "no GPU was found here"),
              ElementsAre("what forward's operators read and write at the file's sizes, each by itself (computed from shapes; no operator was timed: no GPU was found here): "
                          "addmm 5.24 MB and 537 MFLOP, mul (x2) 4.19 MB",
                          HasSubstr("they move 9.44 MB")));
  EXPECT_THAT(ComputedCostNotes({}, "no GPU"), ElementsAre());
}

TEST(OperatorCosts, OnlyTheCostliestOperatorsAreNamedInTheOrderOfTheirCalls) {
  OperatorProfile profile;
  profile.device = "a GPU";
  profile.on_gpu = true;
  for (int i = 0; i < 10; ++i) {
    const double us = i < 2 ? 1 : 10 + i;  // the first two are left out
    profile.costs.operators.push_back({.name = "op" + std::to_string(i), .calls = 1, .bytes = 1000, .flops = 0, .time = {us, us, us}});
  }
  profile.costs.own_bytes = 10000;
  const std::vector<std::string> notes = MeasuredCostNotes(profile);
  EXPECT_THAT(notes.at(0), HasSubstr("written: op2 12 us, "));
  EXPECT_THAT(notes.at(0), HasSubstr("; op9 19 us, "));
  EXPECT_THAT(notes.at(0), HasSubstr("; 2 others 2 us, 1.59 %, 2 kB")) << "2 of 126 us";
  EXPECT_EQ(notes.size(), 2u) << "nothing is moved between operators: no word of fusing";
}

TEST(OperatorCosts, TheFileKeepsDeviceVersionRepeatsMedianAndSpread) {
  const Result<OperatorProfile> profile = ReadOperatorProfile(kReport);
  ASSERT_TRUE(profile.ok());
  const nlohmann::json file = ProfileJson(*profile);
  EXPECT_EQ(file["device"], "NVIDIA H200");
  EXPECT_EQ(file["torch"], "2.11.0, cuDNN 9.1.0");
  EXPECT_EQ(file["clock"], "CUDA events");
  EXPECT_EQ(file["calls"], 15);
  EXPECT_EQ(file["warm_calls"], 3);
  EXPECT_EQ(file["sizes"]["rows"], 512);
  EXPECT_EQ(file["operators"][0]["us"], (nlohmann::json{{"median", 61.25}, {"low", 60.0}, {"high", 62.0}}));
  EXPECT_NEAR(file["operators"][1]["share"].get<double>(), 20 / 81.25, 1e-12);
}

// The module's code ran in the process that reports.
TEST(OperatorCosts, AReportThatIsNoneIsNotBelieved) {
  for (const auto& [what, by] : {std::pair<std::string, std::string>{"\"addmm\"", "\"add\\nmm\""},
                                 {"\"calls\": 1,", "\"calls\": 0,"},
                                 {"5244928, \"flops\"", "-1, \"flops\""},
                                 {"\"median\": 61.25", "\"median\": \"nan\""},
                                 {"\"median\": 75", "\"median\": \"inf\""},
                                 {"\"timer_us\": 1.5, ", ""},
                                 {"\"on_gpu\": true, ", ""}}) {
    const Result<OperatorProfile> profile = ReadOperatorProfile(Report(what, by));
    ASSERT_FALSE(profile.ok()) << by;
    EXPECT_EQ(profile.status().code(), StatusCode::kInternal) << by;
  }
  const Result<OperatorProfile> lines = ReadOperatorProfile(Report("NVIDIA H200", "a\\nb"));
  ASSERT_TRUE(lines.ok());
  EXPECT_EQ(lines->device, "a b") << "a note is one line of a file";
  const Result<OperatorProfile> failed = ReadOperatorProfile(R"({"error": "OutOfMemoryError: CUDA out of memory"})");
  EXPECT_EQ(failed.status().code(), StatusCode::kUnavailable);
  EXPECT_EQ(failed.status().message(), "OutOfMemoryError: CUDA out of memory");
  EXPECT_EQ(ReadOperatorProfile(Report("\"median\": 80", "\"median\": 0")).status().code(), StatusCode::kUnavailable) << "nothing takes time";
}

}  // namespace
}  // namespace hone
