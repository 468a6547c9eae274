// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Defines fake half types with the right sizes and no arithmetic.
#pragma once

#include <cstring>

struct __half {
  unsigned short bits;
};
// Returns the upper half of the float's bits: enough to show that a value was passed.
inline __half __float2half_rn(float value) {
  unsigned bits;
  std::memcpy(&bits, &value, sizeof bits);
  return {static_cast<unsigned short>(bits >> 16)};
}
