// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "base/text/quantity.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

TEST(Quantity, HasThreeDigitsAndADecimalPrefix) {
  EXPECT_EQ(QuantityText(0, "B"), "0 B");
  EXPECT_EQ(QuantityText(999, "B"), "999 B");
  EXPECT_EQ(QuantityText(1000, "B"), "1 kB");
  EXPECT_EQ(QuantityText(2.147e9, "B"), "2.15 GB");
  EXPECT_EQ(QuantityText(5.5e11, "FLOP"), "550 GFLOP");
  EXPECT_EQ(QuantityText(3e15, "FLOP"), "3000 TFLOP");
  EXPECT_EQ(QuantityText(999.7e6, "B"), "1000 MB");
  EXPECT_EQ(QuantityText(99.96e6, "B"), "100 MB");
}

}  // namespace
}  // namespace hone
