// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// This file writes the command line of Nsight Compute (`ncu`) and reads its CSV. It takes text and returns values.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/status.h"

namespace hone {

// Returns `ncu` and its arguments, to be put before the program that it watches: it collects `metrics` of the kernels
// between the program's cuProfilerStart and cuProfilerStop, with caches emptied before each and clocks left alone, and
// writes CSV to `log_file`.
std::vector<std::string> NcuCommand(const std::string& ncu, const std::vector<std::string>& metrics, const std::string& log_file);

// Returns metrics by name for each profiled kernel, in the order of their launches. Numbers come with or without
// separators between thousands. A metric without a number ("n/a") is left out. kUnavailable, one sentence with the
// remedy, when the text says that counters may not be read; kInvalidArgument when it holds no table.
Result<std::vector<std::map<std::string, double>>> ParseNcuCsv(std::string_view text);

// Returns the metrics that ncu does not know according to `text`, its log or its error output.
std::vector<std::string> UnknownMetrics(std::string_view text);

}  // namespace hone
