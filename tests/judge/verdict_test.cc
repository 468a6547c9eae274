// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests every verdict that the judge can give, each with a candidate that deserves it, and the contents of an
// evaluation.
#include <cmath>
#include <limits>

#include "tests/judge/judge_fixture.h"

namespace hone {
namespace {

TEST(JudgeVerdict, OkCarriesTimesSpeedupAndFloor) {
  JudgeBench bench;
  bench.candidate().microseconds = Costs(50);
  bench.incumbent().microseconds = Costs(100);
  const Evaluation evaluation = bench.Run();
  ASSERT_EQ(evaluation.verdict, Verdict::kOk) << evaluation.detail;
  const CaseResult* timed = Timed(evaluation);
  ASSERT_NE(timed, nullptr);
  ASSERT_TRUE(timed->time_us && timed->speedup && timed->baseline_us && timed->floor_us && timed->refuse_below_us);
  EXPECT_NEAR(timed->time_us->median, 50, 0.5);
  EXPECT_LE(timed->time_us->low, timed->time_us->median);
  EXPECT_GE(timed->time_us->high, timed->time_us->median);
  EXPECT_NEAR(*timed->baseline_us, 100, 1);
  EXPECT_NEAR(timed->speedup->median, 2, 0.02);
  EXPECT_LT(timed->speedup->high - timed->speedup->low, 0.1);
  EXPECT_EQ(timed->timing.decision, "faster");
  EXPECT_EQ(timed->timing.status, "stable");
  EXPECT_GE(timed->timing.quads, 10);
  EXPECT_GE(timed->timing.plans_per_sample, 2) << "a short kernel must be timed over several buffer sets";
  EXPECT_NEAR(*timed->floor_fraction, *timed->floor_us / timed->time_us->median, 1e-12);
  EXPECT_LT(*timed->refuse_below_us, timed->time_us->low);
  ASSERT_TRUE(evaluation.geomean_speedup);
  EXPECT_NEAR(*evaluation.geomean_speedup, 2, 0.02);
  ASSERT_TRUE(timed->warm_time_us);
  EXPECT_FALSE(evaluation.modelled);
  EXPECT_FALSE(evaluation.mismatch);
}

// The fake device fits 2048 threads on an SM, whatever the kernel.
TEST(JudgeVerdict, OccupancyIsThatOfTheTimedCase) {
  JudgeBench bench;
  bench.candidate().resources.registers = 40;
  const Evaluation timed = bench.Run();
  ASSERT_EQ(timed.resources.size(), 1u);
  EXPECT_EQ(timed.resources[0].occupancy, 1);
  JudgeBench unknown;
  unknown.candidate().resources.registers = -1;
  EXPECT_EQ(unknown.Run().resources.at(0).occupancy, 0) << "nothing is said where registers are not known";
}

TEST(JudgeVerdict, EqualKernelsAreTheSame) {
  JudgeBench bench;
  bench.device.log_noise = [random = std::make_shared<std::mt19937_64>(7)] {
    return 0.002 * std::normal_distribution<double>()(*random);
  };
  const Evaluation evaluation = bench.Run();
  ASSERT_EQ(evaluation.verdict, Verdict::kOk) << evaluation.detail;
  EXPECT_EQ(Timed(evaluation)->timing.decision, "same");
  EXPECT_LE(Timed(evaluation)->speedup->low, 1);
  EXPECT_GE(Timed(evaluation)->speedup->high, 1);
}

TEST(JudgeVerdict, ASlowerCandidateIsOkAndSlower) {
  JudgeBench bench;
  bench.candidate().microseconds = Costs(105);
  const Evaluation evaluation = bench.Run();
  ASSERT_EQ(evaluation.verdict, Verdict::kOk) << evaluation.detail;
  EXPECT_EQ(Timed(evaluation)->timing.decision, "slower");
  EXPECT_LT(Timed(evaluation)->speedup->high, 1);
}

TEST(JudgeVerdict, WithoutAnIncumbentThereIsATimeAndNoSpeedup) {
  JudgeBench bench;
  bench.has_incumbent = false;
  const Evaluation evaluation = bench.Run();
  ASSERT_EQ(evaluation.verdict, Verdict::kOk) << evaluation.detail;
  EXPECT_NEAR(Timed(evaluation)->time_us->median, 100, 1);
  EXPECT_FALSE(Timed(evaluation)->speedup);
  EXPECT_FALSE(evaluation.geomean_speedup);
}

TEST(JudgeVerdict, WithoutTimingThereAreChecksOnly) {
  JudgeBench bench;
  bench.options.time = false;
  const Evaluation evaluation = bench.Run();
  ASSERT_EQ(evaluation.verdict, Verdict::kOk) << evaluation.detail;
  EXPECT_EQ(Timed(evaluation), nullptr);
  EXPECT_EQ(evaluation.cases.size(), 10u);  // three check cases, two hidden ones, three beside the timed shape, two of extreme proportions
  EXPECT_EQ(bench.session->timed_samples(), 0);
}

TEST(JudgeVerdict, TheSameSeedGivesTheSameJudgement) {
  JudgeBench bench;
  bench.device.log_noise = {};
  const Evaluation first = bench.Run();
  const int64_t launches = bench.session->launches();
  const Evaluation second = bench.Run();
  ASSERT_EQ(first.cases.size(), second.cases.size());
  for (size_t i = 0; i < first.cases.size(); ++i) EXPECT_EQ(first.cases[i].dims, second.cases[i].dims);
  EXPECT_EQ(bench.session->launches(), launches);
  bench.options.seed += 1;
  bool differs = false;
  const Evaluation third = bench.Run();
  for (size_t i = 0; i < first.cases.size(); ++i) differs |= first.cases[i].dims != third.cases[i].dims;
  EXPECT_TRUE(differs) << "hidden cases do not depend on the seed";
}

TEST(JudgeVerdict, WrongOutputNamesTheFirstWrongElement) {
  JudgeBench bench;
  bench.candidate().run = [](FakeLaunch& launch) {
    Scale(launch);
    if (launch.Extent("x", 0) == 3 && launch.Extent("x", 1) == 5) launch.Write("out", 9, launch.Read("out", 9) + 1);
  };
  const Evaluation evaluation = bench.Run();
  ASSERT_EQ(evaluation.verdict, Verdict::kWrongOutput);
  ASSERT_TRUE(evaluation.mismatch);
  EXPECT_EQ(evaluation.mismatch->tensor, "out");
  EXPECT_EQ(evaluation.mismatch->index, (std::vector<int64_t>{1, 4}));  // element number 9 of 3 x 5
  EXPECT_EQ(evaluation.mismatch->wrong_elements, 1);
  EXPECT_EQ(evaluation.mismatch->total_elements, 15);
  EXPECT_NEAR(evaluation.mismatch->actual - evaluation.mismatch->expected, 1, 1e-5);
  EXPECT_NE(evaluation.detail.find("out"), std::string::npos);
  EXPECT_EQ(Timed(evaluation), nullptr) << "timings exist only with the verdict ok";
  EXPECT_FALSE(evaluation.geomean_speedup);
}

TEST(JudgeVerdict, UnwrittenElementsAreSaidToBe) {
  JudgeBench bench;
  bench.gates.changing_fills = false;
  bench.candidate().run = [](FakeLaunch& launch) { ScaleRows(launch, 0, launch.Extent("x", 0) - 1); };
  const Evaluation evaluation = bench.Run();
  EXPECT_EQ(evaluation.verdict, Verdict::kWrongOutput);
  EXPECT_NE(evaluation.detail.find("unwritten"), std::string::npos) << evaluation.detail;
}

TEST(JudgeVerdict, UnwrittenElementsAreSaidToBeWhateverWasThere) {
  for (uint64_t seed = 1; seed <= 6; ++seed) {  // the fills (NaNs, bytes, plausible numbers) take turns, beginning with
                                                // a secret one
    JudgeBench bench;
    bench.options.seed = seed;
    bench.candidate().run = [](FakeLaunch& launch) { ScaleRows(launch, 0, launch.Extent("x", 0) - 1); };
    const Evaluation evaluation = bench.Run();
    EXPECT_EQ(evaluation.verdict, Verdict::kWrongOutput);
    EXPECT_NE(evaluation.detail.find("never written"), std::string::npos) << evaluation.detail;
  }
}

TEST(JudgeVerdict, NanAndInfinityAreWrong) {
  for (double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    JudgeBench bench;
    bench.candidate().run = [bad](FakeLaunch& launch) {
      Scale(launch);
      if (launch.Elements("x") > 0) launch.Write("out", launch.Elements("x") - 1, bad);
    };
    const Evaluation evaluation = bench.Run();
    EXPECT_EQ(evaluation.verdict, Verdict::kWrongOutput);
    EXPECT_NE(evaluation.detail.find("NaN or Inf"), std::string::npos) << evaluation.detail;
  }
}

TEST(JudgeVerdict, LowerPrecisionThanAllowedIsWrong) {
  // The results are rounded to 11 bits like TF32: every error is small, but their mean square is too large.
  JudgeBench bench;
  bench.task.tolerance["out"].c_max = 1e-2;
  bench.candidate().run = [](FakeLaunch& launch) {
    const int64_t cols = launch.Extent("x", 1);
    for (int64_t i = 0; i < launch.Elements("x"); ++i) {
      int exponent = 0;
      const double mantissa = std::frexp(launch.Read("x", i), &exponent);
      launch.Write("out", i, std::ldexp(std::round(mantissa * 2048) / 2048, exponent) * launch.Read("w", i % cols));
    }
  };
  const Evaluation evaluation = bench.Run();
  EXPECT_EQ(evaluation.verdict, Verdict::kWrongOutput);
  EXPECT_NE(evaluation.detail.find("less precise"), std::string::npos) << evaluation.detail;
}

TEST(JudgeVerdict, ACrashIsACrashWithItsCase) {
  JudgeBench bench;
  bench.candidate().run = [](FakeLaunch& launch) {
    if (launch.Extent("x", 0) == 40) return launch.Crash("an illegal memory access");
    Scale(launch);
  };
  const Evaluation evaluation = bench.Run();
  EXPECT_EQ(evaluation.verdict, Verdict::kCrashed);
  EXPECT_NE(evaluation.detail.find("an illegal memory access"), std::string::npos);
  EXPECT_NE(evaluation.detail.find("rows=40"), std::string::npos) << evaluation.detail;
}

TEST(JudgeVerdict, ACrashThatTakesTheSessionAlongIsStillTheCandidates) {
  JudgeBench bench;
  bench.device.lost_after_crash = true;
  bench.candidate().run = [](FakeLaunch& launch) { launch.Crash("an illegal memory access"); };
  EXPECT_EQ(bench.Run().verdict, Verdict::kCrashed);
  EXPECT_TRUE(bench.session->lost());
}

TEST(JudgeVerdict, AHangTimesOut) {
  JudgeBench bench;
  bench.candidate().run = [](FakeLaunch& launch) { launch.Hang(); };
  EXPECT_EQ(bench.Run().verdict, Verdict::kTimedOut);
}

TEST(JudgeVerdict, AHangOrCrashInATimedLaunchCountsToo) {
  for (const auto& [status, verdict] : {std::pair{LaunchStatus::kTimedOut, Verdict::kTimedOut},
                                        {LaunchStatus::kCrashed, Verdict::kCrashed}}) {
    JudgeBench bench;
    bench.candidate().run = [status = status](FakeLaunch& launch) {
      Scale(launch);
      if (launch.execution() == 60) launch.Fail(status, "late trouble");
    };
    const Evaluation evaluation = bench.Run();
    EXPECT_EQ(evaluation.verdict, verdict) << evaluation.detail;
    EXPECT_EQ(Timed(evaluation), nullptr);
  }
}

TEST(JudgeVerdict, LaunchErrorsUnsupportedAndResourceLimitsPassThrough) {
  for (const auto& [status, verdict] : {std::pair{LaunchStatus::kLaunchError, Verdict::kLaunchError},
                                        {LaunchStatus::kUnsupported, Verdict::kUnsupported},
                                        {LaunchStatus::kResourceLimit, Verdict::kResourceLimit},
                                        {LaunchStatus::kRuleViolation, Verdict::kRuleViolation}}) {
    JudgeBench bench;
    bench.candidate().run = [status = status](FakeLaunch& launch) { launch.Fail(status, "said the driver"); };
    const Evaluation evaluation = bench.Run();
    EXPECT_EQ(evaluation.verdict, verdict);
    EXPECT_NE(evaluation.detail.find("said the driver"), std::string::npos);
  }
}

TEST(JudgeVerdict, AProgramThatDoesNotLoadIsAResourceLimit) {
  JudgeBench bench;
  bench.candidate().load = LaunchStatus::kResourceLimit;
  EXPECT_EQ(bench.Run().verdict, Verdict::kResourceLimit);
  EXPECT_EQ(bench.session->launches(), 0);
}

TEST(JudgeVerdict, AWorkspaceOfTwoTerabytesIsAResourceLimit) {
  JudgeBench bench;
  bench.plan_more = "[[workspace]]\nname = \"scratch\"\nbytes = \"2000000000000\"\n";
  const Evaluation evaluation = bench.Run();
  EXPECT_EQ(evaluation.verdict, Verdict::kResourceLimit);
  EXPECT_NE(evaluation.detail.find("scratch"), std::string::npos) << evaluation.detail;
}

TEST(JudgeVerdict, APlanThatDoesNotResolveIsALaunchError) {
  JudgeBench bench;
  bench.args = R"("x", "w", "out", "1 / (rows - 40):i64")";
  bench.incumbent() = bench.candidate();
  bench.has_incumbent = false;
  const Evaluation evaluation = bench.Run();
  EXPECT_EQ(evaluation.verdict, Verdict::kLaunchError);
  EXPECT_NE(evaluation.detail.find("zero"), std::string::npos) << evaluation.detail;
}

TEST(JudgeVerdict, AnOracleThatFailsMakesTheTaskInvalid) {
  JudgeBench bench;
  bench.oracle().run = [](FakeLaunch& launch) { launch.Crash("broken oracle"); };
  const Evaluation evaluation = bench.Run();
  EXPECT_EQ(evaluation.verdict, Verdict::kInvalidTask);
  EXPECT_NE(evaluation.detail.find("broken oracle"), std::string::npos);
}

TEST(JudgeVerdict, AWrongIncumbentIsNotTheCandidatesFault) {
  JudgeBench bench;
  bench.incumbent().run = [](FakeLaunch& launch) {
    Scale(launch);
    for (int64_t i = 0; i < launch.Elements("out"); ++i) launch.Write("out", i, 0.5 * launch.Read("out", i));
  };
  const Evaluation evaluation = bench.Run();
  EXPECT_EQ(evaluation.verdict, Verdict::kInvalidTask);
  EXPECT_NE(evaluation.detail.find("incumbent"), std::string::npos) << evaluation.detail;
}

TEST(JudgeVerdict, ALostDeviceIsAStatusAndNobodysFault) {
  for (int64_t launches : {0, 3, 30, 90}) {
    JudgeBench bench;
    bench.device.lost_after_launches = launches;
    Result<Evaluation> evaluation = bench.Try();
    ASSERT_FALSE(evaluation.ok()) << launches;
    EXPECT_EQ(evaluation.status().code(), StatusCode::kUnavailable) << evaluation.status().message();
  }
}

TEST(JudgeVerdict, AnImpossiblyShortTimeIsRefused) {
  JudgeBench bench;
  bench.candidate().microseconds = Costs(0.5);  // reading the inputs takes 6 us at the datasheet's 1 GB/s
  const Evaluation evaluation = bench.Run();
  EXPECT_EQ(evaluation.verdict, Verdict::kRuleViolation);
  EXPECT_NE(evaluation.detail.find("impossible"), std::string::npos) << evaluation.detail;
}

TEST(JudgeVerdict, AThrottlingDeviceShowsInTheStatus) {
  JudgeBench bench;
  bench.device.condition = [](int64_t call) {
    DeviceCondition condition;
    condition.sm_clock_mhz = call == 0 ? 1980 : 1500;
    return condition;
  };
  const Evaluation evaluation = bench.Run();
  ASSERT_EQ(evaluation.verdict, Verdict::kOk) << evaluation.detail;
  EXPECT_EQ(Timed(evaluation)->timing.status, "throttled");
}

TEST(JudgeVerdict, AllMemoryComesBack) {
  JudgeBench bench;
  ASSERT_EQ(bench.Run().verdict, Verdict::kOk);
  EXPECT_EQ(bench.session->allocated_bytes(), 0);
  EXPECT_GT(bench.session->peak_allocated_bytes(), 0);
}

}  // namespace
}  // namespace hone
