// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Converts 8-bit floats for the simulated GPU: by number of mantissa bits, 3 for e4m3 (no infinity, NaN is all ones)
// and 2 for e5m2. Registers only, no memory of a candidate.
#pragma once

#include "half_common.h"

namespace hone_sim {

template <int kMantissa>
HONE_SIM_HIDDEN_INLINE auto Float8ToFloat(unsigned bits) {
  constexpr int kBias = kMantissa == 3 ? 7 : 15;
  const unsigned sign = (bits & 0x80u) << 24, code = bits & 0x7fu;
  const unsigned exponent = code >> kMantissa, mantissa = code & ((1u << kMantissa) - 1u);
  if (kMantissa == 3 ? code == 0x7f : code > 0x7c) return __builtin_bit_cast(float, 0x7fffffffu);
  if (kMantissa == 2 && code == 0x7c) return __builtin_bit_cast(float, sign | 0x7f800000u);
  if (exponent == 0) {
    const float unit = __builtin_bit_cast(float, static_cast<unsigned>(128 - kBias - kMantissa) << 23);
    const float magnitude = static_cast<float>(static_cast<int>(mantissa)) * unit;
    return sign != 0 ? -magnitude : magnitude;
  }
  return __builtin_bit_cast(float, sign | ((exponent + 127u - kBias) << 23) | (mantissa << (23 - kMantissa)));
}

// Rounds to nearest even. Values beyond the largest number become that number with `saturate`; without, NaN in e4m3 and
// an infinity in e5m2.
template <int kMantissa>
HONE_SIM_HIDDEN_INLINE unsigned char FloatToFloat8(float value, bool saturate) {
  constexpr int kBias = kMantissa == 3 ? 7 : 15, kDropped = 23 - kMantissa;
  constexpr unsigned kLargest = kMantissa == 3 ? 0x7e : 0x7b;
  const unsigned bits = __builtin_bit_cast(unsigned, value), magnitude = bits & 0x7fffffffu;
  const unsigned sign = (bits >> 24) & 0x80u;
  if (magnitude > 0x7f800000u) return 0x7f;
  unsigned code;
  if (magnitude < (static_cast<unsigned>(128 - kBias) << 23)) {
    // The adder rounds: the last place of this power of two is the spacing of subnormal numbers.
    constexpr unsigned kUnit = static_cast<unsigned>(128 - kBias + kDropped) << 23;
    const float sum = __builtin_bit_cast(float, magnitude) + __builtin_bit_cast(float, kUnit);
    code = __builtin_bit_cast(unsigned, sum) - kUnit;
  } else {
    const unsigned rounded = magnitude + ((1u << (kDropped - 1)) - 1u) + ((magnitude >> kDropped) & 1u);
    code = (rounded >> kDropped) - (static_cast<unsigned>(127 - kBias) << kMantissa);
    if (code > kLargest) code = saturate ? kLargest : kMantissa == 3 ? 0x7fu : 0x7cu;
  }
  return static_cast<unsigned char>(sign | code);
}

// Returns the value of an e8m0 number: a power of two, or NaN.
HONE_SIM_HIDDEN_INLINE float E8m0ToFloat(unsigned bits) {
  if (bits == 0xff) return __builtin_bit_cast(float, 0x7fffffffu);
  return __builtin_bit_cast(float, bits == 0 ? 0x00400000u : bits << 23);
}
// Rounds the magnitude up to a power of two, as the toolkit's type does, or down. `saturate`: an infinity becomes the
// largest power.
HONE_SIM_HIDDEN_INLINE unsigned char FloatToE8m0(float value, bool up, bool saturate) {
  const unsigned magnitude = __builtin_bit_cast(unsigned, value) & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return 0xff;
  unsigned exponent = magnitude >> 23;
  const unsigned fraction = magnitude & 0x7fffffu;
  // e8m0 has exponent 0 for 2^-127, which a float holds as a subnormal number: half of its smallest normal one.
  if (up && (exponent == 0 ? fraction > 0x400000u : fraction != 0)) ++exponent;
  if (exponent >= 255) return saturate ? 0xfe : 0xff;
  return static_cast<unsigned char>(exponent);
}

}  // namespace hone_sim
