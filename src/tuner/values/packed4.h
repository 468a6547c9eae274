// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Defines the bytes of tensors that hold two 4-bit numbers in each, for the host and for the harness kernels: both draw
// the same bits. The first number of a pair is in the low four bits. Pure functions.
//
//   E2M1   1 sign, 2 exponent, 1 mantissa bits; no infinity, no NaN; 0, 0.5, 1, 1.5, 2, 3, 4, 6 (half of float4_e2m1fn_x2)
//   Int4   two's complement, -8 to 7 (half of int4_x2)
#pragma once

#include "tuner/values/draw.h"
#include "tuner/values/float8.h"

namespace hone::packed4 {

// Describes a 4-bit float to float8::FromFloat and ToFloat. NaN and larger values become the largest number.
struct E2M1 {
  static constexpr int kMantissaBits = 1, kBias = 1;
  static constexpr uint32_t kLargest = 0x7, kOverflow = 0x7, kNan = 0x7;
  uint8_t bits;
};

struct FloatPair {
  uint8_t bits;
  static HONE_HD uint32_t Code(float value) {
    const uint32_t wide = float8::FromFloat<E2M1>(value).bits;  // E2M1's sign is the top bit of these eight
    return ((wide >> 4) & 0x8u) | (wide & 0x7u);
  }
  static HONE_HD uint32_t Code(int64_t value) { return Code(static_cast<float>(value)); }
  // Returns the number that a code stands for.
  static HONE_HD float Value(uint32_t code) {
    return float8::ToFloat(E2M1{static_cast<uint8_t>(((code & 0x8u) << 4) | (code & 0x7u))});
  }
};
struct IntPair {
  uint8_t bits;
  static HONE_HD uint32_t Code(int64_t value) {
    return static_cast<uint32_t>(value < -8 ? -8 : value > 7 ? 7 : value) & 0xfu;
  }
  static HONE_HD uint32_t Code(float value) { return value != value ? 0u : Code(static_cast<int64_t>(value)); }
  static HONE_HD float Value(uint32_t code) {
    return static_cast<float>(static_cast<int>(code & 0x7u) - static_cast<int>(code & 0x8u));
  }
};

// Joins two codes of four bits into a byte.
template <typename T>
HONE_HD T Join(uint32_t first, uint32_t second) {
  return T{static_cast<uint8_t>(first | (second << 4))};
}

// Returns the bits from which a pair's second number is drawn. `bits`: the bits of the first number.
HONE_HD uint64_t SecondBits(uint64_t bits) { return draw::Mix(bits ^ 0x4cf5ad432745937fULL); }

}  // namespace hone::packed4
