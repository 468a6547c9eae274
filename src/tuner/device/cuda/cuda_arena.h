// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Blocks of device memory with guard zones around them, cut from one allocation.
//
// Every byte of the allocation that is in no block belongs to a gap and carries a keyed pattern, so that a
// stray write next to a block shows whatever its distance. Gap sizes vary with the key: a candidate cannot
// learn from one run where a neighbour lies in the next.
#pragma once

#include <cstdint>
#include <vector>

#include "tuner/device/cuda/cuda_context.h"
#include "tuner/device/cuda/harness_layout.h"
#include "tuner/device/device_session.h"

namespace hone {

// Where blocks and gaps lie, as offsets from an address that is a multiple of `base_align`.
struct ArenaPlan {
  int64_t base_align = 512;
  int64_t bytes = 0;                    // all of it, last gap included
  std::vector<int64_t> offsets;         // per block
  std::vector<harness::Gap> gaps;       // blocks.size() + 1, in order
};

// Gaps and offsets for `blocks`. Pure. kInvalidArgument for a negative size or an alignment that is no power of two; kUnavailable for a total
// no device has.
Result<ArenaPlan> PlaceBlocks(const std::vector<BlockRequest>& blocks, uint64_t gap_key);

// "12 bytes written 40 bytes past block 3": says where `offset` (in gap number `gap`) lies relative to its neighbours.
std::string DescribeDamage(const ArenaPlan& plan, const std::vector<BlockRequest>& blocks, size_t gap, int64_t offset,
                           int64_t damaged_bytes);

class CudaArena : public Arena {
 public:
  // `block` holds at least plan.bytes + plan.base_align bytes.
  CudaArena(DeviceBlock block, ArenaPlan plan, std::vector<BlockRequest> requests, uint64_t gap_key);

  uint64_t address(size_t block) const override { return base_ + static_cast<uint64_t>(plan_.offsets.at(block)); }
  size_t blocks() const override { return plan_.offsets.size(); }

  uint64_t base() const { return base_; }
  const ArenaPlan& plan() const { return plan_; }
  const std::vector<BlockRequest>& requests() const { return requests_; }
  uint64_t gap_key() const { return gap_key_; }

 private:
  DeviceBlock block_;
  ArenaPlan plan_;
  std::vector<BlockRequest> requests_;
  uint64_t gap_key_;
  uint64_t base_;
};

}  // namespace hone
