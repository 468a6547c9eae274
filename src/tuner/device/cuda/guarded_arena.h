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

#include "tuner/device/cuda/cuda_arena.h"

namespace hone {

// Offset of one block in its memory, and the size of this memory.
struct ApartPlace {
  int64_t offset = 0;
  int64_t memory = 0;  // a multiple of the granule
};
// Chooses, by `key`, among the places that the request allows. Pure. `align` of the request must be below half a
// granule.
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
    CUdeviceptr seen = 0;  // address of the whole memory for candidates
    int64_t offset = 0;
  };
  GuardedArena(std::shared_ptr<CudaContext> context, uint64_t key) : context_(std::move(context)), key_(key) {}
  Status ShowAt(Block& block);  // maps a new address for candidates in place of the old one
  void Hide(Block& block);
  void FindGaps();

  std::shared_ptr<CudaContext> context_;
  uint64_t key_;
  std::shared_ptr<std::function<Status()>> move_;  // work that the context does later
  std::vector<Block> blocks_;
  std::vector<harness::Gap> gaps_;
  std::vector<size_t> gap_of_block_;  // number of the gap before each block; the gap after it is the next
  uint64_t base_ = 0;
};

}  // namespace hone
