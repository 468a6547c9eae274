// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Models the first-level cache of the simulated GPU: 128-byte lines of four 32-byte sectors; the least recently used
// line is evicted.
//
// The cache is fully associative. A GPU hashes lines over wide sets, so strides hardly ever collide there; and without
// sets, hits do not depend on the addresses of tensors.
#pragma once

#include <cstdint>
#include <vector>

namespace hone::sim {

// Not thread-safe. Copies are independent caches.
class L1Cache {
 public:
  static constexpr uint64_t kLineBytes = 128;  // size of a cache line

  L1Cache() = default;

  // Empties the cache and gives it space for `bytes`, at least one line.
  void Reset(uint64_t bytes);
  // Returns false until Reset; such a cache may not be used.
  bool ready() const { return !lines_.empty(); }

  // Returns how many of `sectors` (bit i: sector i of the line) are not in the cache. Afterwards they are, and the line
  // is the most recently used. `line`: any identifying number of at most 60 bits.
  int CountMissedSectors(uint64_t line, uint8_t sectors);

 private:
  static constexpr uint32_t kNone = ~uint32_t{0};

  struct Line {
    uint64_t name = 0;
    uint32_t newer = kNone, older = kNone;  // in the order of use
    uint32_t chained = kNone;               // the next line of the same bucket
    uint8_t sectors = 0;
  };

  uint32_t& Bucket(uint64_t line);
  void MakeNewest(uint32_t index);
  void Unlink(uint32_t index);

  std::vector<Line> lines_;
  std::vector<uint32_t> buckets_;
  int bucket_shift_ = 63;
  uint32_t used_ = 0, newest_ = kNone, oldest_ = kNone;
};

}  // namespace hone::sim
