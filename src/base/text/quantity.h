// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace hone {

// Returns a number of units with three digits and a decimal prefix, for people: "2.15 GB", "64 kB", "550 GFLOP", "12 B".
// `number` is finite and not negative. A number below 1000 has no prefix; the largest prefix is T.
std::string QuantityText(double number, std::string_view unit);

}  // namespace hone
