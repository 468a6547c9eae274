// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Finds the launch plan in a candidate's file: the comment /*hone … */ that holds TOML.
#pragma once

#include <cstddef>
#include <string_view>

#include "hone/base/status.h"

namespace hone {

// Returns the position at which the comment begins; npos when the file has none. "/*honey */" is no plan.
size_t PlanBegin(std::string_view source);

struct PlanText {
  std::string_view toml;  // the plan, a part of the source
  int line_offset = 0;    // number of lines of the file before `toml`, for messages
};
// Returns the plan. Returns kInvalidArgument, with `file` and a line, when there is no plan, when the comment is never
// closed, and when the file is larger than any candidate may be or contains a NUL byte.
Result<PlanText> FindPlan(std::string_view source, std::string_view file);

}  // namespace hone
