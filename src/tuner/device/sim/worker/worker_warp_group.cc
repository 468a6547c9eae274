// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements what wgmma asks of a thread: whole warp groups, fences, and shared memory that stays as it is until the
// wait. The products themselves are in sim/cuda/detail/wgmma.h; they are made at once, from what memory holds when the
// instruction is issued, and a later write that the tensor cores might still see is reported.
#include <fmt/format.h>

#include <cstring>

#include "tuner/device/sim/worker/worker.h"

namespace hone::sim {

void Worker::BeginGroupProduct(uint64_t pc) {
  if (block->threads() % 128 != 0) {
    End(LaunchEnd::kCrashed, "warp_group",
        fmt::format("wgmma at {{0}} is an instruction of whole warp groups, 128 threads, and the block has {}",
                    block->threads()),
        {pc});
  }
  if (!fiber->group_fenced) {
    End(LaunchEnd::kCrashed, "warp_group",
        fmt::format("{} multiplies by wgmma at {{0}} and has executed no wgmma.fence before", WhereText()), {pc});
  }
}

void Worker::ReadForGroup(uint64_t address, uint64_t pc) {
  constexpr uint32_t kBytes = 16;
  const uint64_t offset = address - shared_begin, end = offset + kBytes;
  if (offset >= shared_bytes || (end > static_shared && (offset < dynamic_begin || end > dynamic_end))) {
    OutOfBounds(pc, address, kBytes, /*writes=*/false);
  }
  Site* const site = counters.Find(pc);
  if (site == nullptr) return;
  const uint32_t at = static_cast<uint32_t>(offset);
  fiber->ran = true;
  if (block->shadow.RecordAccess<false, true>(at, kBytes, self, Ordering::kPlain, site->id, block->order)) {
    SharedConflictFound(pc, at, kBytes, /*writes=*/false);
  }
  const int writer = block->shadow.UnseenByAsyncProxy(at, self, block->order);
  if (writer >= 0) {
    Note(
        "shared_race",
        fmt::format("{} reads shared memory + {} bytes by wgmma at {{0}}; {} has written it, with no fence.proxy.async "
                    "between",
                    WhereText(), at, ThreadText(writer)),
        {pc});
  }
  CopyInFlight asynchronous_read{reinterpret_cast<void*>(address), kBytes, /*committed=*/false, pc, {}};
  std::memcpy(asynchronous_read.data, asynchronous_read.destination, kBytes);
  fiber->group_reads->push_back(asynchronous_read);
}

void Worker::FinishGroupReads(Fiber& f, uint32_t groups_left) {
  std::vector<CopyInFlight>& reads = *f.group_reads;
  uint32_t groups = 0;
  for (const CopyInFlight& asynchronous_read : reads) groups += asynchronous_read.committed;
  size_t done = 0;
  for (; done < reads.size() && groups > groups_left; ++done) {
    const CopyInFlight& asynchronous_read = reads[done];
    groups -= asynchronous_read.committed;
    if (asynchronous_read.bytes == 0) continue;
    const uint32_t offset =
        static_cast<uint32_t>(reinterpret_cast<uint64_t>(asynchronous_read.destination) - shared_begin);
    // The read lasts until now. A write that is not ordered before this point races with it; an ordered write may have
    // come too early.
    if (block->shadow.RecordAccess<false, true>(offset, asynchronous_read.bytes, f.thread, Ordering::kPlain,
                                                counters.Find(asynchronous_read.pc)->id, block->order)) {
      SharedConflictFound(asynchronous_read.pc, offset, asynchronous_read.bytes, /*writes=*/false);
    } else if (std::memcmp(asynchronous_read.destination, asynchronous_read.data, asynchronous_read.bytes) != 0) {
      Note("shared_race",
           fmt::format("shared memory + {} bytes, which {} reads by wgmma at {{0}}, is written before wgmma.wait_group",
                       offset, ThreadText(f.thread)),
           {asynchronous_read.pc});
    }
  }
  reads.erase(reads.begin(), reads.begin() + static_cast<ptrdiff_t>(done));
}

void Worker::GroupNotWaitedFor() {
  End(LaunchEnd::kCrashed, "warp_group",
      fmt::format("{} ends without wgmma.wait_group for its wgmma at {{0}}", WhereText()),
      {fiber->group_reads->front().pc});
}

}  // namespace hone::sim
