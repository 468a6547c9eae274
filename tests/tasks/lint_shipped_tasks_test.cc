// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Every shipped task passes the linter: its oracle reproduces the cases worked out by hand, its seed is right on every
// check case and input set, its tolerance stands between honest kernels and imprecise ones.
//
// On the simulated GPU; HONE_TEST_DEVICE=cuda:0 lints on a GPU instead. Ten compilations of an oracle in other precisions
// are most of what a task costs: the tasks of serving stacks are linted without them, unless HONE_TEST_PRECISION is set,
// and `hone tasks check` always does both.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

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

bool IsLintedWhole(const std::string& task) {
  static const std::set<std::string> kServing = {
      "causal_conv1d", "embedding_bag",     "fp8_block_matmul", "histogram", "moe_gating", "paged_decode_attention",
      "prefix_sum",    "rmsnorm_quant_fp8", "rope_kv_write",    "top_k"};
  return std::getenv("HONE_TEST_PRECISION") != nullptr || !kServing.contains(task);
}

class LintShippedTask : public testing::TestWithParam<std::string> {};

TEST_P(LintShippedTask, FindsNothingWrong) {
  Result<Task> task = LoadTask(HONE_SOURCE_DIR "/tasks/" + GetParam());
  ASSERT_TRUE(task.ok()) << task.status().message();
  EvaluatorOptions options;
  const char* device = std::getenv("HONE_TEST_DEVICE");
  options.device = device == nullptr ? "sim" : device;
  options.launch_limit_seconds = options.compile_limit_seconds = 200;  // on the simulated GPU the host's processors run all
  options.executable = HONE_BINARY_DIR "/bin/hone";
  options.cache_directory = HONE_BINARY_DIR "/tests/cache";
  const LintScope whole, part{.precision = false, .hidden_draws = 1};
  Result<LintOutcome> outcome = LintOnDevice(*task, options, IsLintedWhole(GetParam()) ? whole : part);
  ASSERT_TRUE(outcome.ok()) << outcome.status().message();
  EXPECT_TRUE(outcome->valid) << outcome->text;
}

INSTANTIATE_TEST_SUITE_P(All, LintShippedTask, testing::ValuesIn(TaskNames()),
                         [](const auto& parameter) { return parameter.param; });

}  // namespace
}  // namespace hone
