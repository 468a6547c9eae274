// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Fills unwritten memory with different contents each time, so that no kernel can rely on them or recognise them.
#pragma once

#include <cstdint>

#include "tuner/values/draw.h"

namespace hone::sim {

// Returns word `at` (8 bytes) of a fill. The key selects the kind: random bytes; NaNs of every floating-point type of
// up to 32 bits; or finite numbers near one, which look like results.
inline uint64_t FillWord(uint64_t key, uint64_t at) {
  const uint64_t random = draw::Mix(key ^ (at + 1) * 0x9e3779b97f4a7c15ULL);
  switch (draw::Mix(key) % 3) {
    case 0: return random;
    case 1: return 0x7fe07fe07fe07fe0ULL | (random & 0x801f801f801f801fULL);
    default: return 0x3c003c003c003c00ULL | (random & 0x83ff83ff83ff83ffULL);
  }
}

}  // namespace hone::sim
