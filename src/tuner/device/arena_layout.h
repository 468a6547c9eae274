// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Places the blocks of an arena and the guard zones between them, for sessions on host memory.
//
// Every byte of an arena that belongs to no block is a guard byte with a value that its key and place determine
// (device/cuda/harness/harness_layout.h: GapByte), so a stray write shows wherever it lands, unless it happens to write what
// was there (one chance in 256 per byte). Any thread; the functions keep no state.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tuner/device/device_session.h"

namespace hone {

struct ArenaLayout {
  struct Range {
    int64_t begin = 0, end = 0;  // bytes from the arena's base
  };
  std::vector<Range> blocks;  // in the order of the requests
  std::vector<Range> gaps;    // ascending; before, between and after the blocks
  int64_t bytes = 0;          // total size
};

// Plans an arena whose base address is a multiple of `base_align` (a power of two, at least 4096 and at least twice the
// largest alignment requested). Alignments are powers of two.
ArenaLayout PlanArena(const std::vector<BlockRequest>& blocks, int64_t base_align = 4096);

void FillGaps(void* base, const ArenaLayout& layout, uint64_t key);

// Implements DeviceSession::CheckGaps: returns the first damage as a sentence, nullopt when there is none, and repairs
// it.
std::optional<std::string> CheckAndRepairGaps(void* base, const ArenaLayout& layout, uint64_t key);

}  // namespace hone
