// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Decides which freed blocks of device memory are kept for the next request, and which are given back to the driver.
// Making and mapping a block costs more than a launch, and a verdict asks for the same sizes again and again; but shapes
// drawn at random leave blocks of sizes that never return. So kept blocks and blocks in use together take no more than
// was lately in use at one moment, and blocks of the size that was asked for least often go first.
//
// Does the bookkeeping alone and calls no driver: callers free what it returns. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace hone {

class KeptMemory {
 public:
  struct Block {
    uint64_t address = 0;
    size_t bytes = 0;
  };
  // Total of blocks in use and kept blocks that is always allowed.
  static constexpr size_t kLeastTotal = size_t{512} << 20;
  // Length of a period, in requests, after which an earlier peak begins to be forgotten: some verdicts.
  static constexpr uint64_t kRequestsRemembered = 4096;

  // `most_kept`: limit of kept bytes, whatever was in use.
  explicit KeptMemory(size_t most_kept) : most_kept_(most_kept) {}

  // Takes a kept block of `least` to `most` bytes into use; nullopt when there is none.
  std::optional<Block> Take(size_t least, size_t most);
  // Returns the kept blocks that must be freed before a new block of `bytes` is made, and forgets them.
  std::vector<uint64_t> MakeRoom(size_t bytes);
  // Records a new block in use.
  void NoteAllocation(uint64_t address, size_t bytes);
  // Keeps a block that is no longer in use. Returns the blocks that must be freed, possibly itself, and forgets them.
  std::vector<uint64_t> Keep(uint64_t address);
  // Forgets all kept blocks, which must be freed, and returns them.
  std::vector<uint64_t> ForgetKept();

  size_t kept_bytes() const { return kept_bytes_; }
  size_t used_bytes() const { return used_bytes_; }

 private:
  struct Known {
    size_t bytes = 0;
    uint64_t last = 0;  // number of the request at which the block was given out or kept
  };
  size_t MostTotal() const;
  void NoteUse(size_t bytes);
  // Forgets kept blocks, least useful first, until used + kept + `extra_bytes` <= `most_total_bytes` and
  // kept <= `most_kept_bytes`, and returns their addresses.
  std::vector<uint64_t> Shrink(size_t most_total_bytes, size_t most_kept_bytes, size_t extra_bytes);

  size_t most_kept_;
  std::map<uint64_t, Known> in_use_, kept_;       // keyed by address
  std::multimap<size_t, uint64_t> kept_by_size_;  // addresses of kept_
  size_t used_bytes_ = 0, kept_bytes_ = 0;
  size_t peak_ = 0, earlier_peak_ = 0;  // most bytes in use at one moment, in this period and in the one before
  std::map<size_t, uint64_t> asked_;    // by size in bytes: how often a block was given out; halved after each period
  uint64_t requests_ = 0;
};

}  // namespace hone
