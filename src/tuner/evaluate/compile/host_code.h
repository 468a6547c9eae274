// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Finds host code in a candidate that did not compile: a test program's main, allocations, <<<…>>> launches. People
// paste a launch plan above a whole .cu file, and the compiler's errors about cudaMalloc do not say what a candidate
// may hold.
#pragma once

#include <string>
#include <string_view>

namespace hone {

// Returns one line, with its end, that says which lines of the candidate are host code and what a candidate may hold;
// empty: no host code was found. `file` names the candidate as the compiler's errors do. Comments, strings and device
// functions are not searched.
std::string HostCodeAdvice(std::string_view source, std::string_view file);

}  // namespace hone
