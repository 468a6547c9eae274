// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Nsight Compute from the outside: how `ncu` is asked, and what its CSV says. Text in, values out.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/status.h"

namespace hone {

// `ncu` and its arguments, before the program that it watches: `metrics` of the kernels between the program's
// cuProfilerStart and cuProfilerStop, caches emptied before each, clocks left alone, CSV to `log_file`.
std::vector<std::string> NcuCommand(const std::string& ncu, const std::vector<std::string>& metrics, const std::string& log_file);

// Metrics by name for each profiled kernel, in the order of their launches. Numbers come with or without separators
// between thousands. What has no number ("n/a") is left out.
// kUnavailable, one sentence with the remedy, when the text says that counters may not be read; kInvalidArgument when
// it holds no table.
Result<std::vector<std::map<std::string, double>>> ParseNcuCsv(std::string_view text);

// Metrics that `text` (ncu's log or its error output) says it does not know.
std::vector<std::string> UnknownMetrics(std::string_view text);

}  // namespace hone
