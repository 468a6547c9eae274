// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads a run's options from a TOML file: `hone optimize TASK --config FILE`. Options of the run are at the top under
// their command-line names with '_' for '-', settings of a strategy in its table:
//   strategy = "tree"
//   attempts = 32
//   [tree]
//   epsilon = 0.3
// Options on the command line take precedence. docs/strategies.md lists everything.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hone/tuner/strategy.h"

namespace hone {

struct RunConfig {
  RunOptions options;               // defaults for options not in the file
  std::vector<std::string> models;  // as for --model; empty: not given
  std::string prompts;              // folder; empty: not given
  bool suspend = false;
};

// Parses a file. kInvalidArgument names file, line, field and remedy.
Result<RunConfig> ParseRunConfig(std::string_view toml, std::string_view file);

}  // namespace hone
