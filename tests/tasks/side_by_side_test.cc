// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests that the simulated GPU, judging several candidates at a time in a session each, gives each the verdict that it
// gets alone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "hone/tuner/evaluator.h"

namespace hone {
namespace {

EvaluatorOptions Options() {
  EvaluatorOptions options;
  options.device = "sim";
  options.launch_limit_seconds = options.compile_limit_seconds = 200;  // the host's processors run all launches
  options.executable = HONE_BINARY_DIR "/bin/hone";
  options.cache_directory = HONE_BINARY_DIR "/tests/cache";
  return options;
}

std::vector<double> Times(const Evaluation& evaluation) {
  std::vector<double> times;
  for (const CaseResult& c : evaluation.cases) {
    if (c.time_us) times.push_back(c.time_us->median);
  }
  return times;
}

TEST(JudgementsSideBySide, SayWhatEachSaysAlone) {
  const Result<std::unique_ptr<Evaluator>> evaluator = MakeEvaluator(Options());
  ASSERT_TRUE(evaluator.ok()) << evaluator.status().message();
  const Result<Task> task = LoadTask(HONE_SOURCE_DIR "/tasks/relu");
  ASSERT_TRUE(task.ok()) << task.status().message();
  const auto judged = [&](const std::string& source) {
    EvaluationRequest request;
    request.source = source;
    request.seed = 5;
    return (*evaluator)->Evaluate(*task, request);
  };
  const std::string right = task->seed_source;
  std::string wrong = right;
  const size_t at = wrong.find("max");
  ASSERT_NE(at, std::string::npos) << "the seed of relu has changed";
  wrong.replace(at, 3, "min");

  const Result<Evaluation> right_alone = judged(right), wrong_alone = judged(wrong);
  ASSERT_TRUE(right_alone.ok() && wrong_alone.ok());
  EXPECT_EQ(right_alone->verdict, Verdict::kOk) << right_alone->detail;
  EXPECT_EQ(wrong_alone->verdict, Verdict::kWrongOutput);
  EXPECT_THAT(Times(*right_alone), testing::Not(testing::IsEmpty()));

  std::vector<Result<Evaluation>> beside(4, Status::Internal("not judged"));
  {
    std::vector<std::jthread> threads;
    for (size_t i = 0; i < beside.size(); ++i) {
      threads.emplace_back([&, i] { beside[i] = judged(i % 2 == 0 ? right : wrong); });
    }
  }
  for (size_t i = 0; i < beside.size(); ++i) {
    ASSERT_TRUE(beside[i].ok()) << beside[i].status().message();
    const Evaluation& alone = i % 2 == 0 ? *right_alone : *wrong_alone;
    EXPECT_EQ(beside[i]->verdict, alone.verdict) << beside[i]->detail;
    EXPECT_EQ(Times(*beside[i]), Times(alone));
  }
}

}  // namespace
}  // namespace hone
