// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Element types of features: their names, rounding to them, and the stride of a row.
#pragma once

#include <bit>
#include <cstdint>
#include <string_view>

#include "base/numbers/rounding.h"
#include "hone/base/status.h"
#include "hone/gnn/graph.h"

namespace hone::gnn {

// Parses "float32", "float16" or "bfloat16"; kInvalidArgument lists them.
Result<FeatureDtype> ParseFeatureDtype(std::string_view name);

// Returns the bytes from one row to the next: the next multiple of 64, or of 128 if a row has more than 96 bytes, so
// that a gathered row touches the fewest cache lines and memory sectors.
constexpr int64_t FeatureStrideBytes(int64_t width, FeatureDtype dtype) {
  const int64_t bytes = width * FeatureDtypeBytes(dtype);
  return RoundUp(bytes, bytes > 96 ? 128 : 64);
}

// Returns the bytes from one row of edge features to the next: the next power of two up to 64, or the next multiple of
// 64. A row then touches as few cache lines as it can, and narrow rows take no more memory than twice their elements.
constexpr int64_t EdgeStrideBytes(int64_t width, FeatureDtype dtype) {
  const int64_t bytes = width * FeatureDtypeBytes(dtype);
  return bytes > 64 ? RoundUp(bytes, 64) : static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(bytes)));
}

// Rounds to nearest, ties to even; values beyond the largest finite half become infinity. NaN stays NaN.
inline uint16_t HalfFromFloat(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = (bits >> 16) & 0x8000u, magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return static_cast<uint16_t>(sign | 0x7e00u);
  if (magnitude >= 0x477ff000u) return static_cast<uint16_t>(sign | 0x7c00u);  // 65520 and above
  if (magnitude < 0x38800000u) {
    // Subnormal halves are multiples of 2^-24. Adding 0.5 to the float makes the adder round to such a multiple, and
    // leaves its bits at the low end.
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    return static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(shifted) - 0x3f000000u));
  }
  return static_cast<uint16_t>(sign | ((magnitude + 0xfffu + ((magnitude >> 13) & 1) - 0x38000000u) >> 13));
}
inline uint16_t BFloat16FromFloat(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<uint16_t>((bits >> 16) | 0x40u);
  return static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1)) >> 16);
}
inline float FloatFromBFloat16(uint16_t bits) { return std::bit_cast<float>(uint32_t{bits} << 16); }
inline float FloatFromHalf(uint16_t half) {
  const uint32_t sign = (uint32_t{half} & 0x8000u) << 16, exponent = (half >> 10) & 31, fraction = half & 0x3ffu;
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000u | (fraction << 13));
  if (exponent == 0) {
    const float value = static_cast<float>(fraction) * 0x1p-24f;
    return sign != 0 ? -value : value;
  }
  return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (fraction << 13));
}

}  // namespace hone::gnn
