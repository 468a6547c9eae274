// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests doubtful times and outputs: what is refused, what becomes a finding, and which finding the verdict shows first.
#include <gmock/gmock.h>

#include "tests/judge/judge_fixture.h"

namespace hone {
namespace {

// Returns the first finding's kind; empty if there is none.
std::string FirstFinding(const Evaluation& evaluation) {
  return evaluation.findings.empty() ? "" : evaluation.findings.front().kind;
}
const Finding* Find(const Evaluation& evaluation, const std::string& kind) {
  for (const Finding& finding : evaluation.findings) {
    if (finding.kind == kind) return &finding;
  }
  return nullptr;
}

std::function<double(const FakeTiming&)> SlowNowAndThen(int64_t each) {
  return [each](const FakeTiming& timing) { return timing.sample % each == 0 ? 300.0 : 100.0; };
}

// --- slow samples ---

TEST(SlowSamples, AShareThatTheMedianHidesIsTheFirstFinding) {
  JudgeBench bench;
  bench.options.warm = false;
  bench.candidate().microseconds = SlowNowAndThen(7);
  const Evaluation evaluation = bench.Run();
  ASSERT_EQ(evaluation.verdict, Verdict::kOk) << evaluation.detail;
  EXPECT_EQ(FirstFinding(evaluation), "slow_samples");
  EXPECT_NE(evaluation.findings.front().message.find("% of the timed samples"), std::string::npos);
}

TEST(SlowSamples, OnesThatTheIncumbentHasTooAreTheDevices) {
  JudgeBench bench;
  bench.options.warm = false;
  bench.candidate().microseconds = bench.incumbent().microseconds = SlowNowAndThen(7);
  const Evaluation evaluation = bench.Run();
  ASSERT_EQ(evaluation.verdict, Verdict::kOk) << evaluation.detail;
  EXPECT_EQ(Find(evaluation, "slow_samples"), nullptr);
}

TEST(SlowSamples, OneInAHundredIsAnInterrupt) {
  JudgeBench bench;
  bench.options.warm = false;
  bench.candidate().microseconds = SlowNowAndThen(101);
  EXPECT_EQ(Find(bench.Run(), "slow_samples"), nullptr);
}

// --- outputs that differ from run to run ---

void ScaleWithNoise(JudgeBench& bench) {
  bench.candidate().run = [random = std::make_shared<std::mt19937_64>(5)](FakeLaunch& launch) {
    const int64_t cols = launch.Extent("x", 1);
    for (int64_t i = 0; i < launch.Elements("x"); ++i) {
      const double exact = launch.Read("x", i) * launch.Read("w", i % cols);
      launch.Write("out", i, exact * (1 + ((*random)() % 3 == 0 ? 0x1p-23 : 0.0)));
    }
  };
}

TEST(Varying, AnElementwiseKernelThatVariesIsAFinding) {
  JudgeBench bench;
  ScaleWithNoise(bench);
  const Evaluation evaluation = bench.Run();
  ASSERT_EQ(evaluation.verdict, Verdict::kOk) << evaluation.detail;
  EXPECT_EQ(FirstFinding(evaluation), "varies_between_runs");
}

TEST(Varying, ASumWithAtomicsMayVary) {
  JudgeBench bench;
  bench.task.workload = WorkloadClass::kReduction;
  bench.plan_more = "# sums by atomicAdd\n";
  ScaleWithNoise(bench);
  const Evaluation evaluation = bench.Run();
  ASSERT_EQ(evaluation.verdict, Verdict::kOk) << evaluation.detail;
  EXPECT_EQ(Find(evaluation, "varies_between_runs"), nullptr);
}

TEST(Varying, ASumWithoutAtomicsThatVariesIsAFinding) {
  JudgeBench bench;
  bench.task.workload = WorkloadClass::kReduction;
  ScaleWithNoise(bench);
  EXPECT_EQ(FirstFinding(bench.Run()), "varies_between_runs");
}

TEST(Varying, ARoundingThatDependsOnTheRowsPlaceDoesNotVary) {
  JudgeBench bench;
  bench.candidate().run = [](FakeLaunch& launch) {
    const int64_t cols = launch.Extent("x", 1);
    for (int64_t i = 0; i < launch.Elements("x"); ++i) {
      launch.Write("out", i, launch.Read("x", i) * launch.Read("w", i % cols) * (1 + (i / cols % 2 == 0 ? 0x1p-23 : 0.0)));
    }
  };
  const Evaluation evaluation = bench.Run();
  ASSERT_EQ(evaluation.verdict, Verdict::kOk) << evaluation.detail;
  EXPECT_EQ(Find(evaluation, "varies_between_runs"), nullptr);
}

// --- operations beyond the peak ---

TEST(BeyondThePeak, OperationsDoNotRefuseButAreAFinding) {
  JudgeBench bench;
  bench.device.facts.fp32_flops = 1e6;  // 1536 operations in 100 us are 1.5e7 per second
  const Evaluation evaluation = bench.Run();
  ASSERT_EQ(evaluation.verdict, Verdict::kOk) << evaluation.detail;
  EXPECT_EQ(FirstFinding(evaluation), "beyond_peak");
  EXPECT_EQ(Find(JudgeBench().Run(), "beyond_peak"), nullptr);
}

TEST(BeyondThePeak, ABudgetThatLetsHalfPrecisionPassHasItsPeak) {
  JudgeBench bench;
  bench.device.facts.fp32_flops = 1e6;
  bench.task.tolerance.at("out") = {.c_max = 1e-2, .c_rms = 1e-3};
  EXPECT_EQ(Find(bench.Run(), "beyond_peak"), nullptr);
}

TEST(BeyondThePeak, WhatWasNotTriedBeforeIsTriedThen) {
  // The kernel is wrong on ascending rows at the timed shape, and the trials of some verdicts have no such rows.
  const auto run = [](uint64_t seed, bool suspicious) {
    JudgeBench bench;
    bench.options.seed = seed;
    bench.options.max_quads = 10;
    if (suspicious) bench.device.facts.fp32_flops = 1e6;
    bench.candidate().run = [](FakeLaunch& launch) {
      Scale(launch);
      if (launch.Extent("x", 0) != 96 || launch.Extent("x", 1) != 16) return;
      bool ascending = true;
      for (int64_t i = 1; i < 16; ++i) ascending &= launch.Read("x", i) > launch.Read("x", i - 1);
      if (ascending) launch.Write("out", 0, 1000);
    };
    return bench.Run().verdict;
  };
  int passed = 0;
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    passed += run(seed, false) == Verdict::kOk;
    EXPECT_EQ(run(seed, true), Verdict::kWrongOutput) << "seed " << seed;
  }
  EXPECT_GT(passed, 0);
}

// --- bytes, on both devices ---

TEST(ImpossibleTimes, AreRefusedOnAModelledDeviceToo) {
  for (const bool modelled : {false, true}) {
    for (const double bandwidth : {1e9, 0.0}) {
      JudgeBench bench;
      bench.device.facts.modelled = modelled;
      bench.device.facts.memory_bandwidth = bandwidth;
      bench.candidate().microseconds = Costs(0.5);  // there are 6.2 KB to read, at 1 GB/s
      const Evaluation evaluation = bench.Run();
      EXPECT_EQ(evaluation.verdict, bandwidth > 0 ? Verdict::kRuleViolation : Verdict::kOk) << evaluation.detail;
    }
  }
}

TEST(ImpossibleTimes, EachCaseIsHeldToItsOwnBytes) {
  // The second timed case moves a hundred times as many bytes as the first.
  std::string toml(kScaleTask);
  const std::string first = "[[case]]\nrole = \"time\"\ndims = { rows = 96, cols = 16 }\n";
  toml.insert(toml.find(first) + first.size(), "[[case]]\nrole = \"time\"\ndims = { rows = 960, cols = 160 }\n");
  for (const bool modelled : {false, true}) {
    JudgeBench bench(toml);
    bench.device.facts.modelled = modelled;
    bench.candidate().microseconds = Costs(50);
    const Evaluation evaluation = bench.Run();
    EXPECT_EQ(evaluation.verdict, Verdict::kRuleViolation) << evaluation.detail;
    EXPECT_NE(evaluation.detail.find("rows=960"), std::string::npos) << evaluation.detail;
  }
}

// An honest kernel that skips what it need not read is refused where the task counts too much. The refusal must say so.
TEST(ImpossibleTimes, TheTaskMayCountTooManyBytes) {
  std::string stated(kScaleTask);
  stated.insert(stated.find("[work]\n") + 7, "bytes = \"80 * rows * cols\"\n");
  for (const bool modelled : {false, true}) {
    const auto detail = [&](const std::string& toml) {
      JudgeBench bench(toml);
      bench.device.facts.modelled = modelled;
      bench.candidate().microseconds = Costs(0.5);
      return bench.Run().detail;
    };
    EXPECT_THAT(detail(stated),
                testing::EndsWith(", or [work] bytes of task.toml counts bytes that need not be read (inputs x: "
                                  "0.00614 MB): count fewer there"));
    EXPECT_THAT(
        detail(std::string(kScaleTask)),
        testing::EndsWith(", or the task counts bytes that need not be read (inputs x: 0.00614 MB): say under [work] "
                          "bytes of task.toml how many must be"));
  }
}

TEST(Gates, TheVerdictCarriesTheirVersion) { EXPECT_EQ(JudgeBench().Run().gates, kGatesVersion); }

}  // namespace
}  // namespace hone
