// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// What memory holds that nobody has written: something else each time, so that no kernel can count on it or know it again.
#pragma once

#include <cstdint>

#include "tuner/core/draw.h"

namespace hone::sim {

// Word `at` (8 bytes) of a fill. The key says of which kind it is: random bytes; NaNs of every floating-point type of up to
// 32 bits; finite numbers near one, which pass for results.
inline uint64_t FillWord(uint64_t key, uint64_t at) {
  const uint64_t random = draw::Mix(key ^ (at + 1) * 0x9e3779b97f4a7c15ULL);
  switch (draw::Mix(key) % 3) {
    case 0: return random;
    case 1: return 0x7fe07fe07fe07fe0ULL | (random & 0x801f801f801f801fULL);
    default: return 0x3c003c003c003c00ULL | (random & 0x83ff83ff83ff83ffULL);
  }
}

}  // namespace hone::sim
