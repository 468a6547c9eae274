// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests rounding to 8 and 16 bits on every value: each rounds to itself, and every midpoint between neighbours rounds to the
// even one, while the doubles next to it round to their own side.
#include "tuner/values/float_bits.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tuner/values/packed4.h"

namespace hone {
namespace {

void CheckAll(uint16_t (*bits_of)(double), double (*value_of)(uint16_t), uint16_t infinity) {
  for (uint32_t bits = 0; bits < infinity; ++bits) {
    const auto b = static_cast<uint16_t>(bits);
    ASSERT_EQ(bits_of(value_of(b)), b);
    ASSERT_EQ(bits_of(-value_of(b)), b | 0x8000);
    // The value above the largest finite one is the start of the next binade.
    const double low = value_of(b);
    const double high = bits + 1 < infinity ? value_of(static_cast<uint16_t>(b + 1))
                                            : low + (low - value_of(static_cast<uint16_t>(b - 1)));
    const double middle = low + (high - low) / 2;
    ASSERT_EQ(bits_of(middle), (b & 1) == 0 ? b : b + 1) << bits;
    ASSERT_EQ(bits_of(std::nextafter(middle, low)), b) << bits;
    ASSERT_EQ(bits_of(std::nextafter(middle, 1e300)), b + 1) << bits;
  }
  EXPECT_EQ(bits_of(std::numeric_limits<double>::infinity()), infinity);
  EXPECT_EQ(bits_of(1e300), infinity);
  EXPECT_EQ(bits_of(-1e300), infinity | 0x8000);
  EXPECT_EQ(value_of(infinity), std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(value_of(bits_of(std::nan("")))));
  EXPECT_EQ(bits_of(-0.0), 0x8000);
  EXPECT_EQ(bits_of(5e-324), 0);
}

TEST(FloatBits, HalfRoundsToNearestEven) { CheckAll(HalfBits, HalfValue, 0x7c00); }
TEST(FloatBits, BFloat16RoundsToNearestEven) { CheckAll(BFloat16Bits, BFloat16Value, 0x7f80); }

// Every value rounds to itself, every midpoint to the even neighbour, and what is beyond the largest number to
// `overflow`.
void CheckFloat8(DType dtype, uint8_t largest, uint8_t overflow) {
  for (uint32_t bits = 0; bits <= largest; ++bits) {
    const auto b = static_cast<uint8_t>(bits);
    const double low = Float8Value(dtype, b);
    ASSERT_EQ(Float8Bits(dtype, low), b);
    ASSERT_EQ(Float8Bits(dtype, -low), b | 0x80);
    if (bits == largest) break;
    const double high = Float8Value(dtype, static_cast<uint8_t>(b + 1));
    ASSERT_LT(low, high);
    const double middle = low + (high - low) / 2;
    ASSERT_EQ(Float8Bits(dtype, middle), (b & 1) == 0 ? b : b + 1) << bits;
    ASSERT_EQ(Float8Bits(dtype, std::nextafter(middle, low)), b) << bits;
    ASSERT_EQ(Float8Bits(dtype, std::nextafter(middle, high)), b + 1) << bits;
  }
  EXPECT_EQ(Float8Bits(dtype, 1e300), overflow);
  EXPECT_EQ(Float8Bits(dtype, -std::numeric_limits<double>::infinity()), overflow | 0x80);
  EXPECT_TRUE(std::isnan(Float8Value(dtype, Float8Bits(dtype, std::nan("")))));
}
TEST(FloatBits, Float8E4M3RoundsToNearestEvenAndHasNoInfinity) {
  CheckFloat8(DType::kFloat8E4M3, 0x7e, 0x7e);
  EXPECT_EQ(Float8Value(DType::kFloat8E4M3, 0x7e), 448.0);
  EXPECT_EQ(Float8Value(DType::kFloat8E4M3, 0x01), 0x1p-9);
  EXPECT_TRUE(std::isnan(Float8Value(DType::kFloat8E4M3, 0xff)));
}
TEST(FloatBits, Float8E5M2RoundsToNearestEven) {
  CheckFloat8(DType::kFloat8E5M2, 0x7b, 0x7c);
  EXPECT_EQ(Float8Value(DType::kFloat8E5M2, 0x7b), 57344.0);
  EXPECT_EQ(Float8Value(DType::kFloat8E5M2, 0x01), 0x1p-16);
  for (const uint8_t nan : {0x7d, 0x7e, 0xff}) EXPECT_TRUE(std::isnan(Float8Value(DType::kFloat8E5M2, nan)));
}
TEST(FloatBits, Float8E8M0HoldsPowersOfTwo) {
  for (uint32_t bits = 0; bits < 255; ++bits) {
    const double value = Float8Value(DType::kFloat8E8M0, static_cast<uint8_t>(bits));
    EXPECT_EQ(value, std::ldexp(1.0, static_cast<int>(bits) - 127));
    EXPECT_EQ(Float8Bits(DType::kFloat8E8M0, value), bits);
  }
  EXPECT_EQ(Float8Bits(DType::kFloat8E8M0, 0.0), 0);
  EXPECT_EQ(RoundedTo(DType::kFloat8E8M0, -3.0), 2.0);
}

TEST(FloatBits, FloatsOfFourBitsRoundToNearestEvenAndSaturate) {
  const float values[] = {0.0f, 0.5f, 1.0f, 1.5f, 2.0f, 3.0f, 4.0f, 6.0f};
  for (uint32_t code = 0; code < 8; ++code) {
    EXPECT_EQ(packed4::FloatPair::Value(code), values[code]);
    EXPECT_EQ(packed4::FloatPair::Value(code | 8), -values[code]);
    EXPECT_EQ(packed4::FloatPair::Code(values[code]), code);
    EXPECT_EQ(packed4::FloatPair::Code(-values[code]), code | 8);
    if (code == 7) continue;
    const float middle = (values[code] + values[code + 1]) / 2;
    EXPECT_EQ(packed4::FloatPair::Code(middle), code % 2 == 0 ? code : code + 1);
    EXPECT_EQ(packed4::FloatPair::Code(std::nextafter(middle, 9.0f)), code + 1);
    EXPECT_EQ(packed4::FloatPair::Code(std::nextafter(middle, 0.0f)), code);
  }
  EXPECT_EQ(packed4::FloatPair::Code(1e30f), 7u);
  EXPECT_EQ(packed4::FloatPair::Code(-std::numeric_limits<float>::infinity()), 15u);
}

TEST(FloatBits, IntegersOfFourBitsSaturate) {
  for (int64_t value = -8; value <= 7; ++value) EXPECT_EQ(packed4::IntPair::Code(value), static_cast<uint32_t>(value) & 15u);
  EXPECT_EQ(packed4::IntPair::Code(int64_t{100}), 7u);
  EXPECT_EQ(packed4::IntPair::Code(-100.0f), 8u);
  EXPECT_EQ(packed4::Join<packed4::IntPair>(packed4::IntPair::Code(int64_t{-1}), packed4::IntPair::Code(int64_t{2})).bits, 0x2f);
}

TEST(FloatBits, WellKnownValues) {
  EXPECT_EQ(HalfBits(1.0), 0x3c00);
  EXPECT_EQ(HalfBits(-2.0), 0xc000);
  EXPECT_EQ(HalfBits(65504.0), 0x7bff);
  EXPECT_EQ(HalfBits(0x1p-24), 0x0001);
  EXPECT_EQ(BFloat16Bits(1.0), 0x3f80);
  EXPECT_EQ(BFloat16Bits(3.0), 0x4040);
}

}  // namespace
}  // namespace hone
