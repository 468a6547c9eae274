// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The strategies' own figures: name, default, range, meaning, and where the default was published. One table serves
// `--set`, the config file, `--help` and docs/strategies.md.
//
// Sources: CuTeGen, arXiv 2604.01489, and its released configuration; Astra, arXiv 2509.07506, and its released agents;
// STARK, arXiv 2510.16996. The table names the part of each that gives a figure; where a paper leaves one open, it says so.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hone/tuner/strategy.h"

namespace hone {

struct Setting {
  std::string_view name;  // "tree.epsilon"
  double value;           // default
  double low, high;       // allowed, both included
  bool whole;             // an integer; 0 and 1 with low 0 and high 1 is a yes or no
  std::string_view meaning;
  std::string_view source;
};
const std::vector<Setting>& AllSettings();

// The run's figure, or its default. A name that is not in the table is our own mistake.
double SettingOf(const RunOptions& options, std::string_view name);
int64_t WholeSettingOf(const RunOptions& options, std::string_view name);

// Checks name and range and puts the figure into `options`. kInvalidArgument with a suggestion.
Status PutSetting(RunOptions& options, std::string_view name, double value);
// "tree.epsilon=0.3"
Status PutSettingText(RunOptions& options, std::string_view text);

}  // namespace hone
