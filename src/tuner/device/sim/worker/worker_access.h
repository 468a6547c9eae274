// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Handles every observed access: determines the memory, checks legality and order, and counts the cost.
//
// This is the simulator's inner loop: tens of millions of calls a second. Rare cases are out of line in worker.cc. The
// rest is inlined into each hook, where the size is a constant.
#pragma once

#include <cstring>

#include "tuner/device/sim/worker/worker.h"

namespace hone::sim {

inline uint32_t UnwrittenMask(uint64_t address, uint64_t bytes) {
  return ((1u << bytes) - 1) << (address & 7);
}

// Returns whether any of `bytes` (at most 16) has no defined value.
inline bool AnyUnwritten(uint64_t address, uint64_t bytes) {
  uint32_t bits;
  std::memcpy(&bits, reinterpret_cast<const void*>(UnwrittenByte(address)), sizeof bits);
  return (bits & UnwrittenMask(address, bytes)) != 0;
}

// Clears bits one byte of the map at a time; atomically, since another block may own its neighbour bits.
inline void MarkWritten(uint64_t address, uint64_t bytes) {
  uint32_t mask = UnwrittenMask(address, bytes);
  uint8_t* at = reinterpret_cast<uint8_t*>(UnwrittenByte(address));
  for (; mask != 0; mask >>= 8, ++at) {
    const uint8_t part = static_cast<uint8_t>(mask);
    if (part == 0xff) {
      std::atomic_ref<uint8_t>(*at).store(0, std::memory_order_relaxed);
    } else if (*at & part) {
      std::atomic_ref<uint8_t>(*at).fetch_and(static_cast<uint8_t>(~part), std::memory_order_relaxed);
    }
  }
}

template <bool kWrites, bool kReads, Ordering kOrdering>
[[gnu::always_inline]] inline void GlobalAccess(Worker& worker, uint64_t address, uint64_t bytes, uint64_t pc) {
  Site* found = worker.counters.Find(pc);
  if (found == nullptr) [[unlikely]] return;  // not the image's code: the runtime itself
  Site& site = *found;
  if (address < site.low || address + bytes > site.high) [[unlikely]] {
    if (!worker.SetRange(site, address, bytes)) worker.OutOfBounds(pc, address, bytes, kWrites);
    site.bytes = static_cast<uint8_t>(bytes);
    site.writes = kWrites;
    site.atomic = kOrdering == Ordering::kAtomic;
  }
  ++site.total;
  if (kOrdering == Ordering::kAtomic && kWrites) worker.launch->incomplete.store(true, std::memory_order_relaxed);
  if (site.sparse) {
    worker.SparseAccess(site, address, bytes, kReads, kWrites);
  } else if (site.may_be_unwritten) {
    // One load of the map answers both questions.
    if (AnyUnwritten(address, bytes)) {
      if (kReads) worker.UnwrittenGlobal(site, address, bytes);
      if (kWrites) MarkWritten(address, bytes);
    }
  }
  if (site.owned) worker.OwnedAccess(site, address, bytes, kReads, kWrites, kOrdering);
  if (kWrites) {
    worker.fiber->ran = true;
    if (!site.writable) [[unlikely]] worker.InputWritten(site, address);
  }
  if (worker.log_cursor != worker.log_limit) [[likely]] {
    *worker.log_cursor++ = AccessLog::Entry(worker.counters.Code(site), address - kGlobalBase);
  } else {
    worker.LogFull(site, address - kGlobalBase);
  }
}

template <bool kWrites, bool kReads, Ordering kOrdering>
[[gnu::always_inline]] inline void SharedAccess(Worker& worker, uint64_t offset, uint64_t bytes, uint64_t pc) {
  const uint64_t end = offset + bytes;
  if (end > worker.static_shared && (offset < worker.dynamic_begin || end > worker.dynamic_end)) [[unlikely]] {
    worker.OutOfBounds(pc, worker.shared_begin + offset, bytes, kWrites);
  }
  Site* found = worker.counters.Find(pc);
  if (found == nullptr) [[unlikely]] return;
  Site& site = *found;
  if (site.total++ == 0) [[unlikely]] {
    site.bytes = static_cast<uint8_t>(bytes);
    site.writes = kWrites;
    site.atomic = kOrdering == Ordering::kAtomic;
    site.ignored = worker.IsGuard(static_cast<uint32_t>(offset));
  }
  if (site.ignored) [[unlikely]] {
    site.total = 1;
    return;
  }
  worker.fiber->ran = true;
  if (worker.block->shadow.RecordAccess<kWrites, kReads>(static_cast<uint32_t>(offset), static_cast<uint32_t>(bytes),
                                                         worker.self, kOrdering, site.id, worker.block->order))
      [[unlikely]] {
    worker.SharedConflictFound(pc, static_cast<uint32_t>(offset), static_cast<uint32_t>(bytes), kWrites);
  }
  if (worker.log_cursor != worker.log_limit) [[likely]] {
    *worker.log_cursor++ = AccessLog::Entry(worker.counters.Code(site), offset | AccessLog::kSharedBit);
  } else {
    worker.LogFull(site, offset | AccessLog::kSharedBit);
  }
}

// `bytes` is 1, 2, 4, 8 or 16 and, when kAligned, must divide the address.
template <bool kWrites, bool kReads, Ordering kOrdering, bool kAligned>
[[gnu::always_inline]] inline void Access(uint64_t address, uint64_t bytes, uint64_t pc) {
  Worker* const worker = current_worker;
  if (worker == nullptr) [[unlikely]] return;
  const bool global = address - kGlobalBase < kGlobalSpan;
  if (global || address - worker->shared_begin < worker->shared_bytes) {
    if (kAligned && (address & (bytes - 1)) != 0) [[unlikely]] worker->Misaligned(pc, address, bytes, kWrites);
    if (global) {
      GlobalAccess<kWrites, kReads, kOrdering>(*worker, address, bytes, pc);
    } else {
      SharedAccess<kWrites, kReads, kOrdering>(*worker, address - worker->shared_begin, bytes, pc);
    }
  } else if (address - worker->stack_begin >= (kWrites ? worker->stack_write_bytes : worker->stack_bytes))
      [[unlikely]] {
    worker->OtherAddress(address, bytes, kWrites, kOrdering == Ordering::kAtomic, pc);
  }
}

// Handles any length and alignment, in the pieces that a GPU would use: words where possible, else bytes.
template <bool kWrites>
inline void AccessRange(uint64_t address, uint64_t bytes, uint64_t pc) {
  Worker* const worker = current_worker;
  if (worker == nullptr || bytes == 0) return;
  const uint64_t own = kWrites ? worker->stack_write_bytes : worker->stack_bytes;
  if (address - worker->stack_begin < own && address + bytes <= worker->stack_begin + own) return;
  if (bytes <= 16 && (bytes & (bytes - 1)) == 0 && (address & (bytes - 1)) == 0) {
    Access<kWrites, !kWrites, Ordering::kPlain, true>(address, bytes, pc);
    return;
  }
  const uint64_t piece = ((address | bytes) & 3) == 0 ? 4 : 1;
  for (uint64_t i = 0; i < bytes; i += piece) {
    Access<kWrites, !kWrites, Ordering::kPlain, true>(address + i, piece, pc);
  }
}

// Informs the race detector's clocks of an atomic or volatile access.
inline void OrderAccess(uint64_t address, bool reads, bool writes, bool acquire, bool release) {
  Worker* const worker = current_worker;
  if (worker == nullptr || worker->block == nullptr) return;
  worker->block->order.AtomicAccess(worker->self, address, reads, writes, acquire, release);
}

}  // namespace hone::sim
