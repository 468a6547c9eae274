// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// These tests judge tasks that `hone new` makes from kernels, on the simulated GPU, as a user would.
#include "tuner/workbench/prepare_task.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "base/files/file.h"

namespace hone {
namespace {

// Far in its tail, an activation is nearly zero and 1 + tanh(u) cancels, so that one judgement in twelve refused an
// honest kernel. `hone new` writes the `abs` that the linter proposes. With that, no judgement may refuse it.
TEST(PrepareTask, AnHonestActivationIsRefusedInNoJudgement) {
  const TemporaryDirectory folder = MakeTemporaryDirectory().value();
  TaskAnswers answers;
  answers.options.name = "gelu";
  answers.options.slice = "rows";
  answers.file = "gelu.cu";
  answers.shapes = {"x=rows,d", "y=rows,d"};
  const std::string source = R"cuda(
__global__ void gelu(const float* x, float* y, int rows, int d) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= rows * d) return;
  const float v = x[i];
  y[i] = 0.5f * v * (1.0f + tanhf(0.7978845608f * (v + 0.044715f * v * v * v)));
}
void launch(const float* x, float* y, int rows, int d) { gelu<<<(rows * d + 255) / 256, 256>>>(x, y, rows, d); }
)cuda";
  PreparedTask prepared = PrepareTask(answers, source, {.directory = folder.path() + "/gelu"}).value();
  EvaluatorOptions options;
  options.device = "sim";
  options.launch_limit_seconds = options.compile_limit_seconds = 200;  // seconds; the host may have much else to do
  options.cache_directory = std::string(HONE_BINARY_DIR) + "/tests/cache";
  options.environment = {"PATH=/usr/local/bin:/usr/bin:/bin"};
  options.executable = std::string(HONE_BINARY_DIR) + "/bin/hone";
  CheckPrepared(options, prepared);
  ASSERT_TRUE(prepared.ready()) << prepared.unchecked << (prepared.problems.empty() ? "" : prepared.problems[0]);
  const Task task = LoadTask(folder.path() + "/gelu").value();
  EXPECT_GT(task.tolerance.at("y").absolute, 1e-7);
  EXPECT_LT(task.tolerance.at("y").absolute, 1e-5);
  EXPECT_THAT(prepared.draft.inferred, testing::Contains(testing::HasSubstr("y: abs = ")));
  std::unique_ptr<Evaluator> evaluator = MakeEvaluator(options).value();
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    EvaluationRequest request;
    request.source = task.seed_source;
    request.seed = seed;
    request.time = false;
    const Evaluation evaluation = evaluator->Evaluate(task, request).value();
    ASSERT_EQ(evaluation.verdict, Verdict::kOk) << "seed " << seed << ": " << evaluation.detail;
  }
}

}  // namespace
}  // namespace hone
