// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads and writes single elements of the operands of a plan's library calls, as float32, for sums on the processor.
#pragma once

#include <bit>
#include <cstdint>

#include "hone/tuner/task.h"
#include "tuner/values/float_bits.h"

namespace hone::host {

// Returns one element as float32. `dtype` is float32, float16 or bfloat16; `memory` is aligned to its elements.
inline float Load(DType dtype, const void* memory, int64_t element) {
  if (dtype == DType::kFloat32) return static_cast<const float*>(memory)[element];
  const uint16_t bits = static_cast<const uint16_t*>(memory)[element];
  if (dtype == DType::kBFloat16) return std::bit_cast<float>(uint32_t{bits} << 16);
  return static_cast<float>(HalfValue(bits));
}

inline void Store(DType dtype, void* memory, int64_t element, float value) {
  if (dtype == DType::kFloat32) {
    static_cast<float*>(memory)[element] = value;
  } else {
    static_cast<uint16_t*>(memory)[element] = dtype == DType::kBFloat16 ? BFloat16Bits(value) : HalfBits(value);
  }
}

}  // namespace hone::host
