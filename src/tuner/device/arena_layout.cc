// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/device/arena_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "base/numbers/rounding.h"
#include "tuner/device/cuda/harness/harness_layout.h"
#include "tuner/values/draw.h"

namespace hone {
namespace {

constexpr int64_t kGapBytes = 256;  // least distance between two blocks, and at both ends

}  // namespace

ArenaLayout PlanArena(const std::vector<BlockRequest>& blocks, int64_t base_align) {
  ArenaLayout layout;
  int64_t at = 0;
  for (const BlockRequest& block : blocks) {
    const int64_t align = std::max<int64_t>(block.align, 1);
    HONE_CHECK(std::has_single_bit(static_cast<uint64_t>(align)) && 2 * align <= base_align && block.bytes >= 0,
               "a block's alignment must be a power of two that the arena's base can carry");
    int64_t begin = RoundUp(at + kGapBytes, align);
    if (block.exact_align && begin % (2 * align) == 0) begin += align;
    layout.gaps.push_back({at, begin});
    layout.blocks.push_back({begin, begin + block.bytes});
    at = begin + block.bytes;
  }
  layout.bytes = RoundUp(at + kGapBytes, kGapBytes);
  layout.gaps.push_back({at, layout.bytes});
  return layout;
}

void FillGaps(void* base, const ArenaLayout& layout, uint64_t key) {
  auto* bytes = static_cast<uint8_t*>(base);
  for (const ArenaLayout::Range& gap : layout.gaps) {
    for (int64_t at = gap.begin; at < gap.end; ++at) bytes[at] = harness::GapByte(key, at);
  }
}

std::optional<std::string> CheckAndRepairGaps(void* base, const ArenaLayout& layout, uint64_t key) {
  auto* bytes = static_cast<uint8_t*>(base);
  std::optional<std::string> found;
  for (size_t i = 0; i < layout.gaps.size(); ++i) {
    const ArenaLayout::Range& gap = layout.gaps[i];
    int64_t damaged = 0, first = 0, last = 0;
    for (int64_t at = gap.begin; at < gap.end; ++at) {
      if (bytes[at] == harness::GapByte(key, at)) continue;
      if (damaged++ == 0) first = at;
      last = at;
      bytes[at] = harness::GapByte(key, at);
    }
    if (damaged == 0 || found) continue;
    // Gap i lies after block i - 1 and before block i; the message names the block nearer to the damage.
    const bool after = i > 0 && (i == layout.blocks.size() || first - gap.begin <= gap.end - 1 - last);
    const std::string amount = damaged == 1 ? "1 byte was" : fmt::format("{} bytes were", damaged);
    found = after ? fmt::format("{} written at offset {} past the end of block {}", amount, first - gap.begin, i - 1)
                  : fmt::format("{} written at offset -{} before block {}", amount, gap.end - last, i);
  }
  return found;
}

}  // namespace hone
