// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements sim_abi.h, which device code calls for everything but plain loads and stores.
#include <fmt/format.h>

#include <cstring>

#include "tuner/device/sim/sim_abi.h"
#include "tuner/device/sim/worker/worker.h"
#include "tuner/device/sim/worker/worker_access.h"

using hone::sim::Access;
using hone::sim::Collective;
using hone::sim::current_worker;
using hone::sim::Fiber;
using hone::sim::LaunchEnd;
using hone::sim::Ordering;
using hone::sim::Worker;

namespace {

inline uint64_t Address(const volatile void* p) { return reinterpret_cast<uint64_t>(p); }

// Static initialisers of an image may call any function; none of these is valid there.
Worker& RunningWorker() {
  Worker* const worker = current_worker;
  if (worker == nullptr || worker->fiber == nullptr) __builtin_trap();
  return *worker;
}

// The macro is used in named functions, so that the return address is the candidate's.
#define HONE_PC reinterpret_cast<uint64_t>(__builtin_return_address(0))

// Reports an access whose size is known only when it runs, as one access or, for an odd size, piece by piece.
void AccessInPieces(const volatile void* address, uint32_t bytes, int access, uint64_t pc) {
  const uint64_t a = Address(address);
  const bool power = bytes != 0 && (bytes & (bytes - 1)) == 0 && bytes <= 16;
  if (!power) {
    if (access != HONE_SIM_WRITE) hone::sim::AccessRange</*kWrites=*/false>(a, bytes, pc);
    if (access != HONE_SIM_READ) hone::sim::AccessRange</*kWrites=*/true>(a, bytes, pc);
  } else if (access == HONE_SIM_READ) {
    Access</*kWrites=*/false, /*kReads=*/true, Ordering::kPlain, /*kAligned=*/true>(a, bytes, pc);
  } else if (access == HONE_SIM_WRITE) {
    Access</*kWrites=*/true, /*kReads=*/false, Ordering::kPlain, /*kAligned=*/true>(a, bytes, pc);
  } else {
    Access</*kWrites=*/true, /*kReads=*/true, Ordering::kPlain, /*kAligned=*/true>(a, bytes, pc);
  }
}

}  // namespace

extern "C" {

uint32_t hone_sim_index(uint32_t which) {
  const Worker& worker = RunningWorker();
  return which < HONE_SIM_INDEX_COUNT ? worker.fiber->index[which] : 0;
}

const uint32_t* hone_sim_thread(void) { return RunningWorker().fiber->index; }

void hone_sim_syncthreads(void) { RunningWorker().BlockBarrier(HONE_SIM_COUNT, 0, HONE_PC, nullptr); }

int hone_sim_syncthreads_reduce(int kind, int predicate) {
  int result = 0;
  RunningWorker().BlockBarrier(kind, predicate, HONE_PC, &result);
  return result;
}

void hone_sim_named_barrier(uint32_t barrier, uint32_t threads, int wait) {
  Worker& worker = RunningWorker();
  if (barrier == 0 && threads == 0 && wait) {
    worker.BlockBarrier(HONE_SIM_COUNT, 0, HONE_PC, nullptr);
  } else {
    worker.NamedBarrierWait(barrier, threads, wait != 0, HONE_PC);
  }
}

void hone_sim_grid_dependency_wait(void) {
  Worker& worker = RunningWorker();
  if (worker.launch->spec->before_wait) worker.End(LaunchEnd::kOk, "", "", {});
}
void hone_sim_grid_sync(void) { RunningWorker().GridBarrier(HONE_PC); }
int hone_sim_grid_is_cooperative(void) { return RunningWorker().launch->spec->cooperative; }

void hone_sim_syncwarp(uint32_t mask) { RunningWorker().Meet(Collective::kSync, mask, 0, HONE_PC); }

uint64_t hone_sim_shuffle(int kind, uint32_t mask, uint64_t value, uint32_t argument, uint32_t width, int* in_range) {
  Worker& worker = RunningWorker();
  Fiber& f = *worker.fiber;
  f.value = value;
  f.operand = argument;
  f.width = width == 0 || width > 32 || (width & (width - 1)) != 0 ? 32 : width;
  // Lanes may name different sources, but not different kinds of shuffle.
  worker.Meet(Collective::kShuffle, mask, static_cast<uint32_t>(kind), HONE_PC);
  if (in_range != nullptr) *in_range = f.flag;
  return f.result;
}

uint32_t hone_sim_vote(int kind, uint32_t mask, int predicate) {
  Worker& worker = RunningWorker();
  Fiber& f = *worker.fiber;
  f.value = predicate != 0;
  worker.Meet(Collective::kVote, mask, static_cast<uint32_t>(kind), HONE_PC);
  return static_cast<uint32_t>(f.result);
}

uint32_t hone_sim_match_any(uint32_t mask, uint64_t value) {
  Worker& worker = RunningWorker();
  worker.fiber->value = value;
  worker.Meet(Collective::kMatchAny, mask, 0, HONE_PC);
  return static_cast<uint32_t>(worker.fiber->result);
}

uint32_t hone_sim_match_all(uint32_t mask, uint64_t value, int* all_equal) {
  Worker& worker = RunningWorker();
  worker.fiber->value = value;
  worker.Meet(Collective::kMatchAll, mask, 0, HONE_PC);
  if (all_equal != nullptr) *all_equal = worker.fiber->flag;
  return static_cast<uint32_t>(worker.fiber->result);
}

uint32_t hone_sim_warp_reduce(int kind, uint32_t mask, uint32_t value) {
  Worker& worker = RunningWorker();
  worker.fiber->value = value;
  worker.Meet(Collective::kReduce, mask, static_cast<uint32_t>(kind), HONE_PC);
  return static_cast<uint32_t>(worker.fiber->result);
}

uint32_t hone_sim_activemask(void) {
  Worker& worker = RunningWorker();
  worker.Meet(Collective::kActiveMask, ~0u, 0, HONE_PC);
  return static_cast<uint32_t>(worker.fiber->result);
}

void hone_sim_warp_gather(uint32_t mask, uint32_t tag, const void* mine, size_t bytes, void* all) {
  Worker& worker = RunningWorker();
  Fiber& f = *worker.fiber;
  f.gather_from = mine;
  f.gather_to = all;
  if (bytes > 256)
    worker.End(LaunchEnd::kUnsupported, "unsupported", "a warp gather of more than 256 bytes a lane, at {0}",
               {HONE_PC});
  worker.Meet(Collective::kGather, mask, tag << 9 | static_cast<uint32_t>(bytes), HONE_PC);
}

void hone_sim_fence(int) {
  Worker& worker = RunningWorker();
  worker.block->order.Fence(worker.self);
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

void hone_sim_atomic(const volatile void* address, uint32_t bytes, int access, int order, int) {
  const uint64_t a = Address(address);
  const bool reads = access != HONE_SIM_WRITE, writes = access != HONE_SIM_READ;
  RunningWorker().Spin();  // before the bookkeeping: the access follows at once
  if (access == HONE_SIM_READ) {
    Access</*kWrites=*/false, /*kReads=*/true, Ordering::kAtomic, /*kAligned=*/true>(a, bytes, HONE_PC);
  } else if (access == HONE_SIM_WRITE) {
    Access</*kWrites=*/true, /*kReads=*/false, Ordering::kAtomic, /*kAligned=*/true>(a, bytes, HONE_PC);
  } else {
    Access</*kWrites=*/true, /*kReads=*/true, Ordering::kAtomic, /*kAligned=*/true>(a, bytes, HONE_PC);
  }
  hone::sim::OrderAccess(a, reads, writes, reads && (order == HONE_SIM_ACQUIRE || order == HONE_SIM_ACQ_REL),
                         writes && (order == HONE_SIM_RELEASE || order == HONE_SIM_ACQ_REL));
}

void hone_sim_access(const volatile void* address, uint32_t bytes, int access) {
  AccessInPieces(address, bytes, access, HONE_PC);
}

void hone_sim_volatile(const volatile void* address, uint32_t bytes, int access) {
  const uint64_t a = Address(address);
  if (access == HONE_SIM_READ) {
    RunningWorker().Spin();
    Access</*kWrites=*/false, /*kReads=*/true, Ordering::kVolatile, /*kAligned=*/true>(a, bytes, HONE_PC);
    hone::sim::OrderAccess(a, /*reads=*/true, /*writes=*/false, /*acquire=*/false, /*release=*/false);
  } else {
    Access</*kWrites=*/true, /*kReads=*/false, Ordering::kVolatile, /*kAligned=*/true>(a, bytes, HONE_PC);
    hone::sim::OrderAccess(a, /*reads=*/false, /*writes=*/true, /*acquire=*/false, /*release=*/false);
  }
}

void hone_sim_cp_async(void* shared_destination, const void* global_source, uint32_t bytes, uint32_t source_bytes) {
  const uint64_t pc = HONE_PC;
  Worker& worker = RunningWorker();
  if (source_bytes > bytes) source_bytes = bytes;
  const uint64_t to = Address(shared_destination);
  if (to - worker.shared_begin >= worker.shared_bytes || to - worker.shared_begin + bytes > worker.dynamic_end) {
    worker.OutOfBounds(pc, to, bytes, /*writes=*/true);
  }
  if ((to & (bytes - 1)) != 0) worker.Misaligned(pc, to, bytes, /*writes=*/true);
  if ((Address(global_source) & (bytes - 1)) != 0 && source_bytes > 0) {
    worker.Misaligned(pc, Address(global_source), bytes, /*writes=*/false);
  }
  hone::sim::CopyInFlight copy{shared_destination, bytes, /*committed=*/false, pc, {}};
  if (source_bytes == bytes) {
    Access</*kWrites=*/false, /*kReads=*/true, Ordering::kPlain, /*kAligned=*/true>(Address(global_source), bytes, pc);
  } else if (source_bytes > 0) {
    hone::sim::AccessRange</*kWrites=*/false>(Address(global_source), source_bytes, pc);
  }
  std::memcpy(copy.data, global_source, source_bytes);
  worker.fiber->copies->push_back(copy);
}

void hone_sim_cp_async_commit(void) {
  Worker& worker = RunningWorker();
  worker.fiber->copies->push_back({nullptr, 0, /*committed=*/true, 0, {}});
}

void hone_sim_cp_async_wait(uint32_t groups_left) {
  Worker& worker = RunningWorker();
  worker.FinishCopies(*worker.fiber, groups_left, /*uncommitted_too=*/false);
}

void hone_sim_cp_async_wait_all(void) {
  Worker& worker = RunningWorker();
  worker.FinishCopies(*worker.fiber, 0, /*uncommitted_too=*/true);
}

void hone_sim_fence_proxy_async(void) {
  Worker& worker = RunningWorker();
  worker.block->order.ProxyFence(worker.self);
}

void hone_sim_wgmma_fence(void) { RunningWorker().fiber->group_fenced = true; }
uint32_t hone_sim_wgmma_begin(void) {
  Worker& worker = RunningWorker();
  worker.BeginGroupProduct(HONE_PC);
  return static_cast<uint32_t>(worker.shared_bytes);
}
void hone_sim_wgmma_read(const void* shared) { RunningWorker().ReadForGroup(Address(shared), HONE_PC); }

void hone_sim_wgmma_commit(void) {
  Worker& worker = RunningWorker();
  worker.fiber->group_reads->push_back({nullptr, 0, /*committed=*/true, HONE_PC, {}});
}

void hone_sim_wgmma_wait(uint32_t groups_left) {
  Worker& worker = RunningWorker();
  worker.FinishGroupReads(*worker.fiber, groups_left);
}

uint32_t hone_sim_to_shared(const void* generic) {
  Worker& worker = RunningWorker();
  const uint64_t offset = Address(generic) - worker.shared_begin;
  // One past the end is a valid pointer; so is an address from which an offset is later subtracted.
  if (offset > worker.shared_bytes + hone::sim::kMaxDynamicShared) {
    worker.End(LaunchEnd::kCrashed, "out_of_bounds",
          fmt::format("{} takes the shared-memory address of {}, at {{0}}", worker.WhereText(),
                      worker.AddressText(Address(generic), 1)),
          {HONE_PC});
  }
  return static_cast<uint32_t>(offset);
}

void* hone_sim_from_shared(uint32_t address) { return reinterpret_cast<void*>(RunningWorker().shared_begin + address); }

int hone_sim_is_shared(const void* generic) {
  const Worker& worker = RunningWorker();
  return Address(generic) - worker.shared_begin < worker.shared_bytes;
}

int hone_sim_is_global(const void* generic) {
  const Worker& worker = RunningWorker();
  const uint64_t a = Address(generic);
  return a - hone::sim::kGlobalBase < hone::sim::kGlobalSpan ||
         (a >= worker.launch->image->data_begin && a < worker.launch->image->data_end);
}

void hone_sim_count_mma(uint64_t multiply_adds) {
  RunningWorker().counters.counters.mma_multiply_adds += static_cast<double>(multiply_adds);
}

uint64_t hone_sim_clock(void) {
  Worker& worker = RunningWorker();
  worker.Spin();  // a thread that waits for time to pass must let others run
  return ++worker.ticks;
}

uint64_t hone_sim_globaltimer(void) {
  Worker& worker = RunningWorker();
  worker.Spin();
  return ++worker.ticks;
}

void hone_sim_nanosleep(uint32_t) { RunningWorker().Yield(); }

void hone_sim_trap(void) {
  Worker& worker = RunningWorker();
  worker.End(LaunchEnd::kCrashed, "trap", fmt::format("{} traps at {{0}}", worker.WhereText()), {HONE_PC});
}

void hone_sim_assert_fail(const char* expression, const char*, uint32_t, const char*) {
  Worker& worker = RunningWorker();
  // The text belongs to the image; the limit stops at an invalid pointer's end.
  const std::string text(expression, strnlen(expression, 200));
  worker.End(LaunchEnd::kCrashed, "assert",
             fmt::format("{} fails the assertion '{}' at {{0}}", worker.WhereText(), text), {HONE_PC});
}

void hone_sim_unsupported(const char* what) {
  Worker& worker = RunningWorker();
  const std::string text(what, strnlen(what, 400));
  worker.End(LaunchEnd::kUnsupported, "unsupported", fmt::format("{}, at {{0}}", text), {HONE_PC});
}

}  // extern "C"
