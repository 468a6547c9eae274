// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Lists the strategies' own settings: name, default, range, meaning, and where the default was published. One table
// serves `--set`, the config file, `--help` and docs/strategies.md.
//
// Sources: CuTeGen, arXiv 2604.01489, and its released configuration; Astra, arXiv 2509.07506, and its released agents;
// STARK, arXiv 2510.16996. The table names the part that gives each value, or says that the paper leaves it open.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hone/tuner/strategy.h"

namespace hone {

struct Setting {
  std::string_view name;  // "tree.epsilon"
  double value;           // default
  double low, high;       // allowed range, both included
  bool whole;             // an integer; with the range 0 to 1, a yes or no
  std::string_view meaning;
  std::string_view source;
};
const std::vector<Setting>& AllSettings();

// Returns the run's value, or the default. The name must be in the table.
double SettingOf(const RunOptions& options, std::string_view name);
int64_t WholeSettingOf(const RunOptions& options, std::string_view name);

// Checks name and range and sets the value in `options`. kInvalidArgument with a suggestion.
Status PutSetting(RunOptions& options, std::string_view name, double value);
// Sets a value from text: "tree.epsilon=0.3".
Status PutSettingText(RunOptions& options, std::string_view text);

}  // namespace hone
