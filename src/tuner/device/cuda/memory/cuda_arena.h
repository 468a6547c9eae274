// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Provides blocks of device memory with guard zones around them. PackedArena cuts them from one allocation.
//
// Every byte of the allocation that is in no block belongs to a gap and carries a keyed pattern, so that a stray write
// next to a block shows whatever its distance. Gap sizes vary with the key: a candidate cannot learn from one run the
// distance of a neighbour in the next. (guarded_arena.h has the other kind of arena.)
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tuner/device/cuda/cuda_context.h"
#include "tuner/device/cuda/harness/harness_layout.h"
#include "tuner/device/device_session.h"

namespace hone {

// An arena with access to its guard zones, for the harness.
class CudaArena : public Arena {
 public:
  // Returns the address from which gaps are counted, in bytes.
  virtual uint64_t base() const = 0;
  // Returns the gaps in ascending order.
  virtual const std::vector<harness::Gap>& gaps() const = 0;
  virtual uint64_t gap_key() const = 0;
  // Returns "12 bytes written 40 bytes past block 3": `offset` is a byte of gap number `gap`, named by its distance
  // from the nearer block.
  virtual std::string Describe(size_t gap, int64_t offset, int64_t damaged_bytes) const = 0;
};

// Positions of blocks and gaps, as offsets from an address that is a multiple of `base_align`.
struct ArenaPlan {
  int64_t base_align = 512;
  int64_t bytes = 0;                    // total size, last gap included
  std::vector<int64_t> offsets;         // per block
  std::vector<harness::Gap> gaps;       // blocks.size() + 1, in order
};

// Places `blocks` and gaps. Pure. kInvalidArgument for a negative size or an alignment that is not a power of two;
// kUnavailable for a total that no device has.
Result<ArenaPlan> PlaceBlocks(const std::vector<BlockRequest>& blocks, uint64_t gap_key);

// Returns "12 bytes written 40 bytes past block 3": `offset` is a byte of gap number `gap`, named by its distance from
// the nearer block.
std::string DescribeDamage(const ArenaPlan& plan, const std::vector<BlockRequest>& blocks, size_t gap, int64_t offset,
                           int64_t damaged_bytes);

class PackedArena : public CudaArena {
 public:
  // `block` has at least plan.bytes + plan.base_align bytes.
  PackedArena(DeviceBlock block, ArenaPlan plan, std::vector<BlockRequest> requests, uint64_t gap_key);

  uint64_t address(size_t block) const override { return base_ + static_cast<uint64_t>(plan_.offsets.at(block)); }
  size_t blocks() const override { return plan_.offsets.size(); }

  uint64_t base() const override { return base_; }
  const std::vector<harness::Gap>& gaps() const override { return plan_.gaps; }
  uint64_t gap_key() const override { return gap_key_; }
  std::string Describe(size_t gap, int64_t offset, int64_t damaged_bytes) const override {
    return DescribeDamage(plan_, requests_, gap, offset, damaged_bytes);
  }

 private:
  DeviceBlock block_;
  ArenaPlan plan_;
  std::vector<BlockRequest> requests_;
  uint64_t gap_key_;
  uint64_t base_;
};

}  // namespace hone
