// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests a task whose outputs have more than one right value (properties/): every right value passes, each planted error
// fails, and the linter finds properties that ask for too little.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuple>

#include "hone/tuner/evaluator.h"
#include "tuner/evaluate/lint/lint_command.h"

namespace hone {
namespace {

using testing::HasSubstr;

EvaluatorOptions OnTheSimulator() {
  EvaluatorOptions options;
  options.device = "sim";
  options.launch_limit_seconds = options.compile_limit_seconds = 200;
  options.executable = HONE_BINARY_DIR "/bin/hone";
  options.cache_directory = HONE_BINARY_DIR "/tests/cache";
  return options;
}

Task TopK() { return LoadTask(HONE_SOURCE_DIR "/tests/tasks/properties/top_k_any_order").value(); }

std::string Replaced(std::string text, const std::string& what, const std::string& by) {
  const size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return at == std::string::npos ? text : text.replace(at, what.size(), by);
}

Evaluation Judged(const Task& task, const std::string& source, bool time = false) {
  Result<std::unique_ptr<Evaluator>> evaluator = MakeEvaluator(OnTheSimulator());
  EXPECT_TRUE(evaluator.ok()) << evaluator.status().message();
  EvaluationRequest request;
  request.source = source;
  request.seed = 5;
  request.time = time;
  Result<Evaluation> evaluation = (*evaluator)->Evaluate(task, request);
  EXPECT_TRUE(evaluation.ok()) << evaluation.status().message();
  return evaluation.ok() ? *evaluation : Evaluation{};
}

TEST(Properties, OtherPlacesOfEqualElementsThanTheOraclesAreRight) {
  const Task task = TopK();
  const Evaluation evaluation = Judged(task, task.seed_source, /*time=*/true);
  EXPECT_EQ(evaluation.verdict, Verdict::kOk) << evaluation.detail;
}

TEST(Properties, APlaceNamedTwiceAndAPlaceOfAnotherElementAreWrong) {
  const Task task = TopK();
  // The values are right, but of equal elements the first is named each time.
  const Evaluation twice = Judged(
      task,
      Replaced(
          task.seed_source, "static_cast<int>(best);",
          "0;\n    while (!(__half2float(mine[ids[row * k + j]]) == __half2float(mine[best]))) ++ids[row * k + j];"));
  EXPECT_EQ(twice.verdict, Verdict::kWrongOutput);
  EXPECT_THAT(twice.detail, HasSubstr("distinct (no place is named twice) does not hold"));
  ASSERT_TRUE(twice.mismatch.has_value());
  EXPECT_EQ(twice.mismatch->tensor, "distinct");
  EXPECT_EQ(twice.mismatch->expected, 0);
  EXPECT_GE(twice.mismatch->actual, 1);

  const Evaluation elsewhere = Judged(
      task, Replaced(task.seed_source, "static_cast<int>(best);", "static_cast<int>(best == d - 1 ? 0 : best);"));
  EXPECT_EQ(elsewhere.verdict, Verdict::kWrongOutput);
  EXPECT_THAT(elsewhere.detail, HasSubstr("membership (x[ids[j]] is the j-th largest) does not hold"));

  const Evaluation value = Judged(
      task, Replaced(task.seed_source, "= mine[best];", "= __float2half(__half2float(mine[best]) * 1.001f);"));
  EXPECT_EQ(value.verdict, Verdict::kWrongOutput);
  EXPECT_THAT(value.detail, HasSubstr("values differs from the double-precision oracle"));
}

TEST(Properties, OutputsThatNobodyWroteAreTheCandidatesFault) {
  const Task task = TopK();
  const Evaluation evaluation = Judged(task, Replaced(task.seed_source, "ids[row * k + j] = static_cast<int>(best);", ""));
  EXPECT_EQ(evaluation.verdict, Verdict::kWrongOutput) << evaluation.detail;
}

// Two outputs whose sizes depend on the data, each filled in any order, and with zeros behind.
TEST(Properties, SizesOfSeveralOutputsMayDependOnTheData) {
  const Task task = LoadTask(HONE_SOURCE_DIR "/tests/tasks/properties/split_by_sign").value();
  const Result<LintOutcome> sound = LintOnDevice(task, OnTheSimulator());
  ASSERT_TRUE(sound.ok()) << sound.status().message();
  EXPECT_TRUE(sound->valid) << sound->text;
  const Evaluation right = Judged(task, task.seed_source, true);
  EXPECT_EQ(right.verdict, Verdict::kOk) << right.detail;
  const std::tuple<const char*, const char*, const char*> wrong[] = {
      {"= others;", "= others - (others > 3);", "counts differs from the double-precision oracle"},
      {"i = others; i < d", "i = others + 1; i < d", "neg_kept (the first counts[1] elements of neg are those of x, and the rest is 0) does not hold"},
      {"found++] = one;", "found] = found > 1 ? nonneg[row * d] : one;\n      ++found;", "nonneg_kept (the first counts[0] elements of nonneg"},
  };
  for (const auto& [what, by, detail] : wrong) {
    const Evaluation evaluation = Judged(task, Replaced(task.seed_source, what, by));
    EXPECT_EQ(evaluation.verdict, Verdict::kWrongOutput) << by;
    EXPECT_THAT(evaluation.detail, HasSubstr(detail));
  }
}

TEST(Properties, TheLinterHoldsThemAgainstOutputsThatMustPassAndThatMustFail) {
  const Task task = TopK();
  Result<LintOutcome> sound = LintOnDevice(task, OnTheSimulator());
  ASSERT_TRUE(sound.ok()) << sound.status().message();
  EXPECT_TRUE(sound->valid) << sound->text;

  Task forgetful = task;
  forgetful.oracle_source = Replaced(task.oracle_source, "= repeated;", "= 0.0;");
  EXPECT_THAT(LintOnDevice(forgetful, OnTheSimulator()).value().text, HasSubstr("must fail, and every property holds"));
  Task strict = task;
  strict.oracle_source = Replaced(task.oracle_source, "&& __half2float(mine[named]) == value ?", "&& named == best ?");
  EXPECT_THAT(LintOnDevice(strict, OnTheSimulator()).value().text,
              HasSubstr("must hold, and does not: membership[0] is 1, allowed 0"));
}

}  // namespace
}  // namespace hone
