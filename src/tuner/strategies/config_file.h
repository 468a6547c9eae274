// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A run's options from a TOML file: `hone optimize TASK --config FILE`. Options of the run stand at the top under
// their command-line names with '_' for '-', settings of a strategy in its table:
//   strategy = "tree"
//   attempts = 32
//   [tree]
//   epsilon = 0.3
// What is also given on the command line is taken from there. docs/strategies.md lists everything.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hone/tuner/strategy.h"

namespace hone {

struct RunConfig {
  RunOptions options;               // defaults where the file is silent
  std::vector<std::string> models;  // as --model takes them; empty: not said
  std::string prompts;              // folder; empty: not said
  bool suspend = false;
};

// kInvalidArgument names file, line, field and remedy.
Result<RunConfig> ParseRunConfig(std::string_view toml, std::string_view file);

}  // namespace hone
