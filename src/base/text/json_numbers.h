// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Finds numbers in a stranger's JSON that must not be converted to integers.
#pragma once

#include <nlohmann/json.hpp>

namespace hone {

// Returns whether `value` holds, at any depth, a floating-point number of at least `bound` in magnitude. nlohmann converts such
// a number to an integer by a cast, which is undefined where the integer type cannot hold it; integers of more than 64 bits are
// read as floating-point numbers too. The depth must be limited, as ParseJson does.
bool HoldsFloatFrom(const nlohmann::json& value, double bound);

}  // namespace hone
