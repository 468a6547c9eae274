// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements cp.async: copies that a thread has begun and not yet waited for.
#include <cstring>

#include "tuner/device/sim/worker/worker.h"

namespace hone::sim {

void Worker::FinishCopies(Fiber& f, uint32_t groups_left, bool uncommitted_too) {
  if (f.copies->empty()) return;
  std::vector<CopyInFlight>& copies = *f.copies;
  // Copies of one group are adjacent; an entry without bytes, marked committed, ends the group.
  uint32_t groups = 0;
  for (const CopyInFlight& copy : copies) groups += copy.committed;
  size_t done = 0;
  while (done < copies.size() && (groups > groups_left || uncommitted_too)) {
    CopyInFlight& copy = copies[done];
    if (copy.bytes > 0) {
      std::memcpy(copy.destination, copy.data, copy.bytes);
      const uint64_t offset = reinterpret_cast<uint64_t>(copy.destination) - shared_begin;
      Site* site = counters.Find(copy.pc);
      if (site != nullptr &&
          block->shadow.RecordAccess<true, false>(static_cast<uint32_t>(offset), copy.bytes, f.thread, Ordering::kPlain,
                                           site->id, block->order)) {
        SharedConflictFound(copy.pc, static_cast<uint32_t>(offset), copy.bytes, /*writes=*/true);
      }
    }
    groups -= copy.committed;
    ++done;
  }
  copies.erase(copies.begin(), copies.begin() + static_cast<ptrdiff_t>(done));
}

}  // namespace hone::sim
