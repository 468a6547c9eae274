// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Lists the strategies' own settings: name, default, range, meaning, and where the default was published. `--set`, the
// config file, `--help` and docs/strategies.md use this one table.
//
// Sources: CuTeGen, arXiv 2604.01489, and its released configuration; Astra, arXiv 2509.07506, and its released agents;
// STARK, arXiv 2510.16996. The table names the part of the source that gives each value, or says that the source leaves
// it open.
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
  bool whole;             // an integer; with the range 0 to 1, a switch
  std::string_view meaning;
  std::string_view source;  // of the default
};
// Returns the table of all settings.
const std::vector<Setting>& AllSettings();

// Returns the run's value of a setting, or its default. The name must be in the table.
double SettingOf(const RunOptions& options, std::string_view name);
// Returns the value of a setting that is an integer.
int64_t WholeSettingOf(const RunOptions& options, std::string_view name);

// Sets the value in `options`, after checking name and range. kInvalidArgument suggests the nearest name, or the range.
Status PutSetting(RunOptions& options, std::string_view name, double value);
// Sets a value from text: "tree.epsilon=0.3".
Status PutSettingText(RunOptions& options, std::string_view text);

}  // namespace hone
