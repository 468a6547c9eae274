// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs the grid of one kernel. Threads are fibers, which meet at barriers and warp operations.
//
// In order 0 the blocks run one after another, and in a block warps and lanes run by number, each until it waits. With
// a seed a few blocks are in progress at once, the next runnable thread is drawn, and a thread may be interrupted
// before an atomic. If blocks spin until blocks act that have not begun, those begin too, up to kMaxResident.
// Everything runs on the calling OS thread. base/simt/warp_semantics.h defines what the warp operations compute. Lanes
// meet in them as in device/sim/worker/worker.h, but without that file's checks.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/simt/fiber_jump.h"
#include "gnn/cuda/emulated/program_symbols.h"
#include "tuner/device/sim/sim_abi.h"

namespace hone::gnn::cuda::emulated {

struct GridSpec {
  std::array<uint32_t, 3> grid{1, 1, 1}, block{1, 1, 1};
  uint32_t shared_bytes = 0;                      // bytes of dynamic shared memory
  const std::function<void()>* thread = nullptr;  // runs one thread of the kernel
  const void* kernel = nullptr;  // kernel whose shared variables the blocks have; null: those of all kernels
  uint64_t order = 0;            // 0: blocks, warps and lanes run by number; else the seed of a random order
};

enum class WarpOperation : uint8_t { kSync, kShuffle, kVote, kMatchAny, kMatchAll, kReduce };

// Splitmix64 (Steele, Lea and Flood 2014), which is good enough for drawing an order.
class Draw {
 public:
  explicit Draw(uint64_t seed) : state_(seed) {}
  uint64_t operator()() {
    uint64_t x = state_ += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
  }
  uint32_t Below(uint32_t n) { return static_cast<uint32_t>(((*this)() >> 32) * n >> 32); }

 private:
  uint64_t state_;
};

class BlockRunner {
 public:
  BlockRunner();
  ~BlockRunner();
  // Runs the grid. Returns an empty string, or the description of a fault with its thread and source line.
  std::string Run(const GridSpec& spec);

  // --- called on a fiber, by device_abi.cc ---
  const uint32_t* index() const;
  void* dynamic_shared();
  int BlockBarrier(int kind, int predicate);
  // Returns the result of the operation, and sets *flag as sim_abi.h defines for the operation.
  uint64_t Warp(WarpOperation operation, int kind, uint32_t mask, uint64_t value, uint32_t argument, uint32_t width,
                int* flag);
  void Atomic();
  void Yield();
  [[noreturn]] void Fault(const std::string& what);

 private:
  enum class Wait : uint8_t { kNone, kBlockBarrier, kWarp, kExited };
  struct Fiber;
  struct WarpGroup;
  struct WarpState;
  struct Block;
  struct Stack;
  static constexpr size_t kMaxResident = 32;
  static constexpr size_t kShuffledResident = 3;
  static constexpr uint32_t kSpinsBeforeYield = 64;
  static constexpr uint64_t kSpinsBeforeHelp = 20'000;  // yields in which nothing else progresses until another block
                                                        // begins
  static constexpr uint64_t kSpinsBeforeFault = 500'000;

  std::unique_ptr<Block> Begin(uint64_t number);
  // Brings the block's shared variables into place.
  void Activate(Block* block);
  // Runs threads of the block. Returns false if no thread could run.
  bool RunBlock(Block& block);
  void RunWarp(Block& block, size_t warp);
  void Resume(Block& block, size_t thread);
  // Makes `fiber` the running one, and gives it a stack if it has none. The caller then jumps to it.
  void Enter(Fiber& fiber);
  // Stores the point at which the fiber (or the scheduler) that was just left will go on. Every jump to a fiber must be
  // followed by this.
  void KeepPoint(simt::FiberPoint* point);
  Fiber* NextOfWarp();
  void SwitchOut();
  void NoteExit(Fiber& fiber);
  void ReleaseBarrier(Block& block);
  void Complete(WarpState& warp, size_t group);
  void NoteFault(std::string what);
  std::string Deadlock(const Block& block) const;
  std::string Describe(const Fiber& fiber) const;
  static void FiberMain(simt::FiberTransfer transfer);

  Stack* TakeStack();

  std::vector<SharedVariable> shared_;  // of all kernels of the program, on this OS thread
  size_t shared_total_ = 0;
  std::vector<std::unique_ptr<Stack>> stacks_;
  std::vector<Stack*> free_stacks_;
  std::vector<std::unique_ptr<Block>> spare_;

  const GridSpec* spec_ = nullptr;
  Draw draw_{0};
  Block* active_ = nullptr;
  Fiber* fiber_ = nullptr;
  Fiber* left_ = nullptr;  // the fiber that ran before the running one; null: the scheduler did
  Block* block_ = nullptr;
  uint64_t spins_ = 0;
  bool yielded_ = false;
  std::string fault_;
  simt::FiberPoint* scheduler_ = nullptr;
  void* scheduler_fake_stack_ = nullptr;
  const void* scheduler_stack_ = nullptr;
  size_t scheduler_stack_bytes_ = 0;
};

// The runner whose fiber runs on this OS thread; null outside of kernels.
extern constinit thread_local BlockRunner* running;

}  // namespace hone::gnn::cuda::emulated
