// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Remembers which block of a launch last wrote each byte of global memory, so that a block that reads what another one
// has written can be found: nothing orders the two, unless the reader has met atomics, volatile accesses or a barrier
// of the grid before.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "tuner/device/sim/worker/launch_types.h"
#include "tuner/device/sim/worker/zeroed_array.h"

namespace hone::sim {

// Shared by all OS threads of a launch.
class BlockOwners {
 public:
  explicit BlockOwners(const std::vector<BoundRange>& ranges) {
    for (const BoundRange& range : ranges) {
      parts_.push_back({range.begin, ZeroedArray<uint32_t>(range.writable ? range.end - range.begin : 0)});
    }
  }

  // Returns the number of the block that wrote the byte last, plus one; 0 if none has in this launch. `range`: its
  // number in the launch's ranges, which is writable.
  uint32_t Owner(int range, uint64_t address) { return At(range, address).load(std::memory_order_relaxed); }
  void Own(int range, uint64_t address, uint64_t bytes, uint64_t block) {
    for (uint64_t i = 0; i < bytes; ++i)
      At(range, address + i).store(static_cast<uint32_t>(block + 1), std::memory_order_relaxed);
  }

 private:
  struct Part {
    uint64_t begin = 0;
    ZeroedArray<uint32_t> blocks;
  };
  std::atomic_ref<uint32_t> At(int range, uint64_t address) {
    Part& part = parts_[static_cast<size_t>(range)];
    return std::atomic_ref<uint32_t>(part.blocks[address - part.begin]);
  }

  std::vector<Part> parts_;
};

}  // namespace hone::sim
