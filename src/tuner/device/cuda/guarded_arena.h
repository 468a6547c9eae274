// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Blocks that lie apart: each in memory of its own, which the judge reads and writes at one secret address and a
// candidate is shown at another, with nothing mapped beside it and, for inputs, without the right to write.
//
// In half of all arrangements a block ends where its memory ends, as nearly as its alignment allows, so that an access past
// its end faults; in a quarter it begins where the memory begins, and in the others anywhere. What is left of the memory is
// a gap on either side, with the pattern of all gaps.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tuner/device/cuda/cuda_arena.h"

namespace hone {

// Where one block begins in its memory, and how much memory that is.
struct ApartPlace {
  int64_t offset = 0;
  int64_t memory = 0;  // a multiple of the granule
};
// Pure. `key` chooses among the places that the request allows. `align` of the request: below half a granule.
ApartPlace PlaceApart(const BlockRequest& block, int64_t granule, uint64_t key);

class GuardedArena : public CudaArena {
 public:
  // kInvalidArgument for a negative size or an alignment that is no power of two; kUnavailable when the device has not
  // so much memory. `key`: secret. The context must have virtual memory.
  static Result<std::unique_ptr<GuardedArena>> Make(std::shared_ptr<CudaContext> context,
                                                    const std::vector<BlockRequest>& blocks, uint64_t key);
  ~GuardedArena() override;

  // Other places for all blocks, and other addresses for `most_moved` of them, chosen by `key`. Contents are lost, gaps are to
  // be filled again. Mapping costs the host 100 to 200 us each: candidates are shown the other addresses from the context's
  // next RunDeferred on.
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
    CUdeviceptr seen = 0;  // the whole memory, as candidates see it
    int64_t offset = 0;
  };
  GuardedArena(std::shared_ptr<CudaContext> context, uint64_t key) : context_(std::move(context)), key_(key) {}
  Status ShowAt(Block& block);  // a new address, in the place of the one it had
  void Hide(Block& block);
  void FindGaps();

  std::shared_ptr<CudaContext> context_;
  uint64_t key_;
  std::shared_ptr<std::function<Status()>> move_;  // what the context is to do later
  std::vector<Block> blocks_;
  std::vector<harness::Gap> gaps_;
  std::vector<size_t> gap_of_block_;  // the gap before a block; the one after it follows
  uint64_t base_ = 0;
};

}  // namespace hone
