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
};

class NewTaskChecks : public ::testing::TestWithParam<Sample> {};

TEST_P(NewTaskChecks, Passes) {
  NewTaskOptions options;
  options.name = GetParam().name;
  options.file = options.name + ".cu";
  options.template_args = GetParam().template_args;
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
  const Result<LintOutcome> outcome = LintOnDevice(task, evaluator);
  ASSERT_TRUE(outcome.ok()) << outcome.status().message();
  EXPECT_TRUE(outcome->valid) << outcome->text;
}

INSTANTIATE_TEST_SUITE_P(StandAloneKernels, NewTaskChecks,
                         ::testing::Values(Sample{"rmsnorm", ""}, Sample{"silu_and_mul", "__half"},
                                           Sample{"transpose", ""}, Sample{"row_softmax", ""}),
                         [](const auto& sample) { return sample.param.name; });

}  // namespace
}  // namespace hone
