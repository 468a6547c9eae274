// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Rounds sizes and addresses to multiples of an alignment, a page or a tile.
//
// The functions require value >= 0, multiple > 0, and that value + multiple - 1 fits T.
#pragma once

#include <concepts>
#include <type_traits>

namespace hone {

// Returns the least multiple that is not below `value`.
template <std::integral T>
constexpr T RoundUp(T value, std::type_identity_t<T> multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

// Returns the largest multiple that is not above `value`.
template <std::integral T>
constexpr T RoundDown(T value, std::type_identity_t<T> multiple) {
  return value / multiple * multiple;
}

}  // namespace hone
