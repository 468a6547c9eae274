// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Compares __half and __nv_bfloat16 with a reference that searches for the nearest value in exact arithmetic.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "tuner/device/sim/cuda/cuda_bf16.h"
#include "tuner/device/sim/cuda/cuda_fp16.h"

namespace {

// A 16-bit format by its number of fraction bits; everything below is computed from that alone.
template <typename H>
struct Format;
template <>
struct Format<__half> {
  static constexpr int kFraction = 10, kBias = 15, kInfinity = 0x7c00;
};
template <>
struct Format<__nv_bfloat16> {
  static constexpr int kFraction = 7, kBias = 127, kInfinity = 0x7f80;
};

template <typename H>
class Halves : public ::testing::Test {
 public:
  static constexpr int kInfinity = Format<H>::kInfinity;

  // Returns the value of the bit pattern, by definition of the format.
  static double Decode(unsigned bits) {
    const int fraction_bits = Format<H>::kFraction;
    const double sign = bits & 0x8000u ? -1.0 : 1.0;
    const int exponent = static_cast<int>((bits & 0x7fffu) >> fraction_bits);
    const int fraction = static_cast<int>(bits & ((1u << fraction_bits) - 1));
    if ((bits & 0x7fffu) == static_cast<unsigned>(kInfinity)) return sign * std::numeric_limits<double>::infinity();
    if ((bits & 0x7fffu) > static_cast<unsigned>(kInfinity)) return std::numeric_limits<double>::quiet_NaN();
    if (exponent == 0) return sign * std::ldexp(fraction, 1 - Format<H>::kBias - fraction_bits);
    return sign * std::ldexp(fraction + (1 << fraction_bits), exponent - Format<H>::kBias - fraction_bits);
  }
  // Finds the nearest-even pattern of a magnitude by bisection; `value` may exceed the largest finite one.
  static unsigned Nearest(double value) {
    if (std::isnan(value)) return 0x7fff;
    const unsigned sign = std::signbit(value) ? 0x8000u : 0u;
    const double magnitude = std::fabs(value);
    unsigned low = 0, high = static_cast<unsigned>(kInfinity);  // Decode(low) <= magnitude
    while (high - low > 1) {
      const unsigned middle = (low + high) / 2;
      (Decode(middle) <= magnitude ? low : high) = middle;
    }
    if (Decode(low) == magnitude) return sign | low;
    // Infinity takes the place of the next finite value.
    const double above =
        high == static_cast<unsigned>(kInfinity) ? 2 * Decode(high - 1) - Decode(high - 2) : Decode(high);
    const double to_low = magnitude - Decode(low), to_high = above - magnitude;
    if (std::isinf(magnitude)) return sign | static_cast<unsigned>(kInfinity);
    if (to_low != to_high) return sign | (to_low < to_high ? low : high);
    return sign | (low % 2 == 0 ? low : high);
  }
  static std::vector<unsigned> Interesting() {
    std::vector<unsigned> patterns;
    const unsigned inf = static_cast<unsigned>(kInfinity), one = static_cast<unsigned>(Format<H>::kBias)
                                                                 << Format<H>::kFraction;
    for (const unsigned p :
         {0u, 1u, 2u, 3u, (1u << Format<H>::kFraction) - 1u, 1u << Format<H>::kFraction,
          (1u << Format<H>::kFraction) + 1u, one - 1u, one, one + 1u, one + (1u << Format<H>::kFraction) + 5u,
          one - (3u << Format<H>::kFraction) + 7u, inf - 1u, inf - 2u, inf}) {
      patterns.push_back(p);
      patterns.push_back(p | 0x8000u);
    }
    patterns.push_back(0x7fffu);
    std::mt19937 random(7);
    while (patterns.size() < 64) patterns.push_back(random() & 0xffffu);
    return patterns;
  }
};
using Types = ::testing::Types<__half, __nv_bfloat16>;
TYPED_TEST_SUITE(Halves, Types);

template <typename H>
void ExpectBits(H actual, unsigned expected, const char* what, unsigned a, unsigned b = 0, unsigned c = 0) {
  // All NaNs have the same bits.
  ASSERT_EQ(hone_sim::Bits(actual), expected) << what << std::hex << " of 0x" << a << ", 0x" << b << ", 0x" << c;
}

TYPED_TEST(Halves, WidenEveryPatternToItsValue) {
  for (unsigned bits = 0; bits < 0x10000u; ++bits) {
    const float value = hone_sim::Widen(hone_sim::FromBits<TypeParam>(static_cast<unsigned short>(bits)));
    const double expected = this->Decode(bits);
    if (std::isnan(expected))
      ASSERT_TRUE(std::isnan(value)) << std::hex << bits;
    else
      ASSERT_EQ(value, expected) << std::hex << bits;
  }
}

// Tests every value, every midpoint between neighbours, and values just beside the midpoints; from float and from
// double.
TYPED_TEST(Halves, NarrowToNearestEvenAroundEveryMidpoint) {
  for (unsigned bits = 0; bits < static_cast<unsigned>(this->kInfinity); ++bits) {
    const double low = this->Decode(bits);
    const double high =
        bits + 1 == static_cast<unsigned>(this->kInfinity) ? 2 * low - this->Decode(bits - 1) : this->Decode(bits + 1);
    const double middle = low + (high - low) / 2;
    for (const double value :
         {low, middle, std::nextafter(middle, 0.0), std::nextafter(middle, 1e300), low + (high - low) / 4}) {
      for (const double signed_value : {value, -value}) {
        ExpectBits(hone_sim::Narrow<TypeParam>(signed_value), this->Nearest(signed_value), "Narrow(double)", bits);
        const float f = static_cast<float>(signed_value);
        ExpectBits(hone_sim::Narrow<TypeParam>(f), this->Nearest(f), "Narrow(float)", bits);
      }
    }
  }
  ExpectBits(hone_sim::Narrow<TypeParam>(std::nanf("")), 0x7fff, "Narrow(NaN)", 0);
  ExpectBits(hone_sim::Narrow<TypeParam>(1e300), static_cast<unsigned>(this->kInfinity), "Narrow(1e300)", 0);
  ExpectBits(hone_sim::Narrow<TypeParam>(-INFINITY), 0x8000u | static_cast<unsigned>(this->kInfinity), "Narrow(-inf)",
             0);
}

TYPED_TEST(Halves, DirectedRoundingBracketsTheValue) {
  using hone_sim::NarrowDirected;
  using hone_sim::Rounding;
  for (unsigned bits = 0; bits + 1 < static_cast<unsigned>(this->kInfinity); ++bits) {
    const double value = this->Decode(bits) + (this->Decode(bits + 1) - this->Decode(bits)) / 3;
    ExpectBits(NarrowDirected<TypeParam, Rounding::kZero>(value), bits, "rz", bits);
    ExpectBits(NarrowDirected<TypeParam, Rounding::kDown>(value), bits, "rd", bits);
    ExpectBits(NarrowDirected<TypeParam, Rounding::kUp>(value), bits + 1, "ru", bits);
    ExpectBits(NarrowDirected<TypeParam, Rounding::kZero>(-value), bits | 0x8000u, "rz", bits);
    ExpectBits(NarrowDirected<TypeParam, Rounding::kDown>(-value), (bits + 1) | 0x8000u, "rd", bits);
    ExpectBits(NarrowDirected<TypeParam, Rounding::kUp>(-value), bits | 0x8000u, "ru", bits);
  }
  ExpectBits(NarrowDirected<TypeParam, Rounding::kZero>(1e300), static_cast<unsigned>(this->kInfinity) - 1, "rz", 0);
}

// Tests every first operand with 64 second ones. Sums of values of very different size do not fit a double: then the
// larger operand is the result, because it is representable and the smaller is far below half its spacing.
TYPED_TEST(Halves, ArithmeticRoundsOnce) {
  for (const unsigned b : this->Interesting()) {
    const TypeParam hb = hone_sim::FromBits<TypeParam>(static_cast<unsigned short>(b));
    const double y = this->Decode(b);
    for (unsigned a = 0; a < 0x10000u; ++a) {
      const TypeParam ha = hone_sim::FromBits<TypeParam>(static_cast<unsigned short>(a));
      const double x = this->Decode(a);
      const bool far =
          std::isfinite(x) && std::isfinite(y) && x != 0 && y != 0 && std::abs(std::ilogb(x) - std::ilogb(y)) > 35;
      const double larger = std::fabs(x) > std::fabs(y) ? x : y;
      const double minus_y_larger = std::fabs(x) > std::fabs(y) ? x : -y;
      ExpectBits(__hadd(ha, hb), this->Nearest(far ? larger : x + y), "add", a, b);
      ExpectBits(__hsub(ha, hb), this->Nearest(far ? minus_y_larger : x - y), "sub", a, b);
      ExpectBits(__hmul(ha, hb), this->Nearest(x * y), "mul", a, b);
      // A quotient of 11-bit numbers within 2^-53 of a midpoint is always exactly the midpoint.
      ExpectBits(__hdiv(ha, hb), this->Nearest(x / y), "div", a, b);
    }
  }
}

TYPED_TEST(Halves, FusedMultiplyAddKeepsTheStickyBit) {
  std::mt19937 random(11);
  for (int trial = 0; trial < 400000; ++trial) {
    const unsigned a = random() & 0xffffu, b = random() & 0xffffu, c = random() & 0xffffu;
    const double p = this->Decode(a) * this->Decode(b), q = this->Decode(c);
    if (!std::isfinite(p) || !std::isfinite(q)) continue;
    // In long double the sum is exact when the operands lie within 40 binary places of each other.
    if (p != 0 && q != 0 && std::abs(std::ilogb(p) - std::ilogb(q)) > 40) continue;
    const long double exact = static_cast<long double>(p) + q;
    if (static_cast<long double>(static_cast<double>(exact)) != exact) continue;
    ExpectBits(__hfma(hone_sim::FromBits<TypeParam>(static_cast<unsigned short>(a)),
                      hone_sim::FromBits<TypeParam>(static_cast<unsigned short>(b)),
                      hone_sim::FromBits<TypeParam>(static_cast<unsigned short>(c))),
               this->Nearest(static_cast<double>(exact)), "fma", a, b, c);
  }
  // (1 + u)(1 + u) with u one unit lies u^2 above a value; (1 + u)(1 - u/2) lies below 1 + u/2, a midpoint. A tiny
  // addend decides exact midpoints, however tiny: 1.5 * (1 + u) = 1.5 + 1.5u is one.
  const double u = std::ldexp(1.0, -Format<TypeParam>::kFraction);
  const TypeParam x = hone_sim::Narrow<TypeParam>(1.5), y = hone_sim::Narrow<TypeParam>(1.0 + u);
  const TypeParam tiny = hone_sim::FromBits<TypeParam>(1), minus_tiny = hone_sim::FromBits<TypeParam>(0x8001);
  EXPECT_EQ(static_cast<double>(hone_sim::Widen(__hfma(x, y, tiny))), 1.5 + 2 * u);
  EXPECT_EQ(static_cast<double>(hone_sim::Widen(__hfma(x, y, minus_tiny))), 1.5 + u);
}

TYPED_TEST(Halves, IntegersConvertBothWays) {
  for (long long v :
       {0ll, 1ll, -1ll, 2047ll, 2049ll, -2051ll, 65504ll, 65519ll, 65520ll, 1ll << 40, (1ll << 62) + 1, -(1ll << 62)}) {
    ExpectBits(TypeParam(v), this->Nearest(static_cast<double>(v)), "from long long", static_cast<unsigned>(v));
  }
  // 2^40 + 2^(40 - fraction - 1) is a midpoint; one more must round up although a double cannot tell at 2^62.
  const long long midpoint = (1ll << 62) + (1ll << (62 - Format<TypeParam>::kFraction - 1));
  if (Format<TypeParam>::kBias == 127) {
    EXPECT_EQ(hone_sim::Bits(TypeParam(midpoint + 1)), hone_sim::Bits(TypeParam(midpoint)) + 1);
  }
  EXPECT_EQ(static_cast<int>(hone_sim::Narrow<TypeParam>(-2.75)), -2);
  EXPECT_EQ(static_cast<unsigned>(hone_sim::Narrow<TypeParam>(-2.75)), 0u);
  EXPECT_EQ(static_cast<signed char>(hone_sim::Narrow<TypeParam>(1000.0)), 127);
}

TYPED_TEST(Halves, ComparisonsKnowNaN) {
  const TypeParam nan = hone_sim::FromBits<TypeParam>(0x7fff), one = hone_sim::Narrow<TypeParam>(1.0);
  EXPECT_FALSE(nan == nan);
  EXPECT_TRUE(nan != nan);
  EXPECT_FALSE(__hne(nan, one));
  EXPECT_TRUE(__hltu(nan, one));
  EXPECT_FALSE(nan < one || nan > one || nan <= one || nan >= one);
  EXPECT_EQ(hone_sim::Bits(__hmax(nan, one)), hone_sim::Bits(one));
  EXPECT_EQ(hone_sim::Bits(__hmin(one, nan)), hone_sim::Bits(one));
  EXPECT_EQ(hone_sim::Bits(__hmax_nan(nan, one)), 0x7fff);
  const TypeParam zero = hone_sim::FromBits<TypeParam>(0), minus_zero = hone_sim::FromBits<TypeParam>(0x8000);
  EXPECT_EQ(hone_sim::Bits(__hmax(minus_zero, zero)), 0);
  EXPECT_EQ(hone_sim::Bits(__hmin(zero, minus_zero)), 0x8000);
}

TEST(HalfPairs, ConversionsKeepLowAndHigh) {
  const __half2 h = __floats2half2_rn(1.0f, 2.0f);
  EXPECT_EQ(__low2float(h), 1.0f);
  EXPECT_EQ(__high2float(h), 2.0f);
  EXPECT_EQ(__builtin_bit_cast(unsigned, h), 0x40003c00u);
  EXPECT_EQ(__half22float2(__hmul2(h, __half2half2(__float2half(3.0f)))).y, 6.0f);
  EXPECT_EQ(__low2float(__lowhigh2highlow(h)), 2.0f);
  const __nv_bfloat162 b = __float22bfloat162_rn(make_float2(-1.0f, 0.5f));
  EXPECT_EQ(__bfloat1622float2(b).x, -1.0f);
  EXPECT_EQ(__builtin_bit_cast(unsigned, b), 0x3f00bf80u);
  EXPECT_TRUE(__hbgt2(h, __float2half2_rn(0.5f)));
  EXPECT_FALSE(__hbgt2(h, __float2half2_rn(1.5f)));
}

}  // namespace
