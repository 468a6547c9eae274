// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Defines the 8-bit floats that tasks have tensors of, and their conversions from and to float, for the host and for
// the harness kernels: both draw the same bits. Pure functions.
//
//   E4M3   1 sign, 4 exponent, 3 mantissa bits; no infinity, NaN is all ones; largest 448 (float8_e4m3fn)
//   E5M2   1 sign, 5 exponent, 2 mantissa bits; infinity and NaN as in IEEE formats; largest 57344 (float8_e5m2)
//   E8M0   8 exponent bits: 2^(bits - 127), 255 is NaN; a scale of a block, never zero or negative (float8_e8m0fnu)
#pragma once

#include "tuner/values/draw.h"

namespace hone::float8 {

struct E4M3 {
  static constexpr int kMantissaBits = 3, kBias = 7;
  // Codes without the sign: of the largest finite number, of larger ones, and of NaN.
  static constexpr uint32_t kLargest = 0x7e, kOverflow = 0x7e, kNan = 0x7f;
  uint8_t bits;
};
struct E5M2 {
  static constexpr int kMantissaBits = 2, kBias = 15;
  static constexpr uint32_t kLargest = 0x7b, kOverflow = 0x7c, kNan = 0x7f;
  uint8_t bits;
};
struct E8M0 {
  uint8_t bits;
};

HONE_HD uint32_t BitsOfFloat(float value) {
#if defined(__CUDA_ARCH__)
  return __float_as_uint(value);
#else
  uint32_t bits;
  __builtin_memcpy(&bits, &value, sizeof bits);
  return bits;
#endif
}

// Rounds to nearest, ties to even. Values that round beyond the largest number become infinity or, in a format without
// one, the largest number: a drawn infinity becomes a saturated input. Every NaN becomes the positive one with all bits
// set.
template <typename T>
HONE_HD T FromFloat(float value) {
  constexpr int kDropped = 23 - T::kMantissaBits;
  const uint32_t bits = BitsOfFloat(value);
  const uint32_t magnitude = bits & 0x7fffffffu;
  const uint32_t sign = (bits >> 24) & 0x80u;
  if (magnitude > 0x7f800000u) return T{static_cast<uint8_t>(T::kNan)};
  uint32_t code;
  if (magnitude < (static_cast<uint32_t>(128 - T::kBias) << 23)) {
    // Below the smallest normal number: adding a power of two whose last place is the spacing of subnormal numbers lets
    // the float adder round, nearest even.
    constexpr uint32_t kUnit = static_cast<uint32_t>(127 + 1 - T::kBias + kDropped) << 23;
    code = BitsOfFloat(draw::FloatOfBits(magnitude) + draw::FloatOfBits(kUnit)) - kUnit;
  } else {
    const uint32_t rounded = magnitude + ((1u << (kDropped - 1)) - 1u) + ((magnitude >> kDropped) & 1u);
    code = (rounded >> kDropped) - (static_cast<uint32_t>(127 - T::kBias) << T::kMantissaBits);
    if (code > T::kLargest) code = T::kOverflow;
  }
  return T{static_cast<uint8_t>(sign | code)};
}

template <typename T>
HONE_HD float ToFloat(T value) {
  const uint32_t sign = static_cast<uint32_t>(value.bits & 0x80u) << 24;
  const uint32_t code = value.bits & 0x7fu;
  if (code > T::kLargest && code != T::kOverflow) return draw::FloatOfBits(sign | 0x7fc00000u);
  if (code > T::kLargest) return draw::FloatOfBits(sign | 0x7f800000u);
  const uint32_t exponent = code >> T::kMantissaBits;
  const uint32_t mantissa = code & ((1u << T::kMantissaBits) - 1u);
  if (exponent == 0) {
    constexpr uint32_t kUnit = static_cast<uint32_t>(127 + 1 - T::kBias - T::kMantissaBits) << 23;
    const float magnitude = static_cast<float>(mantissa) * draw::FloatOfBits(kUnit);
    return sign != 0 ? -magnitude : magnitude;
  }
  return draw::FloatOfBits(sign | ((exponent + 127u - T::kBias) << 23) | (mantissa << (23 - T::kMantissaBits)));
}

// Returns the power of two at or below the magnitude, but at least 2^-127.
template <>
HONE_HD E8M0 FromFloat<E8M0>(float value) {
  return E8M0{static_cast<uint8_t>((BitsOfFloat(value) >> 23) & 0xffu)};
}
template <>
HONE_HD float ToFloat<E8M0>(E8M0 value) {
  if (value.bits == 0xff) return draw::FloatOfBits(0x7fc00000u);
  if (value.bits == 0) return draw::FloatOfBits(0x00400000u);  // 2^-127 is subnormal in float
  return draw::FloatOfBits(static_cast<uint32_t>(value.bits) << 23);
}

}  // namespace hone::float8
