// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tasks that `hone new` makes pass `hone tasks check` on the simulated GPU: the seeds run, and agree with the oracles
// that were derived from them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "tuner/evaluate/lint/lint_command.h"
#include "tuner/interop/new_task.h"

namespace hone {
namespace {

struct Sample {
  const char* name;
  const char* template_args;
  Dims sizes;  // of the timed case; empty: as `hone new` guesses
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
  evaluator.launch_limit_seconds = evaluator.compile_limit_seconds = 200;  // seconds; the host's processors run it, and may have much else to do
  const TemporaryDirectory cache = MakeTemporaryDirectory().value();
  evaluator.cache_directory = cache.path();
  evaluator.environment = {"PATH=/usr/local/bin:/usr/bin:/bin"};
  // As `hone new` does before it calls a task ready. The first four are tried in other precisions too.
  const bool all = GetParam().sizes.empty();
  const Result<LintOutcome> outcome = LintOnDevice(task, evaluator, {.precision = all, .hidden_draws = all ? 2 : 1});
  ASSERT_TRUE(outcome.ok()) << outcome.status().message();
  EXPECT_TRUE(outcome->valid) << outcome->text;
}

INSTANTIATE_TEST_SUITE_P(
    StandAloneKernels, NewTaskChecks,
    ::testing::Values(
        Sample{"rmsnorm", "", {}}, Sample{"silu_and_mul", "__half", {}}, Sample{"transpose", "", {}},
        Sample{"row_softmax", "", {}},
        // Integers, atomics, memory that is cleared, indices, one number.
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
