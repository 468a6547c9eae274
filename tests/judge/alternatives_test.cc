// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Plans with alternatives: every one that can be reached is checked, what none serves the task's seed serves, and the
// evaluation says so.
#include <gmock/gmock.h>

#include "tests/judge/judge_fixture.h"

namespace hone {
namespace {

using testing::HasSubstr;

// A plan whose `candidate` runs under `when`, followed by `rest`.
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
  // One width in forty, and two hidden cases a judgement: without aiming, most judgements would never see it.
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
  JudgeBench bench;
  bench.options.time = false;
  EXPECT_EQ(bench.Run().cases.size(), 5u);  // three check cases, two hidden ones
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
  EXPECT_GE(by_the_seed, 2);  // 5 and 33 columns
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

// The best version so far may leave shapes to the seed: what comes next is timed against it all the same.
TEST(Fallback, AnIncumbentThatLeavesTheShapeOutIsTimedAsTheSeed) {
  for (const bool modelled : {false, true}) {
    JudgeBench bench;
    bench.has_fallback = true;
    bench.options.warm = false;
    bench.device.facts.modelled = modelled;
    bench.device.kernels["candidate"].microseconds = Costs(10);
    bench.device.kernels["seed"].microseconds = Costs(30);
    bench.device.kernels["incumbent"].microseconds = Costs(1);  // would win, but does not serve the timed shape
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

TEST(Fallback, WithoutTimingAPlanForTimedShapesOnlyIsNotJudged) {
  JudgeBench bench;
  bench.has_fallback = true;
  bench.plan_more = When("rows == 96");
  EXPECT_EQ(bench.Run().verdict, Verdict::kOk);
  bench.options.time = false;
  const Evaluation evaluation = bench.Run();
  EXPECT_EQ(evaluation.verdict, Verdict::kUnsupported);
  EXPECT_THAT(evaluation.detail, HasSubstr("judge it with its timed cases"));
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

}  // namespace
}  // namespace hone
