// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests kinds of tasks that tasks/ has no example of: losses of one number (losses/) and rows scattered by index
// (scatter/). Each passes the linter, its seed is right with every secret seed, and answers that cost nothing are
// wrong.
//
// Runs on the simulated GPU; HONE_TEST_DEVICE=cuda:0 runs the tasks on a GPU instead.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "hone/tuner/evaluator.h"
#include "tuner/evaluate/lint/lint_command.h"

namespace hone {
namespace {

EvaluatorOptions Options() {
  EvaluatorOptions options;
  const char* device = std::getenv("HONE_TEST_DEVICE");
  options.device = device == nullptr ? "sim" : device;
  options.launch_limit_seconds = options.compile_limit_seconds =
      200;  // on the simulated GPU the host's processors run all
  options.executable = HONE_BINARY_DIR "/bin/hone";
  options.cache_directory = HONE_BINARY_DIR "/tests/cache";
  return options;
}

Task Load(const std::string& name) {
  Result<Task> task = LoadTask(HONE_SOURCE_DIR "/tests/tasks/" + name);
  EXPECT_TRUE(task.ok()) << task.status().message();
  return task.ok() ? *task : Task{};
}

Evaluation Judged(Evaluator& evaluator, const Task& task, const std::string& source, uint64_t seed) {
  EvaluationRequest request;
  request.source = source;
  request.seed = seed;
  request.time = false;
  Result<Evaluation> evaluation = evaluator.Evaluate(task, request);
  EXPECT_TRUE(evaluation.ok()) << evaluation.status().message();
  return evaluation.ok() ? *evaluation : Evaluation{};
}

class WidenedTask : public testing::TestWithParam<std::string> {};

TEST_P(WidenedTask, PassesTheLinterWithoutAWarningAboutItsFloorOrIndices) {
  Result<LintOutcome> outcome = LintOnDevice(Load(GetParam()), Options());
  ASSERT_TRUE(outcome.ok()) << outcome.status().message();
  EXPECT_TRUE(outcome->valid) << outcome->text;
  EXPECT_THAT(outcome->text, testing::Not(testing::HasSubstr("cannot be derived")));
  EXPECT_THAT(outcome->text, testing::Not(testing::HasSubstr("repeat, and they point into")));
}

TEST_P(WidenedTask, ItsSeedIsRightUnderEverySecretSeed) {
  Result<std::unique_ptr<Evaluator>> evaluator = MakeEvaluator(Options());
  ASSERT_TRUE(evaluator.ok()) << evaluator.status().message();
  const Task task = Load(GetParam());
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    const Evaluation evaluation = Judged(**evaluator, task, task.seed_source, seed);
    EXPECT_EQ(evaluation.verdict, Verdict::kOk) << "seed " << seed << ": " << evaluation.detail;
  }
}

INSTANTIATE_TEST_SUITE_P(All, WidenedTask,
                         testing::Values("losses/mse_loss", "losses/cross_entropy_loss", "scatter/cache_write"),
                         [](const auto& parameter) { return parameter.param.substr(parameter.param.find('/') + 1); });

TEST(Losses, AConstantAndAPartOfTheRowsAreWrong) {
  Result<std::unique_ptr<Evaluator>> evaluator = MakeEvaluator(Options());
  ASSERT_TRUE(evaluator.ok()) << evaluator.status().message();
  const std::string constant = R"(/*hone
[[launch]]
kernel = "constant"
grid = 1
block = 1
args = ["loss"]
*/
extern "C" __global__ void constant(float* loss) { loss[0] = 2.25f; }
)";
  for (const char* name : {"losses/mse_loss", "losses/cross_entropy_loss"}) {
    EXPECT_EQ(Judged(**evaluator, Load(name), constant, 7).verdict, Verdict::kWrongOutput) << name;
  }
  const Task mse = Load("losses/mse_loss");
  std::string half = mse.seed_source;
  half.replace(half.find("i < n; i += 256"), 15, "2 * i < n; i += 256");
  EXPECT_EQ(Judged(**evaluator, mse, half, 7).verdict, Verdict::kWrongOutput);
}

}  // namespace
}  // namespace hone
