// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/values/float_bits.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "tuner/values/float8.h"

namespace hone {

namespace {

// Rounds to a binary format with `fraction` stored fraction bits, exponents from `lowest` (of the smallest normal) to
// `highest`, and returns its bits without the sign.
uint16_t RoundTo(double magnitude, int fraction, int lowest, int highest) {
  const uint16_t infinity = static_cast<uint16_t>((highest - lowest + 2) << fraction);
  if (std::isnan(magnitude)) return static_cast<uint16_t>(infinity | (1u << (fraction - 1)));
  if (std::isinf(magnitude)) return infinity;
  if (magnitude == 0) return 0;
  int exponent;
  std::frexp(magnitude, &exponent);
  exponent = std::max(exponent - 1, lowest);  // below `lowest`: subnormal, with the spacing of `lowest`
  if (exponent > highest) return infinity;
  // Counts units of the last place at this exponent; nearbyint rounds ties to even, and scaling is exact.
  const double units = std::nearbyint(std::ldexp(magnitude, fraction - exponent));
  // A carry out of the fraction moves into the exponent by itself, to infinity at the top.
  const uint32_t bits = (static_cast<uint32_t>(exponent - lowest) << fraction) + static_cast<uint32_t>(units);
  return bits >= infinity ? infinity : static_cast<uint16_t>(bits);
}

uint16_t WithSign(double value, uint16_t bits) {
  return static_cast<uint16_t>(bits | (std::signbit(value) ? 0x8000u : 0u));
}

}  // namespace

uint16_t HalfBits(double value) { return WithSign(value, RoundTo(std::fabs(value), 10, -14, 15)); }
uint16_t BFloat16Bits(double value) { return WithSign(value, RoundTo(std::fabs(value), 7, -126, 127)); }

double HalfValue(uint16_t bits) {
  const int exponent = (bits >> 10) & 31;
  const int fraction = bits & 1023;
  double magnitude;
  if (exponent == 31) {
    magnitude = fraction == 0 ? INFINITY : NAN;
  } else if (exponent == 0) {
    magnitude = std::ldexp(fraction, -24);
  } else {
    magnitude = std::ldexp(1024 + fraction, exponent - 25);
  }
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

double BFloat16Value(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

namespace {

// Narrows to float "rounded to odd": an inexact result keeps its last bit set, so that the second rounding knows on
// which side of a midpoint the double was.
float ToOddFloat(double value) {
  const auto narrowed = static_cast<float>(value);
  if (!std::isfinite(narrowed) || static_cast<double>(narrowed) == value) return narrowed;
  auto bits = std::bit_cast<uint32_t>(narrowed);
  if (std::fabs(static_cast<double>(narrowed)) > std::fabs(value)) --bits;
  return std::bit_cast<float>(bits | 1u);
}

}  // namespace

uint8_t Float8Bits(DType dtype, double value) {
  const float odd = ToOddFloat(value);
  if (dtype == DType::kFloat8E8M0) return float8::FromFloat<float8::E8M0>(odd).bits;
  if (dtype == DType::kFloat8E5M2) return float8::FromFloat<float8::E5M2>(odd).bits;
  return float8::FromFloat<float8::E4M3>(odd).bits;
}

double Float8Value(DType dtype, uint8_t bits) {
  if (dtype == DType::kFloat8E8M0) return float8::ToFloat(float8::E8M0{bits});
  if (dtype == DType::kFloat8E5M2) return float8::ToFloat(float8::E5M2{bits});
  return float8::ToFloat(float8::E4M3{bits});
}

double RoundedTo(DType dtype, double value) {
  switch (dtype) {
    case DType::kFloat32:
      return static_cast<float>(value);
    case DType::kFloat16:
      return HalfValue(HalfBits(value));
    case DType::kBFloat16:
      return BFloat16Value(BFloat16Bits(value));
    case DType::kFloat8E4M3:
    case DType::kFloat8E5M2:
    case DType::kFloat8E8M0:
      return Float8Value(dtype, Float8Bits(dtype, value));
    default:
      return value;
  }
}

}  // namespace hone
