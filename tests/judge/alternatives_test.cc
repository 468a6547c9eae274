// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests plans with alternatives: every alternative that can be reached is checked, the task's seed serves the shapes
// that none serves, and the evaluation says so.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "tests/judge/judge_fixture.h"

namespace hone {
namespace {

using testing::HasSubstr;

// Returns plan text in which `candidate` runs under the condition `when`, followed by `rest`.
std::string When(const std::string& when, const std::string& rest = "") { return "when = \"" + when + "\"\n" + rest; }

std::string Launch(const std::string& kernel, const std::string& when = "") {
  return "[[launch]]\nkernel = \"" + kernel + "\"\ngrid = [\"1\"]\nblock = [\"1\"]\nargs = [\"x\", \"w\", \"out\", \"rows * cols:i64\"]\n" +
         (when.empty() ? "" : "when = \"" + when + "\"\n");
}

void Nothing(FakeLaunch&) {}

bool HasNote(const Evaluation& evaluation, const std::string& when) {
  return std::any_of(evaluation.findings.begin(), evaluation.findings.end(), [&](const Finding& f) {
    return f.kind == "untested_alternative" && f.message.find(when) != std::string::npos;
  });
}

TEST(Alternatives, OneThatFewShapesTakeIsFoundAndChecked) {
  // One width in forty takes the alternative, and a judgement has two hidden cases: without a search for it, most
  // judgements would never reach it.
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    JudgeBench bench;
    bench.options.seed = seed;
    bench.options.time = false;
    bench.device.kernels["rare"] = {.run = Nothing};
    bench.plan_more = When("cols != 37", Launch("rare"));
    const Evaluation evaluation = bench.Run();
    EXPECT_EQ(evaluation.verdict, Verdict::kWrongOutput) << "seed " << seed;
    ASSERT_TRUE(evaluation.mismatch.has_value());
    EXPECT_EQ(evaluation.mismatch->dims.at("cols"), 37);
    EXPECT_FALSE(HasNote(evaluation, "cols"));
  }
}

TEST(Alternatives, OneThatNoHiddenShapeTakesIsTold) {
  JudgeBench bench;
  bench.options.time = false;
  bench.device.kernels["never"] = {.run = Nothing};
  bench.plan_more = When("rows < 1000000", Launch("never", "cols == 5000") + Launch("candidate"));
  const Evaluation evaluation = bench.Run();
  EXPECT_EQ(evaluation.verdict, Verdict::kOk) << evaluation.detail;
  EXPECT_TRUE(HasNote(evaluation, "cols == 5000"));
  EXPECT_TRUE(HasNote(evaluation, "without `when`"));
  EXPECT_FALSE(HasNote(evaluation, "rows < 1000000"));
}

TEST(Alternatives, AMeasuredShapeCountsAsChecked) {
  JudgeBench bench;
  bench.device.kernels["timed"] = {.run = Scale};
  bench.plan_more = When("rows != 96", Launch("timed"));  // hidden rows end at 60; the timed case has 96
  const Evaluation evaluation = bench.Run();
  EXPECT_EQ(evaluation.verdict, Verdict::kOk) << evaluation.detail;
  EXPECT_FALSE(HasNote(evaluation, "alternative"));
}

TEST(Alternatives, APlanWithoutAnyIsNotDrawnFor) {
  for (const bool modelled : {false, true}) {
    JudgeBench bench;
    bench.options.time = false;
    bench.device.facts.modelled = modelled;
    // The cases are three check cases, two hidden ones and two of extreme proportions. Beside the timed shape there is
    // one more, or three on a device where that is cheap.
    EXPECT_EQ(bench.Run().cases.size(), modelled ? 8u : 10u);
  }
}

// The kernel is right wherever the task's file says that it is checked: at the timed shape, the check cases and in the
// hidden ranges.
TEST(BeyondTheHiddenRanges, AKernelThatIsWrongBesideTheTimedShapeIsCaught) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    JudgeBench bench;
    bench.options.seed = seed;
    bench.candidate().run = [](FakeLaunch& launch) {
      const int64_t rows = launch.Extent("x", 0), cols = launch.Extent("x", 1);
      const bool expected = (rows <= 60 && cols <= 40) || (rows == 96 && cols == 16);
      ScaleRows(launch, 0, expected ? rows : rows - 1);
    };
    const Evaluation evaluation = bench.Run();
    EXPECT_EQ(evaluation.verdict, Verdict::kWrongOutput) << "seed " << seed;
    ASSERT_TRUE(evaluation.mismatch.has_value());
    const Dims& dims = evaluation.mismatch->dims;
    EXPECT_TRUE(dims.at("rows") > 60 || dims.at("cols") > 40);
  }
}

// The hidden ranges end at 60 rows; the timed case has 96. Only shapes between them leave the alternative out.
TEST(BeyondTheHiddenRanges, AnAlternativeThatOnlyTheyLeaveOutIsFoundAndChecked) {
  for (const bool time : {false, true}) {
    for (uint64_t seed = 1; seed <= 20; ++seed) {
      JudgeBench bench;
      bench.options.seed = seed;
      bench.options.time = time;
      bench.device.kernels["rare"] = {.run = Nothing};
      bench.plan_more = When("rows < 70 || rows >= 95 || cols % 8 != 3", Launch("rare"));
      const Evaluation evaluation = bench.Run();
      EXPECT_EQ(evaluation.verdict, Verdict::kWrongOutput) << "seed " << seed;
      ASSERT_TRUE(evaluation.mismatch.has_value());
      EXPECT_GE(evaluation.mismatch->dims.at("rows"), 70);
      EXPECT_EQ(evaluation.mismatch->dims.at("cols") % 8, 3);
    }
  }
}

// Timed launches alone would run an alternative with the task's ordinary values at one shape.
TEST(BeyondTheHiddenRanges, AnAlternativeThatATimedShapeTakesIsTriedAtOthersToo) {
  JudgeBench bench;
  bench.device.kernels["timed"] = {.run = [](FakeLaunch& launch) {
    ScaleRows(launch, 0, launch.Extent("x", 0) == 96 ? 96 : 1);
  }};
  bench.plan_more = When("rows <= 90 || cols % 4 != 0", Launch("timed"));
  EXPECT_EQ(bench.Run().verdict, Verdict::kWrongOutput);
}

// The alternative's condition admits two columns more than its kernel serves, which few of the admitted shapes have.
TEST(BeyondTheHiddenRanges, AConditionThatPromisesTooMuchIsMet) {
  int caught = 0;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    JudgeBench bench;
    bench.options.seed = seed;
    bench.options.time = false;
    bench.device.kernels["narrow"] = {.run = [](FakeLaunch& launch) {
      if (launch.Extent("x", 1) <= 42) Scale(launch);
    }};
    bench.plan_more = When("cols > 44", Launch("narrow"));
    caught += bench.Run().verdict == Verdict::kWrongOutput;
  }
  EXPECT_GE(caught, 18);
}

TEST(BeyondTheHiddenRanges, OneThatNoShapeTakesIsToldAsSuch) {
  JudgeBench bench;
  bench.options.time = false;
  bench.plan_more = When("rows < 1000000", Launch("candidate", "sm_count < 1 && cols > 50") + Launch("candidate"));
  const Evaluation evaluation = bench.Run();
  EXPECT_EQ(evaluation.verdict, Verdict::kOk) << evaluation.detail;
  const auto reports_untested = [&](const std::string& start, const std::string& end) {
    return std::any_of(evaluation.findings.begin(), evaluation.findings.end(), [&](const Finding& f) {
      return f.kind == "untested_alternative" && f.message.find(start) == 0 && f.message.find(end) != std::string::npos;
    });
  };
  EXPECT_TRUE(reports_untested("no shape takes", "sm_count < 1"));
  EXPECT_TRUE(reports_untested("no checked case takes", "without `when`"));
}

// On a simulated device such shapes are fewer and smaller, but an alternative that no other case takes is still tried.
TEST(BeyondTheHiddenRanges, ASimulatedDeviceTriesAlternativesToo) {
  JudgeBench bench;
  bench.device.facts.modelled = true;
  bench.device.kernels["rare"] = {.run = Nothing};
  bench.plan_more = When("rows < 70 || rows == 96", Launch("rare"));
  const Evaluation evaluation = bench.Run();
  EXPECT_EQ(evaluation.verdict, Verdict::kWrongOutput) << evaluation.detail;
  ASSERT_TRUE(evaluation.mismatch.has_value());
  EXPECT_GE(evaluation.mismatch->dims.at("rows"), 70);
}

// The fake device has four multiprocessors, so 32 rows are many.
TEST(BeyondTheHiddenRanges, ShapesOfExtremeProportionsAreTried) {
  for (const bool modelled : {false, true}) {
    JudgeBench bench;
    bench.options.time = false;
    bench.device.facts.modelled = modelled;
    int64_t most_rows = 0, widest_of_few = 0;
    bench.candidate().run = [&](FakeLaunch& launch) {
      const int64_t rows = launch.Extent("x", 0), cols = launch.Extent("x", 1);
      most_rows = std::max(most_rows, rows);
      if (rows <= 3) widest_of_few = std::max(widest_of_few, cols);
      Scale(launch);
    };
    EXPECT_EQ(bench.Run().verdict, Verdict::kOk);
    EXPECT_GT(most_rows, 60);  // more rows than the hidden ranges allow
    EXPECT_GT(widest_of_few, 5);
  }
}

TEST(Fallback, TheSeedServesWhatThePlanLeavesOut) {
  JudgeBench bench;
  bench.has_fallback = true;
  bench.plan_more = When("cols % 2 == 0");
  const Evaluation evaluation = bench.Run();
  ASSERT_EQ(evaluation.verdict, Verdict::kOk) << evaluation.detail;
  int by_the_seed = 0;
  for (const CaseResult& result : evaluation.cases) {
    EXPECT_EQ(result.fallback, result.dims.at("cols") % 2 != 0);
    by_the_seed += result.fallback;
  }
  EXPECT_GE(by_the_seed, 2);  // the cases of 5 and of 33 columns
  EXPECT_FALSE(Timed(evaluation)->fallback);
}

TEST(Fallback, ATimedCaseLeftOutIsTheSeedAgainstTheIncumbent) {
  JudgeBench bench;
  bench.has_fallback = true;
  bench.options.warm = false;
  bench.device.kernels["candidate"].microseconds = Costs(10);
  bench.plan_more = When("rows != 96");
  const Evaluation evaluation = bench.Run();
  ASSERT_EQ(evaluation.verdict, Verdict::kOk) << evaluation.detail;
  EXPECT_TRUE(Timed(evaluation)->fallback);
  EXPECT_NE(Timed(evaluation)->timing.decision, "faster");
}

// The best version so far may leave shapes to the seed. The next candidate is then timed against the seed there.
TEST(Fallback, AnIncumbentThatLeavesTheShapeOutIsTimedAsTheSeed) {
  for (const bool modelled : {false, true}) {
    JudgeBench bench;
    bench.has_fallback = true;
    bench.options.warm = false;
    bench.device.facts.modelled = modelled;
    bench.device.kernels["candidate"].microseconds = Costs(10);
    bench.device.kernels["seed"].microseconds = Costs(30);
    bench.device.kernels["incumbent"].microseconds = Costs(1);  // would be fastest, but does not serve the timed shape
    bench.incumbent_more = When("rows != 96");
    const Evaluation evaluation = bench.Run();
    ASSERT_EQ(evaluation.verdict, Verdict::kOk) << evaluation.detail;
    EXPECT_EQ(Timed(evaluation)->timing.decision, "faster");
    ASSERT_TRUE(Timed(evaluation)->speedup.has_value());
    EXPECT_NEAR(Timed(evaluation)->speedup->median, 3, 0.3);
  }
}

TEST(Fallback, AnIncumbentThatNothingServesIsTheTasksFault) {
  JudgeBench bench;
  bench.incumbent_more = When("rows != 96");
  const Evaluation evaluation = bench.Run();
  EXPECT_EQ(evaluation.verdict, Verdict::kInvalidTask);
  EXPECT_THAT(evaluation.detail, HasSubstr("the incumbent"));
}

TEST(Fallback, WithoutASeedTheShapeIsALaunchError) {
  JudgeBench bench;
  bench.plan_more = When("cols % 2 == 0");
  const Evaluation evaluation = bench.Run();
  EXPECT_EQ(evaluation.verdict, Verdict::kLaunchError);
  EXPECT_THAT(evaluation.detail, HasSubstr("leave `when` out of the last one"));
}

TEST(Fallback, ACandidateThatNeverRunsIsRefused) {
  JudgeBench bench;
  bench.has_fallback = true;
  bench.plan_more = When("rows > 1000000");
  const Evaluation evaluation = bench.Run();
  EXPECT_EQ(evaluation.verdict, Verdict::kLaunchError);
  EXPECT_THAT(evaluation.detail, HasSubstr("never ran"));
}

TEST(Fallback, WithoutTimingAPlanForTimedShapesOnlyIsTriedBesideThem) {
  JudgeBench bench;
  bench.has_fallback = true;
  bench.plan_more = When("rows == 96");
  EXPECT_EQ(bench.Run().verdict, Verdict::kOk);
  bench.options.time = false;
  EXPECT_EQ(bench.Run().verdict, Verdict::kOk);  // the judge finds a shape of 96 rows that reaches it
  bench.device.facts.modelled = true;
  EXPECT_EQ(bench.Run().verdict, Verdict::kOk);
}

TEST(Fallback, AWrongSeedIsTheTasksFault) {
  JudgeBench bench;
  bench.has_fallback = true;
  bench.device.kernels["seed"] = {.run = Nothing};
  bench.plan_more = When("cols % 2 == 0");
  const Evaluation evaluation = bench.Run();
  EXPECT_EQ(evaluation.verdict, Verdict::kInvalidTask);
  EXPECT_THAT(evaluation.detail, HasSubstr("the task's seed, which serves this case"));
}

// A modelled device does not know how many blocks fit on a processor. Its checks get several numbers, a time gets its estimate.
TEST(Occupancy, IsDrawnWhereAModelledDeviceOnlyChecks) {
  for (const bool modelled : {false, true}) {
    JudgeBench bench;
    bench.device.facts.modelled = modelled;
    bench.args = R"("x", "w", "out", "occupancy():i32")";
    bench.WithJudgement([&](Judgement& judgement) {
      const auto occupancy = [&](int64_t rows, bool timed) {
        const auto served = Serve(judgement, {{"rows", rows}, {"cols", 8}}, {}, timed);
        HONE_CHECK(served.ok() && served->has_value(), "the case is not served");
        int32_t value = 0;
        std::memcpy(&value, (*served)->plan.steps[0].args.back().bytes.data(), sizeof value);
        return value;
      };
      constexpr int32_t kEstimate = 2048;  // the fake device's, for blocks of one thread
      std::set<int32_t> drawn;
      for (int64_t rows = 1; rows <= 40; ++rows) {
        EXPECT_EQ(occupancy(rows, /*timed=*/true), kEstimate);
        const int32_t checked = occupancy(rows, /*timed=*/false);
        EXPECT_EQ(checked, occupancy(rows, /*timed=*/false)) << "one case has one number";
        EXPECT_GE(checked, 1);
        EXPECT_LE(checked, kEstimate);
        drawn.insert(checked);
      }
      if (modelled) EXPECT_GT(drawn.size(), 30u);
      else EXPECT_EQ(drawn, std::set<int32_t>{kEstimate});
    });
  }
}

}  // namespace
}  // namespace hone
