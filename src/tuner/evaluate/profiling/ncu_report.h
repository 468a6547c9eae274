// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// This file writes the command line of Nsight Compute (`ncu`) and reads its CSV. Its functions are pure.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/status.h"

namespace hone {

// Returns `ncu` and its arguments, to be put before the command of the program that it watches. `ncu` collects
// `metrics` of the kernels between the program's cuProfilerStart and cuProfilerStop and writes CSV to `log_file`. It
// empties the caches before each kernel and leaves the clocks alone.
std::vector<std::string> NcuCommand(const std::string& ncu, const std::vector<std::string>& metrics, const std::string& log_file);

// Returns metrics by name for each profiled kernel, in the order of their launches. Numbers may have separators between
// thousands. A metric without a number ("n/a") is left out. Returns kUnavailable, with the remedy, when the text says
// that counters may not be read, and kInvalidArgument when it contains no table.
Result<std::vector<std::map<std::string, double>>> ParseNcuCsv(std::string_view text);

// Returns the names of metrics that ncu reports as unknown in `text`, which is its log or its error output.
std::vector<std::string> UnknownMetrics(std::string_view text);

}  // namespace hone
