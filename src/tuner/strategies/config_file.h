// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads a run's options from the TOML file of `hone optimize TASK --config FILE`. The file's top has the run's options,
// under their command-line names with '_' in place of '-'. A table named after a strategy has the strategy's settings:
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
  RunOptions options;               // options not in the file have their defaults
  std::vector<std::string> models;  // values of --model; empty: not given
  std::string prompts;              // folder of prompts; empty: not given
  bool suspend = false;             // --suspend
};

// Parses a file. kInvalidArgument names file, line, field and remedy.
Result<RunConfig> ParseRunConfig(std::string_view toml, std::string_view file);

}  // namespace hone
