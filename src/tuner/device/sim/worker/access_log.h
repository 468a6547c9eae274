// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Combines the accesses of a warp's lanes into warp-wide accesses.
//
// The simulator runs the lanes of a warp one after another, a GPU runs them side by side: what one load instruction
// costs depends on the 32 addresses together. Each lane therefore writes a log of (instruction, address) while it
// runs, and when the whole warp has stopped (at a barrier, a shuffle, the end) the logs are read in lockstep. Lanes
// that took different branches are matched as a GPU would converge them: the earliest instruction in the program goes
// first, together with every lane that stands at it.
//
// A log has a fixed size. A lane's further accesses before the next stop are only counted, and the counters are scaled
// up (access_counters.h): a loop's first two thousand accesses represent the rest.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "tuner/device/sim/sim_layout.h"
#include "tuner/device/sim/worker/zeroed_array.h"

namespace hone::sim {

class AccessLog {
 public:
  static constexpr size_t kCapacity = 2048;      // entries a lane
  static constexpr int kCodeShift = 45;
  static constexpr uint64_t kSharedBit = uint64_t{1} << 44;
  static constexpr uint64_t kOffsetMask = kSharedBit - 1;

  AccessLog() : entries_(kWarpSize * kStride) { Clear(); }

  // An instruction's number is its position in the program: (return address - start of the text) / 4. Numbers are
  // unique, since a call takes five bytes, and have the program's order.
  static constexpr uint64_t kMaxCode = (uint64_t{1} << (64 - kCodeShift)) - 1;
  // Packs an entry. `offset` counts from kGlobalBase, or into shared memory with kSharedBit.
  static uint64_t Entry(uint64_t code, uint64_t offset) { return code << kCodeShift | offset; }

  // A lane appends at its cursor while below its limit; the runtime keeps the cursor in a register-like place while
  // the lane runs.
  uint64_t* cursor(int lane) const { return cursor_[static_cast<size_t>(lane)]; }
  uint64_t* limit(int lane) { return begin(lane) + kCapacity; }
  void set_cursor(int lane, uint64_t* cursor) { cursor_[static_cast<size_t>(lane)] = cursor; }

  bool empty() const { return !dirty_; }
  void MarkDirty() { dirty_ = true; }

  // Calls group(code, offsets, lanes) for every warp-wide access, `offsets` being the `lanes` entries' offsets with
  // kSharedBit, in lane order. Then the log is empty.
  template <typename Group>
  void Drain(Group&& group) {
    uint64_t offsets[kWarpSize];
    std::array<uint64_t*, kWarpSize> at;
    std::array<int, kWarpSize> lanes;
    int count = 0;
    for (int lane = 0; lane < kWarpSize; ++lane) {
      if (cursor(lane) == begin(lane)) continue;
      at[static_cast<size_t>(count)] = begin(lane);
      lanes[static_cast<size_t>(count++)] = lane;
    }
    while (count > 0) {
      // Fast path: all lanes are at the same instruction.
      const uint64_t first = *at[0];
      uint64_t different = 0;
      for (int i = 0; i < count; ++i) {
        const uint64_t entry = *at[static_cast<size_t>(i)];
        different |= entry ^ first;
        offsets[i] = entry & (kSharedBit | kOffsetMask);
      }
      bool ended = false;
      if (different >> (kCodeShift - 1) == 0) [[likely]] {
        group(first >> kCodeShift, offsets, count);
        for (int i = 0; i < count; ++i) {
          ended |= ++at[static_cast<size_t>(i)] == cursor(lanes[static_cast<size_t>(i)]);
        }
      } else {
        uint64_t least = ~uint64_t{0};
        for (int i = 0; i < count; ++i) least = std::min(least, *at[static_cast<size_t>(i)] >> (kCodeShift - 1));
        int here = 0;
        for (int i = 0; i < count; ++i) {
          const uint64_t entry = *at[static_cast<size_t>(i)];
          if (entry >> (kCodeShift - 1) != least) continue;
          offsets[here++] = entry & (kSharedBit | kOffsetMask);
          ended |= ++at[static_cast<size_t>(i)] == cursor(lanes[static_cast<size_t>(i)]);
        }
        group(least >> 1, offsets, here);
      }
      if (ended) [[unlikely]] {
        int left = 0;
        for (int i = 0; i < count; ++i) {
          if (at[static_cast<size_t>(i)] == cursor(lanes[static_cast<size_t>(i)])) continue;
          at[static_cast<size_t>(left)] = at[static_cast<size_t>(i)];
          lanes[static_cast<size_t>(left++)] = lanes[static_cast<size_t>(i)];
        }
        count = left;
      }
    }
    Clear();
  }

  void Clear() {
    for (int lane = 0; lane < kWarpSize; ++lane) cursor_[static_cast<size_t>(lane)] = begin(lane);
    dirty_ = false;
  }

 private:
  // A little more than a power of two, so that the lanes' cursors do not share one set of the host's cache.
  static constexpr size_t kStride = kCapacity + 8;

  uint64_t* begin(int lane) { return entries_.data() + static_cast<size_t>(lane) * kStride; }
  const uint64_t* begin(int lane) const { return entries_.data() + static_cast<size_t>(lane) * kStride; }

  ZeroedArray<uint64_t> entries_;
  std::array<uint64_t*, kWarpSize> cursor_{};
  bool dirty_ = false;
};

}  // namespace hone::sim
