// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "base/numbers/rounding.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <type_traits>

namespace hone {
namespace {

static_assert(RoundUp(int64_t{0}, 64) == 0 && RoundUp(int64_t{1}, 64) == 64 && RoundUp(int64_t{64}, 64) == 64);
static_assert(RoundDown(63, 64) == 0 && RoundDown(64, 64) == 64 && RoundDown(127, 64) == 64);

TEST(Rounding, KeepsTheTypeOfTheSizeAndTakesAnyMultiple) {
  static_assert(std::is_same_v<decltype(RoundUp(uint64_t{1}, 2)), uint64_t>);
  const uint64_t high = uint64_t{1} << 63;
  EXPECT_EQ(RoundUp(high + 1, 3), high + 1);  // 2^63 + 1 is a multiple of 3
  EXPECT_EQ(RoundUp(high, 3), high + 1);
  EXPECT_EQ(RoundDown(high, 3), high - 2);
}

}  // namespace
}  // namespace hone
