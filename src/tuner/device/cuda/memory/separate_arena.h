// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Provides an arena whose blocks are allocations of the driver, each with exactly the bytes that were asked for. A
// memory checker that watches the process (CudaSessionOptions::watched) then sees every access beside a block. There are
// no gaps.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tuner/device/cuda/memory/cuda_arena.h"

namespace hone {

class SeparateArena : public CudaArena {
 public:
  // Makes an arena. kInvalidArgument for a negative size, an alignment that is not a power of two, or one that no
  // allocation has (more than 256 bytes, or `exact_align`); kUnavailable when the device does not have enough memory.
  static Result<std::unique_ptr<SeparateArena>> Make(std::shared_ptr<CudaContext> context, const std::vector<BlockRequest>& blocks);
  ~SeparateArena() override;

  uint64_t address(size_t block) const override { return addresses_.at(block); }
  size_t blocks() const override { return addresses_.size(); }
  uint64_t base() const override { return 0; }
  const std::vector<harness::Gap>& gaps() const override { return gaps_; }
  uint64_t gap_key() const override { return 0; }
  std::string Describe(size_t, int64_t, int64_t) const override { return "nothing: this memory has no gaps"; }

 private:
  explicit SeparateArena(std::shared_ptr<CudaContext> context) : context_(std::move(context)) {}

  std::shared_ptr<CudaContext> context_;
  std::vector<CUdeviceptr> addresses_;
  std::vector<harness::Gap> gaps_;  // empty
};

}  // namespace hone
