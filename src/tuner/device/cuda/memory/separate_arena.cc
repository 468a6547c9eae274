// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/device/cuda/memory/separate_arena.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace hone {
namespace {

constexpr int64_t kDriverAlignment = 256;  // bytes; the driver aligns allocations to this or better

}  // namespace

Result<std::unique_ptr<SeparateArena>> SeparateArena::Make(std::shared_ptr<CudaContext> context,
                                                           const std::vector<BlockRequest>& blocks) {
  std::unique_ptr<SeparateArena> arena(new SeparateArena(std::move(context)));
  for (size_t i = 0; i < blocks.size(); ++i) {
    const BlockRequest& block = blocks[i];
    if (block.bytes < 0 || block.align < 1 || !std::has_single_bit(static_cast<uint64_t>(block.align)) ||
        block.align > kDriverAlignment || block.exact_align) {
      return Status::InvalidArgument(fmt::format("block {} asks for {} bytes aligned to {}{}", i, block.bytes, block.align,
                                                 block.exact_align ? " and no better" : ""));
    }
    CUdeviceptr address = 0;
    const CUresult allocation_result =
        arena->context_->driver().MemAlloc(&address, static_cast<size_t>(std::max<int64_t>(block.bytes, 1)));
    if (allocation_result == CUDA_ERROR_OUT_OF_MEMORY) {
      return Status::Unavailable(fmt::format("{} bytes of device memory were asked for and about {} are free", block.bytes,
                                             arena->context_->FreeBytes()));
    }
    HONE_CUDA_RETURN_IF_ERROR(arena->context_->driver(), allocation_result,
                              fmt::format("allocating {} bytes of device memory", block.bytes));
    arena->addresses_.push_back(address);
  }
  return arena;
}

SeparateArena::~SeparateArena() {
  if (context_->lost()) return;
  for (const CUdeviceptr address : addresses_) context_->driver().MemFree(address);
}

}  // namespace hone
