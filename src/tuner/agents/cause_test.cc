// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests that a cause is named if a count changed with the time, and otherwise not.
#include "tuner/agents/cause.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

// Makes an evaluation of one shape and one kernel. `gain`: the kernel's speedup over what it was timed against.
Evaluation EvaluationWith(double gain, std::map<std::string, double> counts) {
  Evaluation e;
  e.verdict = Verdict::kOk;
  CaseResult c;
  c.dims = {{"rows", 4}};
  c.time_us = Interval{100, 99, 101};
  c.speedup = Interval{gain, gain, gain};
  e.cases = {c};
  KernelProfile kernel;
  kernel.kernel = "k";
  kernel.duration_us = 100;
  kernel.values = std::move(counts);
  Profile profile;
  profile.cases = {{c.dims, {kernel}}};
  e.profile = profile;
  return e;
}

TEST(Cause, ASlowerVersionIsToldWhichCountGotWorse) {
  const Evaluation before =
      EvaluationWith(1, {{"load_bytes_in_flight", 184e3}, {"dram_bytes", 1e9}, {"bank_conflicts", 500}});
  const Evaluation after =
      EvaluationWith(0.693, {{"load_bytes_in_flight", 15.3e3}, {"dram_bytes", 1.1e9}, {"bank_conflicts", 100}});
  EXPECT_EQ(CauseText(before, after), "loads in flight an SM fell from 184 kB to 15.3 kB")
      << "more traffic by a tenth tells nothing, and fewer conflicts made nothing slower";
}

TEST(Cause, AFasterVersionIsToldWhatItGained) {
  const Evaluation before = EvaluationWith(1, {{"dram_bytes", 2e9}, {"occupancy", 40}, {"barriers_per_warp", 8}});
  const Evaluation after = EvaluationWith(1.4, {{"dram_bytes", 1e9}, {"occupancy", 80}, {"barriers_per_warp", 16}});
  EXPECT_EQ(CauseText(before, after),
            "traffic of device memory fell from 2 GB to 1 GB, occupancy rose from 40 % to 80 %");
}

TEST(Cause, NothingIsToldWhereTimesAreTheSameOrNothingWasCounted) {
  const Evaluation before = EvaluationWith(1, {{"load_bytes_in_flight", 184e3}});
  EXPECT_EQ(CauseText(before, EvaluationWith(1.005, {{"load_bytes_in_flight", 15e3}})), "");
  EXPECT_EQ(CauseText(before, EvaluationWith(0.7, {{"load_bytes_in_flight", 184e3}})), "");
  Evaluation uncounted = EvaluationWith(0.7, {});
  uncounted.profile.reset();
  EXPECT_EQ(CauseText(before, uncounted), "");
}

TEST(Cause, WithoutCountsSpillsAndOccupancySpeak) {
  Evaluation before = EvaluationWith(1, {}), after = EvaluationWith(0.5, {});
  before.profile.reset();
  after.profile.reset();
  before.resources = {{"k", 64, 0, 0, 0, 0.75}};
  after.resources = {{"k", 255, 96, 0, 0, 0.25}};
  EXPECT_EQ(CauseText(before, after), "bytes spilled a thread rose from 0 to 96, occupancy fell from 75 % to 25 %");
}

TEST(Cause, TheShapeThatChangedMostIsTheOneThatIsExplained) {
  Evaluation before = EvaluationWith(1, {{"dram_bytes", 1e6}}), after = EvaluationWith(0.9, {{"dram_bytes", 2e6}});
  CaseResult wide = after.cases[0];
  wide.dims = {{"rows", 4096}};
  wide.speedup = Interval{0.5, 0.5, 0.5};
  after.cases.push_back(wide);
  KernelProfile kernel = before.profile->cases[0].kernels[0];
  before.profile->cases.push_back({wide.dims, {kernel}});
  kernel.values["dram_bytes"] = 8e6;
  after.profile->cases.push_back({wide.dims, {kernel}});
  EXPECT_EQ(CauseText(before, after), "traffic of device memory rose from 1 MB to 8 MB (at rows=4096)");
}

}  // namespace
}  // namespace hone
