// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Describes in words how libraries' times compare with a candidate's.
#pragma once

#include <string>
#include <string_view>

#include "hone/tuner/evaluation.h"

namespace hone {

// Returns one line for each timed case and library, then the geometric mean of the speedups over each library, and one
// sentence for each library that could be timed at no shape; empty where none was requested. Lines begin with `indent`.
std::string DescribeLibraries(const Evaluation& evaluation, std::string_view indent);

}  // namespace hone
