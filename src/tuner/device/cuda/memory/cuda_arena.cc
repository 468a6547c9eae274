// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/device/cuda/memory/cuda_arena.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "base/numbers/rounding.h"

namespace hone {
namespace {

constexpr int64_t kSmallestGap = 256;  // bytes; gaps are random multiples of this
constexpr uint64_t kGapSteps = 16;  // a gap is 1 to 16 times the smallest, plus what alignment needs
constexpr int64_t kMostBytes = int64_t{1} << 50;

}  // namespace

Result<ArenaPlan> PlaceBlocks(const std::vector<BlockRequest>& blocks, uint64_t gap_key) {
  ArenaPlan plan;
  int64_t at = 0;
  for (size_t i = 0; i < blocks.size(); ++i) {
    const BlockRequest& block = blocks[i];
    if (block.bytes < 0 || block.align < 1 || !std::has_single_bit(static_cast<uint64_t>(block.align))) {
      return Status::InvalidArgument(
          fmt::format("block {} asks for {} bytes aligned to {}", i, block.bytes, block.align));
    }
    const int64_t modulus = block.exact_align ? 2 * block.align : block.align;
    plan.base_align = std::max(plan.base_align, modulus);
    const uint64_t steps = 1 + draw::Mix(gap_key + i * 0x9e3779b97f4a7c15ULL) % kGapSteps;
    const int64_t gap_begin = at;
    at += kSmallestGap * static_cast<int64_t>(steps);
    at = RoundUp(at, modulus);
    if (block.exact_align) at += block.align;
    plan.gaps.push_back({gap_begin, at});
    plan.offsets.push_back(at);
    if (block.bytes > kMostBytes - at) {
      return Status::Unavailable(fmt::format("{} bytes of device memory were asked for; no device has that", block.bytes));
    }
    at += block.bytes;
  }
  const int64_t last = at;
  at += kSmallestGap * static_cast<int64_t>(1 + draw::Mix(gap_key ^ 0x6a09e667f3bcc909ULL) % kGapSteps);
  plan.gaps.push_back({last, at});
  plan.bytes = at;
  return plan;
}

std::string DescribeDamage(const ArenaPlan& plan, const std::vector<BlockRequest>& blocks, size_t gap, int64_t offset,
                           int64_t damaged_bytes) {
  const harness::Gap& zone = plan.gaps.at(gap);
  const int64_t past = offset - zone.begin, before = zone.end - offset;
  const std::string bytes = fmt::format("{} byte{} written", damaged_bytes, damaged_bytes == 1 ? "" : "s");
  const bool has_previous = gap > 0, has_next = gap < blocks.size();
  if (has_previous && (!has_next || past <= before)) {
    return fmt::format("{} {} bytes past block {}, which has {} bytes", bytes, past, gap - 1, blocks[gap - 1].bytes);
  }
  if (has_next) return fmt::format("{} {} bytes before block {}", bytes, before, gap);
  return fmt::format("{} in an arena without blocks", bytes);
}

PackedArena::PackedArena(DeviceBlock block, ArenaPlan plan, std::vector<BlockRequest> requests, uint64_t gap_key)
    : block_(std::move(block)), plan_(std::move(plan)), requests_(std::move(requests)), gap_key_(gap_key) {
  base_ = RoundUp(block_.address(), static_cast<uint64_t>(plan_.base_align));
}

}  // namespace hone
