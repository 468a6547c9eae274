// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Holds the state of a running thread block: its threads as fibers, its warps, its barriers, and the bookkeeping of its
// shared memory.
//
// Stacks of all threads are in one mapping, without guard pages: a cooperative grid of 132 blocks of 1024 threads would
// exceed the kernel's limit on mappings. A stack whose lowest word is no longer zero has overflowed. A stack's size is
// a little more than a power of two, so that the hot tops of 1024 stacks do not share one set of the host's cache. Each
// fiber's record is at the top of its own stack.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/simt/fiber_jump.h"
#include "tuner/device/sim/sim_abi.h"
#include "tuner/device/sim/sim_layout.h"
#include "tuner/device/sim/worker/access_counters.h"
#include "tuner/device/sim/worker/happens_before.h"
#include "tuner/device/sim/worker/shared_shadow.h"
#include "tuner/device/sim/worker/zeroed_array.h"

namespace hone::sim {

enum class Wait : uint8_t {
  kNone,          // can run
  kExited,
  kBlockBarrier,
  kNamedBarrier,
  kGridBarrier,
  kWarp,          // a warp collective
};

enum class Collective : uint8_t { kSync, kShuffle, kVote, kMatchAny, kMatchAll, kReduce, kGather, kActiveMask };

// A copy by cp.async, or a read by wgmma.
struct CopyInFlight {
  void* destination;  // in shared memory; of a read, where it reads
  uint32_t bytes;
  bool committed;    // true: ends a group of copies, and is no copy itself
  uint64_t pc;
  uint8_t data[16];  // read when the copy began
};

struct Fiber {
  simt::FiberPoint* point = nullptr;  // where the thread goes on while it waits
  uint32_t index[HONE_SIM_INDEX_COUNT] = {};
  int thread = 0;            // within the block
  Wait wait = Wait::kNone;
  bool ran = false;          // the thread has effects: it touched shared memory or wrote global memory
  uint32_t barriers = 0;     // block barriers passed
  uint32_t spins = 0;        // atomic or volatile accesses since the thread last waited
  uint64_t wait_pc = 0;
  // Operands and result of the collective or barrier in which the fiber waits.
  uint64_t value = 0, result = 0;
  uint32_t operand = 0, width = 0, kind = 0;
  int flag = 0;
  const void* gather_from = nullptr;
  void* gather_to = nullptr;
  std::vector<CopyInFlight>* copies = nullptr;  // cp.async not yet waited for; owned by the block
  std::vector<CopyInFlight>* group_reads = nullptr;  // reads of wgmma not yet waited for; owned by the block
  bool group_fenced = false;                         // the thread has executed wgmma.fence
  uint32_t commits = 0;
  uint64_t volatile_read = 0;  // address of the thread's last volatile read of global memory
};

struct WarpGroup {
  Collective collective = Collective::kSync;
  uint32_t mask = 0, tag = 0, arrived = 0;
  uint64_t pc = 0;
};

struct Warp {
  uint32_t alive = 0, runnable = 0, yielded = 0;
  std::vector<WarpGroup> groups;  // collectives in which some lanes wait
  // A ring of hashes of all lanes' operands, one for each of the latest shuffles with new operands.
  std::array<uint64_t, 8> ready_operands{};
  size_t next_operands = 0;
};

struct NamedBarrier {
  uint32_t expected = 0, arrived = 0;
  std::vector<int> threads;       // all threads that have arrived
};

class BlockState {
 public:
  BlockState(int threads, uint32_t stack_bytes, uint32_t shared_bytes);

  int threads() const { return threads_; }
  int warp_count() const { return (threads_ + kWarpSize - 1) / kWarpSize; }
  Fiber& fiber(int thread) {
    return *reinterpret_cast<Fiber*>(stacks_.data() + static_cast<size_t>(thread + 1) * stride_ - kHeader);
  }
  // Returns a thread's stack: its lowest address; stacks are a fixed distance apart.
  uint64_t stack_begin(int thread) const {
    return reinterpret_cast<uint64_t>(stacks_.data()) + static_cast<size_t>(thread) * stride_;
  }
  size_t stack_stride() const { return stride_; }
  uint64_t stacks_begin() const { return reinterpret_cast<uint64_t>(stacks_.data()); }
  uint64_t stacks_bytes() const { return stacks_.size(); }
  // Returns the start of a thread's stack (which grows downwards) and its usable size.
  void* stack_top(int thread) { return &fiber(thread); }
  size_t stack_bytes() const { return stride_ - kHeader; }
  bool stack_intact(int thread) const {
    return *reinterpret_cast<const uint64_t*>(stacks_.data() + static_cast<size_t>(thread) * stride_) == 0;
  }
  std::vector<CopyInFlight>& copies(int thread) { return copies_[static_cast<size_t>(thread)]; }
  std::vector<CopyInFlight>& group_reads(int thread) { return group_reads_[static_cast<size_t>(thread)]; }

  std::array<Warp, kWarpSize> warps;
  std::array<NamedBarrier, 16> named;
  HappensBefore order;
  SharedShadow shadow;
  uint64_t number = 0;          // linear, within the grid
  L1Cache* cache = nullptr;     // the first-level cache that the block reads through; null: one of the worker's own
  int alive = 0, at_barrier = 0, at_grid = 0;
  uint32_t barriers = 0;        // block barriers completed
  uint64_t first_writes = 0;    // bytes of outputs that this block was the first to write
  bool ordered = false;         // the block has used global memory in a way by which blocks may wait for each other
  bool paused = false;          // LetOthersIn has paused the block, which happens once
  bool lets_others_in = false;  // the next pass leaves the block out, so that a block which begins after it reads
                                // before it writes
  bool effects_exited = false;  // a thread with effects has exited; the next two fields describe the one that passed
                                // the fewest barriers
  uint32_t effects_exited_barriers = 0;
  uint64_t effects_exited_thread = 0;
  std::vector<uint8_t> saved_shared;  // the block's shared memory, while another block of the same OS thread runs

 private:
  static constexpr size_t kHeader = (sizeof(Fiber) + 63) / 64 * 64;

  int threads_;
  size_t stride_;
  ZeroedArray<uint8_t> stacks_;
  std::vector<std::vector<CopyInFlight>> copies_, group_reads_;
};

}  // namespace hone::sim
