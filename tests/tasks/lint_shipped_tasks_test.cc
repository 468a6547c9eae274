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
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "base/files/file.h"
#include "base/numbers/hash.h"
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

// Returns a file's text without blank lines and lines that are only a comment, which a linter cannot judge.
std::string WithoutComments(const std::filesystem::path& file) {
  const std::string comment = file.extension() == ".toml" ? "#" : "//";
  std::istringstream text(ReadFile(file).value());
  std::string code_lines;
  for (std::string line; std::getline(text, line);) {
    const size_t begin = line.find_first_not_of(" \t");
    if (begin != std::string::npos && line.compare(begin, comment.size(), comment) != 0) code_lines += line + "\n";
  }
  return code_lines;
}

// Returns the line of linted_whole.txt for a task: its name, and a hash of the names and contents of its files.
std::string LineOf(const std::string& task) {
  const std::filesystem::path folder = std::filesystem::path(HONE_SOURCE_DIR "/tasks") / task;
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  std::string hashes;
  for (const auto& file : files)
    hashes += file.lexically_relative(folder).string() + " " + Sha256Hex(WithoutComments(file)) + "\n";
  return task + " " + Sha256Hex(hashes);
}

bool IsLintedWhole(const std::string& task) {
  // One of these is a pointwise task, one is in half precision, and one reads through indices.
  static const std::set<std::string> kAlways = {"relu", "silu_and_mul", "gather_mean"};
  if (std::getenv("HONE_TEST_WHOLE") != nullptr || kAlways.contains(task)) return true;
  const std::string known = "\n" + ReadFile(HONE_SOURCE_DIR "/tests/tasks/linted_whole.txt").value();
  return known.find("\n" + LineOf(task) + "\n") == std::string::npos;
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
  const bool in_whole = IsLintedWhole(GetParam());
  Result<LintOutcome> outcome = LintOnDevice(*task, options, in_whole ? whole : part);
  ASSERT_TRUE(outcome.ok()) << outcome.status().message();
  EXPECT_TRUE(outcome->valid) << outcome->text;
  const char* linted = std::getenv("HONE_TEST_LINTED");
  if (in_whole && outcome->valid && linted != nullptr)
    std::ofstream(linted, std::ios::app) << LineOf(GetParam()) << std::endl;
}

INSTANTIATE_TEST_SUITE_P(All, LintShippedTask, testing::ValuesIn(TaskNames()),
                         [](const auto& parameter) { return parameter.param; });

}  // namespace
}  // namespace hone
