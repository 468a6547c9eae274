// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests that every shipped task passes the linter: its oracle reproduces the hand-worked cases, its seed is right on
// every check case and input set, and its tolerance separates honest kernels from imprecise ones.
//
// Runs on the simulated GPU; HONE_TEST_DEVICE=cuda:0 lints on a GPU instead. Most of the time of a task goes into ten
// compilations of its oracle in other precisions, and into running its seed on all kinds of values. Their result only
// changes when the task or the linter changes. So linted_whole.txt has the hashes of the tasks that passed all of it, comments aside, and
// these tasks are linted without the compilations, without hidden shapes, and on each check case's own values alone, except
// for the three that test the linter itself. HONE_TEST_WHOLE=1 lints all tasks whole (`make
// test-whole`), and HONE_TEST_LINTED=FILE adds the line of each task that passed to FILE. `hone tasks check` always
// lints whole.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/tasks/linted_tasks.h"
#include "tuner/evaluate/lint/lint_command.h"

namespace hone {
namespace {

std::vector<std::string> TaskNames() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(HONE_SOURCE_DIR "/tasks")) {
    if (entry.is_directory()) names.push_back(entry.path().filename());
  }
  std::sort(names.begin(), names.end());
  return names;
}

class LintShippedTask : public testing::TestWithParam<std::string> {};

TEST_P(LintShippedTask, FindsNothingWrong) {
  Result<Task> task = LoadTask(HONE_SOURCE_DIR "/tasks/" + GetParam());
  ASSERT_TRUE(task.ok()) << task.status().message();
  EvaluatorOptions options;
  const char* device = std::getenv("HONE_TEST_DEVICE");
  options.device = device == nullptr ? "sim" : device;
  options.launch_limit_seconds = options.compile_limit_seconds = 200;  // on the simulated GPU a launch takes the host's
                                                                       // processors that long
  options.executable = HONE_BINARY_DIR "/bin/hone";
  options.cache_directory = HONE_BINARY_DIR "/tests/cache";
  const LintScope whole, part{.precision = false, .other_values = false, .hidden_draws = 0};
  const bool in_whole = IsTestedWhole(GetParam());
  Result<LintOutcome> outcome = LintOnDevice(*task, options, in_whole ? whole : part);
  ASSERT_TRUE(outcome.ok()) << outcome.status().message();
  EXPECT_TRUE(outcome->valid) << outcome->text;
  const char* linted = std::getenv("HONE_TEST_LINTED");
  if (in_whole && outcome->valid && linted != nullptr)
    std::ofstream(linted, std::ios::app) << LintedLineOf(GetParam()) << std::endl;
}

INSTANTIATE_TEST_SUITE_P(All, LintShippedTask, testing::ValuesIn(TaskNames()),
                         [](const auto& parameter) { return parameter.param; });

}  // namespace
}  // namespace hone
