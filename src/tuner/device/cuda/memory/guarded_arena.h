// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Provides an arena whose blocks lie apart, each in memory of its own. The judge reads and writes a block at one secret
// address; a candidate sees it at another, with nothing mapped beside it and, for inputs, without the right to write.
//
// In half of all arrangements a block ends where its memory ends, as nearly as its alignment allows, so that an access
// past its end faults; in a quarter it begins where the memory begins, and in the others anywhere. The rest of the
// memory is a gap on either side, with the usual pattern.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tuner/device/cuda/memory/cuda_arena.h"

namespace hone {

// The place of one block in memory of its own.
struct ApartPlace {
  int64_t offset = 0;  // bytes from the start of the memory to the block
  int64_t memory = 0;  // size in bytes, a multiple of the granule
};
// Chooses by `key` among the places that the request allows. Pure. The request's `align` must be below half of
// `granule` (bytes).
ApartPlace PlaceApart(const BlockRequest& block, int64_t granule, uint64_t key);

class GuardedArena : public CudaArena {
 public:
  // Makes an arena. kInvalidArgument for a negative size or an alignment that is not a power of two; kUnavailable when
  // the device does not have enough memory. `key`: secret. The context must have virtual memory.
  static Result<std::unique_ptr<GuardedArena>> Make(std::shared_ptr<CudaContext> context,
                                                    const std::vector<BlockRequest>& blocks, uint64_t key);
  ~GuardedArena() override;

  // Moves all blocks to other places, and `most_moved` of them to other addresses, chosen by `key`. Contents are lost,
  // and gaps must be filled again. Mapping costs the host 100 to 200 us per block: candidates see the new addresses
  // only after the context's next RunDeferred.
  Status Rearrange(uint64_t key, int most_moved);

  uint64_t address(size_t block) const override;
  size_t blocks() const override { return blocks_.size(); }
  uint64_t base() const override { return base_; }
  const std::vector<harness::Gap>& gaps() const override { return gaps_; }
  uint64_t gap_key() const override { return key_; }
  std::string Describe(size_t gap, int64_t offset, int64_t damaged_bytes) const override;

 private:
  struct Block {
    BlockRequest request;
    DeviceBlock memory;
    CUdeviceptr seen = 0;  // address at which candidates see the start of `memory`; 0: not mapped for them
    int64_t offset = 0;
  };
  GuardedArena(std::shared_ptr<CudaContext> context, uint64_t key) : context_(std::move(context)), key_(key) {}
  Status ShowAt(Block& block);  // maps the block for candidates at a new address instead of the old one
  void Hide(Block& block);
  // Finds the gaps between the blocks, and which gap lies behind each block.
  void FindGaps();

  std::shared_ptr<CudaContext> context_;
  uint64_t key_;
  std::shared_ptr<std::function<Status()>> move_;  // the remaining work of Rearrange, for CudaContext::RunDeferred
  std::vector<Block> blocks_;
  std::vector<harness::Gap> gaps_;
  std::vector<size_t> gap_of_block_;  // indexed by block: number of the gap before it; the gap after it is the next
  uint64_t base_ = 0;
};

}  // namespace hone
