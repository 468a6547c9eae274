// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Lists the headers of a plan's include set, both for the compiler that judges a candidate and for the header that a
// winner is exported as.
#pragma once

#include <span>
#include <string_view>

namespace hone {

// Returns the headers of an include set as they are written in an #include, such as "<mma.h>", in order; headers that
// every candidate has are left out. `include_set` is "full" or "cute"; for "" and unknown names, there are none.
std::span<const std::string_view> IncludeSetHeaders(std::string_view include_set);

}  // namespace hone
