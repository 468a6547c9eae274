// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Lists the names with a meaning of their own in expressions and launch plans, which a task's dimensions, tensors and
// scalars may not have.
#pragma once

#include <algorithm>
#include <iterator>
#include <string_view>

namespace hone {

inline constexpr std::string_view kReservedNames[] = {
    "sm_count", "cc",        "l2_bytes", "smem_optin", "ceil_div", "min",       "max", "round_up",
    "log2",     "occupancy", "align",    "stride",     "struct",   "tensormap", "ref",
};

inline bool IsReservedName(std::string_view name) {
  return std::find(std::begin(kReservedNames), std::end(kReservedNames), name) != std::end(kReservedNames);
}

}  // namespace hone
