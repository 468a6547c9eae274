// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Half types of the stand-in: the right sizes, no arithmetic.
#pragma once

#include <cstring>

struct __half {
  unsigned short bits;
};
// The upper half of the float's bits: enough to see that a value was passed.
inline __half __float2half_rn(float value) {
  unsigned bits;
  std::memcpy(&bits, &value, sizeof bits);
  return {static_cast<unsigned short>(bits >> 16)};
}
