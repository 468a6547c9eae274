// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Says which shipped tasks `make test` tests whole: those that have changed since they passed, and three more.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "base/files/file.h"
#include "base/numbers/hash.h"

namespace hone {

// Returns a file's text without blank lines and lines that are only a comment, which a linter cannot judge.
inline std::string WithoutComments(const std::filesystem::path& file) {
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
inline std::string LintedLineOf(const std::string& task) {
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

// Returns whether a task has changed since the linter passed all of it (linted_whole.txt), or is one of the three that are always
// tested whole, or HONE_TEST_WHOLE asks for all.
inline bool IsTestedWhole(const std::string& task) {
  // One of these is a pointwise task, one is in half precision, and one reads through indices.
  static const std::set<std::string> kAlways = {"relu", "silu_and_mul", "gather_mean"};
  if (std::getenv("HONE_TEST_WHOLE") != nullptr || kAlways.contains(task)) return true;
  const std::string known = "\n" + ReadFile(HONE_SOURCE_DIR "/tests/tasks/linted_whole.txt").value();
  return known.find("\n" + LintedLineOf(task) + "\n") == std::string::npos;
}

}  // namespace hone
