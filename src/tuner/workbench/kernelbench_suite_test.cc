// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/workbench/kernelbench_suite.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "base/files/file.h"

namespace hone {
namespace {

using testing::HasSubstr;

class KernelBenchSuite : public testing::Test {
 protected:
  void SetUp() override {
    Result<TemporaryDirectory> folder_or_error = MakeTemporaryDirectory("", "hone-suite-");
    ASSERT_TRUE(folder_or_error.ok());
    folder_ = *std::move(folder_or_error);
  }
  std::string Path(const std::string& name) const { return folder_.path() + "/" + name; }
  void Write(const std::string& name) const { ASSERT_TRUE(WriteFileAtomically(Path(name), "text\n").ok()); }

  TemporaryDirectory folder_;
};

SuiteResult Judged(int level, const char* verdict, double speedup = 0) {
  SuiteResult result;
  result.submission.level = level;
  result.verdict = verdict;
  if (speedup > 0) result.over_eager = Interval{speedup, speedup * 0.9, speedup * 1.1};
  return result;
}

TEST_F(KernelBenchSuite, FindsTheProblemOfEachSubmission) {
  for (const char* name : {"kb/KernelBench/level1/1_Square.py", "kb/KernelBench/level1/19_ReLU.py", "kb/KernelBench/level2/1_Conv.py", "kb/own.py",
                           "subs/level_1_problem_19_sample_1_kernel.py", "subs/level_1_problem_19_sample_0_kernel.py",
                           "subs/level_2_problem_1_sample_0_kernel.py", "subs/level_1_problem_9_sample_0_kernel.py", "subs/own.py",
                           "subs/notes.py"}) {
    Write(name);
  }
  const Result<std::vector<SuiteSubmission>> submissions = FindSubmissions(Path("kb"), Path("subs"));
  ASSERT_TRUE(submissions.ok()) << submissions.status().message();
  ASSERT_EQ(submissions->size(), 5u);  // without notes.py, because there is no problem of that name
  EXPECT_EQ((*submissions)[0].task, "own");
  EXPECT_EQ((*submissions)[1].problem_file, "") << "19 is not 9";
  EXPECT_THAT((*submissions)[2].problem_file, HasSubstr("level1/19_ReLU.py"));
  EXPECT_EQ((*submissions)[2].sample, 0);
  EXPECT_EQ((*submissions)[3].task, "level1_19");
  EXPECT_THAT((*submissions)[4].problem_file, HasSubstr("level2/1_Conv.py"));

  EXPECT_THAT(FindSubmissions(Path("kb"), Path("none")).status().message(), HasSubstr("is no folder"));
  EXPECT_THAT(FindSubmissions(Path("kb"), Path("kb/KernelBench/level1")).status().message(), HasSubstr("level_1_problem_19_sample_0_kernel.py"));
}

TEST_F(KernelBenchSuite, SharesAreOfAllSubmissions) {
  const std::vector<SuiteResult> results = {Judged(1, "ok", 2.0), Judged(1, "ok", 0.5), Judged(1, "wrong_output", 9), Judged(2, "ok", 1.5),
                                            Judged(2, "ok")};
  const std::vector<SuiteSummary> summaries = SummarizeSuite(results, /*timed=*/true, /*compiled=*/false);
  ASSERT_EQ(summaries.size(), 3u);
  const SuiteSummary& summary_of_all = summaries[2];
  EXPECT_EQ(summary_of_all.level, -1);
  EXPECT_EQ(summary_of_all.ok, 4);
  EXPECT_DOUBLE_EQ(summary_of_all.fast_eager.at(0), 0.8);
  EXPECT_DOUBLE_EQ(summary_of_all.fast_eager.at(0.8), 0.4);
  EXPECT_DOUBLE_EQ(summary_of_all.fast_eager.at(1), 0.4);
  EXPECT_DOUBLE_EQ(summary_of_all.fast_eager.at(1.5), 0.2) << "1.5 is not faster than 1.5";
  EXPECT_DOUBLE_EQ(summary_of_all.fast_eager.at(2), 0) << "a wrong one is not fast";
  EXPECT_NEAR(summary_of_all.geomean_eager.value(), std::cbrt(2.0 * 0.5 * 1.5), 1e-12);
  EXPECT_DOUBLE_EQ(summaries[0].geomean_eager.value(), 1.0);
  EXPECT_TRUE(summary_of_all.fast_compiled.empty());
  // Without a GPU there are no speedups, only the success rate.
  EXPECT_EQ(SummarizeSuite(results, /*timed=*/false, /*compiled=*/false)[2].fast_eager.size(), 1u);
}

TEST_F(KernelBenchSuite, ProblemsWithOneRightAnswerCountAsRightAndStayOutOfMeans) {
  std::vector<SuiteResult> results = {Judged(2, "ok", 2.0), Judged(2, "ok", 4.0), Judged(2, "ok", 3.0), Judged(2, "ok", 1000.0)};
  Evaluation evaluation;
  evaluation.verdict = Verdict::kOk;
  evaluation.findings = {{.kind = "constant_output", .message = "out is 0 everywhere", .location = ""}};
  results[3].label = ResultOf({}, evaluation).label;
  EXPECT_EQ(results[3].label, "constant_output");
  const SuiteSummary summary = SummarizeSuite(results, /*timed=*/true, /*compiled=*/false)[0];
  EXPECT_EQ(summary.ok, 4);
  EXPECT_EQ(summary.labelled, 1);
  EXPECT_NEAR(summary.geomean_eager.value(), std::cbrt(2.0 * 4.0 * 3.0), 1e-12);
  EXPECT_DOUBLE_EQ(summary.median_eager.value(), 3.0);
  EXPECT_DOUBLE_EQ(summary.fast_eager.at(2), 0.75) << "the share that is faster is of all";
}

TEST_F(KernelBenchSuite, WhatIsKeptIsOfTheSameTexts) {
  SuiteResult result = Judged(1, "ok", 2.0);
  result.submission.name = "level_1_problem_19_sample_0_kernel";
  result.key = "abc";
  result.detail = "\"quoted\"";
  result.time_us = 12.5;
  result.label = "constant_output";
  const std::string path = Path("result.json");
  EXPECT_EQ(LoadSuiteResult(path, result.submission, "abc").status().code(), StatusCode::kNotFound);
  ASSERT_TRUE(WriteFileAtomically(path, SuiteResultToJson(result)).ok());
  const Result<SuiteResult> stored_result = LoadSuiteResult(path, result.submission, "abc");
  ASSERT_TRUE(stored_result.ok()) << stored_result.status().message();
  EXPECT_EQ(stored_result->verdict, "ok");
  EXPECT_EQ(stored_result->detail, result.detail);
  EXPECT_DOUBLE_EQ(stored_result->over_eager->low, 1.8);
  EXPECT_DOUBLE_EQ(stored_result->time_us.value(), 12.5);
  EXPECT_EQ(stored_result->label, "constant_output");
  EXPECT_EQ(LoadSuiteResult(path, result.submission, "abd").status().code(), StatusCode::kNotFound);
}

TEST_F(KernelBenchSuite, FindsEveryProblemOfACheckoutOrOfAFolder) {
  for (const char* file : {"kb/KernelBench/level1/19_ReLU.py", "kb/KernelBench/level1/2_x.py", "kb/KernelBench/level2/1_y.py", "kb/KernelBench/level1/helper.py",
                           "flat/gated tanh.py"}) {
    std::filesystem::create_directories(std::filesystem::path(Path(file)).parent_path());
    ASSERT_TRUE(WriteFileAtomically(Path(file), "").ok());
  }
  const Result<std::vector<SuiteSubmission>> problems = FindProblems(Path("kb"));
  ASSERT_TRUE(problems.ok()) << problems.status().message();
  std::vector<std::string> names;
  for (const SuiteSubmission& submission : *problems) names.push_back(submission.name);
  EXPECT_EQ(names, (std::vector<std::string>{"level1_2", "level1_19", "level2_1"}));
  const Result<std::vector<SuiteSubmission>> flat = FindProblems(Path("flat"));
  ASSERT_TRUE(flat.ok()) << flat.status().message();
  ASSERT_EQ(flat->size(), 1u);
  EXPECT_EQ(flat->front().task, "gated_tanh");
  EXPECT_EQ(FindProblems(Path("none")).status().code(), StatusCode::kInvalidArgument);
}

TEST_F(KernelBenchSuite, ASearchIsToldWithWhatItTook) {
  SuiteResult result = Judged(1, "ok", 2.0);
  result.submission.name = "level1_19";
  result.run = "kernelbench.level1_19";
  result.attempts = 12;
  result.tokens = 3456;
  result.minutes = 7.5;
  result.detail = "<script>";
  const std::string path = Path("search.json");
  ASSERT_TRUE(WriteFileAtomically(path, SuiteResultToJson(result)).ok());
  const Result<SuiteResult> stored_result = LoadSuiteResult(path, result.submission, "");
  ASSERT_TRUE(stored_result.ok()) << stored_result.status().message();
  EXPECT_EQ(stored_result->run, result.run);
  EXPECT_EQ(stored_result->tokens, 3456);
  const std::vector<SuiteSummary> summaries = SummarizeSuite({result}, /*timed=*/true, /*compiled=*/false);
  EXPECT_THAT(SuiteTable({result}, summaries), testing::AllOf(HasSubstr("3456"), HasSubstr("problems"), HasSubstr("2.000x")));
  const std::string page = SuitePage("Title & more", "Conditions.", {result}, summaries);
  EXPECT_THAT(page, testing::AllOf(HasSubstr("Title &amp; more"), HasSubstr("&lt;script&gt;"), HasSubstr("<td>3456</td>")));
  // Finished modules are counted by their guarantee, lifted or hosted.
  result.run.clear();
  result.guarantee = "lifted";
  EXPECT_THAT(SuiteTable({result}, summaries), testing::AllOf(HasSubstr("1 lifted"), testing::Not(HasSubstr("3456"))));
}

}  // namespace
}  // namespace hone
