// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/device/cuda/memory/guarded_arena.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "base/numbers/rounding.h"
#include "tuner/values/draw.h"

namespace hone {
namespace {

constexpr int64_t kLeastSpare = 256;  // bytes that a block's memory has more than the block, at least: the gap, on one
                                      // side or both
constexpr int64_t kMostBlockBytes = int64_t{1} << 50;
constexpr uint64_t kBlockPurpose = 0x9e3779b97f4a7c15ULL, kMovedPurpose = 0x6a09e667f3bcc909ULL;

}  // namespace

ApartPlace PlaceApart(const BlockRequest& block, int64_t granule, uint64_t key) {
  const int64_t align = std::max<int64_t>(block.align, 1);
  const int64_t step = block.exact_align ? 2 * align : align;
  const int64_t first = block.exact_align ? align : 0;
  const int64_t margin = block.mapped_neighbors ? granule : 0;
  ApartPlace place;
  place.memory = RoundUp(block.bytes + std::max(kLeastSpare, step), granule) + 2 * margin;
  // A block may begin at margin + first + step * i, for each i in [0, places).
  const int64_t spare = place.memory - 2 * margin - block.bytes - first;
  const int64_t places = spare / step + 1;
  const uint64_t drawn = draw::Mix(key);
  int64_t chosen = 0;  // a quarter of all keys: the block begins where its memory begins
  if ((drawn & 3) != 0) chosen = (drawn & 3) != 3 ? places - 1 : static_cast<int64_t>((drawn >> 2) % static_cast<uint64_t>(places));
  place.offset = margin + first + step * chosen;
  return place;
}

Result<std::unique_ptr<GuardedArena>> GuardedArena::Make(std::shared_ptr<CudaContext> context,
                                                         const std::vector<BlockRequest>& blocks, uint64_t key) {
  HONE_CHECK(context->virtual_memory() != nullptr, "blocks lie apart in virtual memory only");
  const auto granule = static_cast<int64_t>(context->virtual_memory()->granule());
  std::unique_ptr<GuardedArena> arena(new GuardedArena(context, key));
  for (size_t i = 0; i < blocks.size(); ++i) {
    const BlockRequest& request = blocks[i];
    if (request.bytes < 0 || request.align < 1 || !std::has_single_bit(static_cast<uint64_t>(request.align)) ||
        4 * request.align > granule) {
      return Status::InvalidArgument(fmt::format("block {} asks for {} bytes aligned to {}", i, request.bytes, request.align));
    }
    if (request.bytes > kMostBlockBytes) {
      return Status::Unavailable(fmt::format("{} bytes of device memory were asked for; no device has that", request.bytes));
    }
    const ApartPlace place = PlaceApart(request, granule, draw::Mix(key + i * kBlockPurpose));
    Block block{.request = request, .memory = {}, .seen = 0, .offset = place.offset};
    HONE_ASSIGN_OR_RETURN(block.memory, context->AllocateGranules(place.memory));
    arena->blocks_.push_back(std::move(block));
    HONE_RETURN_IF_ERROR(arena->ShowAt(arena->blocks_.back()));
  }
  arena->FindGaps();
  return arena;
}

GuardedArena::~GuardedArena() {
  if (context_->lost() || !context_->WaitForHarness("work before memory is given back").ok()) return;
  for (Block& block : blocks_) Hide(block);
}

Status GuardedArena::ShowAt(Block& block) {
  Hide(block);
  const Rights rights = block.request.read_only ? Rights::kRead : Rights::kReadWrite;
  const CUresult mapped = context_->virtual_memory()->MapAgain(block.memory.address(), rights, &block.seen);
  HONE_CUDA_RETURN_IF_ERROR(context_->driver(), mapped, "mapping memory for a candidate");
  context_->Show(block.memory.address(), block.memory.bytes(), block.seen);
  return Status::Ok();
}

void GuardedArena::Hide(Block& block) {
  if (block.seen == 0) return;
  context_->Hide(block.memory.address());
  context_->virtual_memory()->Unmap(block.seen);
  block.seen = 0;
}

Status GuardedArena::Rearrange(uint64_t key, int most_moved) {
  if (blocks_.empty()) return Status::Ok();
  const auto granule = static_cast<int64_t>(context_->virtual_memory()->granule());
  for (size_t i = 0; i < blocks_.size(); ++i) {
    blocks_[i].offset = PlaceApart(blocks_[i].request, granule, draw::Mix(key + i * kBlockPurpose)).offset;
  }
  const size_t moved = std::min(blocks_.size(), static_cast<size_t>(std::max(most_moved, 0)));
  const size_t first = draw::Mix(key ^ kMovedPurpose) % blocks_.size();
  // Blocks are in a secret order, so consecutive ones are as good as any.
  move_ = std::make_shared<std::function<Status()>>([this, first, moved]() -> Status {
    for (size_t i = 0; i < moved; ++i) HONE_RETURN_IF_ERROR(ShowAt(blocks_[(first + i) % blocks_.size()]));
    return Status::Ok();
  });
  context_->Defer(move_);
  FindGaps();
  return Status::Ok();
}

uint64_t GuardedArena::address(size_t block) const {
  const Block& guarded_block = blocks_.at(block);
  return guarded_block.memory.address() + static_cast<uint64_t>(guarded_block.offset);
}

// Finds the gaps between the blocks, and which gap lies behind each block.
void GuardedArena::FindGaps() {
  gaps_.clear();
  gap_of_block_.assign(blocks_.size(), 0);
  std::vector<size_t> order(blocks_.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return blocks_[a].memory.address() < blocks_[b].memory.address(); });
  base_ = order.empty() ? 0 : blocks_[order.front()].memory.address();
  for (const size_t i : order) {
    const Block& block = blocks_[i];
    const auto begin = static_cast<int64_t>(block.memory.address() - base_);
    gap_of_block_[i] = gaps_.size();
    gaps_.push_back({begin, begin + block.offset});
    gaps_.push_back({begin + block.offset + block.request.bytes, begin + static_cast<int64_t>(block.memory.bytes())});
  }
}

std::string GuardedArena::Describe(size_t gap, int64_t offset, int64_t damaged_bytes) const {
  const auto owner = std::find_if(gap_of_block_.begin(), gap_of_block_.end(), [&](size_t first) { return first == gap / 2 * 2; });
  const std::string bytes = fmt::format("{} byte{} written", damaged_bytes, damaged_bytes == 1 ? "" : "s");
  const auto block = static_cast<size_t>(owner - gap_of_block_.begin());
  if (gap % 2 == 0) return fmt::format("{} {} bytes before block {}", bytes, gaps_[gap].end - offset, block);
  return fmt::format("{} {} bytes past block {}, which has {} bytes", bytes, offset - gaps_[gap].begin, block,
                     blocks_[block].request.bytes);
}

}  // namespace hone
