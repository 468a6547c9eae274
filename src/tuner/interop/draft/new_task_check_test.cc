// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests that tasks made by `hone new` pass `hone tasks check` on the simulated GPU: the seeds run, and agree with the
// oracles derived from them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files/file.h"
#include "tuner/evaluate/lint/lint_command.h"
#include "tuner/interop/draft/new_task.h"

namespace hone {
namespace {

// A kernel of testdata/, with options of `hone new`.
struct Sample {
  const char* name;
  const char* template_args;
  Dims sizes;  // sizes of the timed case; empty: as guessed by `hone new`
};

class NewTaskChecks : public ::testing::TestWithParam<Sample> {};

TEST_P(NewTaskChecks, Passes) {
  NewTaskOptions options;
  options.name = GetParam().name;
  options.file = options.name + ".cu";
  options.template_args = GetParam().template_args;
  if (!GetParam().sizes.empty()) options.time_cases = {GetParam().sizes};
  const std::string source =
      ReadFile(std::string(HONE_SOURCE_DIR) + "/src/tuner/interop/testdata/" + options.file).value();
  const TaskDraft draft = DraftTask(source, options).value();
  Task task = ParseTask(draft.task_toml, "task.toml").value();
  task.seed_source = draft.seed;
  task.oracle_source = draft.oracle;
  EvaluatorOptions evaluator;
  evaluator.device = "sim";
  // The host's processors run the kernels, and may have much else to do.
  evaluator.launch_limit_seconds = evaluator.compile_limit_seconds = 200;
  evaluator.cache_directory = HONE_BINARY_DIR "/tests/cache";
  evaluator.environment = {"PATH=/usr/local/bin:/usr/bin:/bin"};
  // `hone new` makes the same check before it calls a task ready. The first four samples, which name no sizes, are also
  // checked in other precisions.
  const bool checks_all_sizes = GetParam().sizes.empty();
  const Result<LintOutcome> outcome =
      LintOnDevice(task, evaluator, {.precision = checks_all_sizes, .hidden_draws = checks_all_sizes ? 2 : 1});
  ASSERT_TRUE(outcome.ok()) << outcome.status().message();
  EXPECT_TRUE(outcome->valid) << outcome->text;
}

// 1 + tanh(u) loses all digits near tanh(u) = -1, so that errors there must be measured absolutely: without an `abs`,
// one judgement in fifty refused the correct kernel.
TEST(NewTask, ResultsThatCancelGetAnAbs) {
  NewTaskOptions options;
  options.name = "gelu";
  options.file = "gelu.cu";
  const TaskDraft draft = DraftTask(R"(
__global__ void gelu(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 0.5f * x[i] * (1.0f + tanhf(0.7978845608f * (x[i] + 0.044715f * x[i] * x[i] * x[i])));
}
void launch(const float* x, float* y, int n) { gelu<<<(n + 255) / 256, 256>>>(x, y, n); }
)",
                                    options)
                              .value();
  Task task = ParseTask(draft.task_toml, "task.toml").value();
  task.seed_source = draft.seed;
  task.oracle_source = draft.oracle;
  EvaluatorOptions evaluator;
  evaluator.device = "sim";
  evaluator.launch_limit_seconds = evaluator.compile_limit_seconds = 200;
  evaluator.cache_directory = HONE_BINARY_DIR "/tests/cache";
  evaluator.environment = {"PATH=/usr/local/bin:/usr/bin:/bin"};
  const LintOutcome outcome = LintOnDevice(task, evaluator, {.precision = false, .hidden_draws = 1}).value();
  ASSERT_EQ(outcome.cancelling.size(), 1u) << outcome.text;
  EXPECT_EQ(outcome.cancelling[0].output, "y");
  EXPECT_EQ(outcome.cancelling[0].fewest, 1);
  // tanh is off by some 1e-7 of 1, and |x| / 2 is about 2.5 where it matters.
  EXPECT_GT(outcome.cancelling[0].error, 2e-8);
  EXPECT_LT(outcome.cancelling[0].proposed_abs, 4e-6);
  EXPECT_THAT(outcome.text, testing::HasSubstr("under [tolerance.y]"));
  task.tolerance.at("y").absolute = outcome.cancelling[0].proposed_abs;
  EXPECT_THAT(LintOnDevice(task, evaluator, {.precision = false, .hidden_draws = 1})->cancelling, testing::IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(
    StandAloneKernels, NewTaskChecks,
    ::testing::Values(
        Sample{"rmsnorm", "", {}}, Sample{"silu_and_mul", "__half", {}}, Sample{"transpose", "", {}},
        Sample{"row_softmax", "", {}},
        // These kernels have integers, atomics, memory that is cleared, indices, or one number as their result.
        Sample{"inclusive_scan", "", {{"rows", 64}, {"n", 512}}},
        Sample{"histogram", "", {{"n", 65536}, {"num_bins", 64}}},
        Sample{"topk_gating", "", {{"tokens", 512}, {"num_experts", 64}, {"k", 4}}},
        Sample{"conv1d", "", {{"batch", 4}, {"in_channels", 16}, {"out_channels", 16}, {"length", 256}, {"taps", 5}}},
        Sample{"quantize_rows", "", {{"rows", 64}, {"cols", 512}}},
        Sample{"kv_cache_write", "", {{"tokens", 64}, {"stride", 128}, {"slots", 512}}},
        Sample{"cross_entropy", "", {{"batch", 256}, {"classes", 1000}}},
        Sample{"embedding_gather", "", {{"tokens", 256}, {"width", 128}, {"vocabulary", 1000}}}),
    [](const auto& sample) { return sample.param.name; });

}  // namespace
}  // namespace hone
