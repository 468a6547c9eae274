// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// What libraries take beside a candidate, in words.
#pragma once

#include <string>
#include <string_view>

#include "hone/tuner/evaluation.h"

namespace hone {

// One line for each timed case and library, then the geometric mean of the speedups over each, and one sentence for what
// could be timed at no shape; empty where none was asked for. Lines begin with `indent`.
std::string DescribeLibraries(const Evaluation& evaluation, std::string_view indent);

}  // namespace hone
