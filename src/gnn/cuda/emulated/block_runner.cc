// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements the scheduler of block_runner.h.
#include "gnn/cuda/emulated/block_runner.h"

#include <fmt/format.h>
#include <sys/mman.h>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>
#include <utility>

#include "base/simt/warp_semantics.h"
#include "cuda_runtime.h"
#include "hone/base/status.h"

namespace hone::gnn::cuda::emulated {

constinit thread_local BlockRunner* running = nullptr;
constinit thread_local Place current_place;

namespace {

constexpr uint32_t kWarpSize = simt::kWarpLanes;
#if defined(__SANITIZE_ADDRESS__)
constexpr size_t kStackBytes = 256 << 10;
#else
constexpr size_t kStackBytes = 64 << 10;
#endif

// Reports to address sanitizer that the thread is about to change stacks.
void StartSwitch([[maybe_unused]] void** fake_stack, [[maybe_unused]] const void* bottom, [[maybe_unused]] size_t bytes) {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_start_switch_fiber(fake_stack, bottom, bytes);
#endif
}
void FinishSwitch([[maybe_unused]] void* fake_stack, [[maybe_unused]] const void** bottom, [[maybe_unused]] size_t* bytes) {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(fake_stack, bottom, bytes);
#endif
}

std::string FileLine(const Place& place) {
  const char* slash = std::strrchr(place.file, '/');
  return fmt::format("{}:{}", slash == nullptr ? place.file : slash + 1, place.line);
}

}  // namespace

// A fiber's stack: one mapping with an inaccessible page at its low end, where a thread that needs more stack ends the
// program. A warp switches stacks at every shuffle, and mappings of one size lie at the same offset within a way of the
// cache. Stacks that all began there would evict each other, so each begins a little further down than the previous
// one.
struct BlockRunner::Stack {
  explicit Stack(size_t number) : top(kStackBytes - number % 32 * kStaggerBytes) {
    void* const mapped = mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    HONE_CHECK(mapped != MAP_FAILED, "no memory for the stack of an emulated thread");
    begin = static_cast<unsigned char*>(mapped);
    HONE_CHECK(mprotect(begin, 4096, PROT_NONE) == 0, "mprotect of a stack's end failed");
  }
  ~Stack() { munmap(begin, kStackBytes); }
  Stack(const Stack&) = delete;
  Stack& operator=(const Stack&) = delete;
  unsigned char* bottom() const { return begin + 4096; }
  size_t usable() const { return top - 4096; }
  static constexpr size_t kStaggerBytes = 128;
  const size_t top;  // where the stack begins, in bytes from `begin`
  unsigned char* begin;
};

// A thread of a block: where it goes on while it waits, and the operation in which it waits.
struct BlockRunner::Fiber {
  simt::FiberPoint* point = nullptr;
  Stack* stack = nullptr;
  void* fake_stack = nullptr;  // address sanitizer's
  Block* block = nullptr;
  uint32_t thread = 0;
  Wait wait = Wait::kNone;
  uint32_t spins = 0;
  int kind = 0;
  int flag = 0;
  uint32_t argument = 0, width = 0;
  uint64_t value = 0, result = 0;
  Place place;  // source line of the operation in which the thread waits
  uint32_t index[HONE_SIM_INDEX_COUNT] = {};
};

// The lanes of a warp that meet in one operation: those of `mask`.
struct BlockRunner::WarpGroup {
  WarpOperation operation;
  int kind;
  uint32_t mask;
  uint32_t arrived;  // bits of the lanes that wait in it
};

struct BlockRunner::WarpState {
  uint32_t alive = 0, runnable = 0, yielded = 0;  // a bit per lane
  std::vector<WarpGroup> groups;
  Fiber* lanes = nullptr;  // fiber of lane 0; the others follow
};

struct BlockRunner::Block {
  uint64_t number = 0;
  uint32_t alive = 0, at_barrier = 0;  // numbers of threads
  std::vector<Fiber> fibers;
  std::vector<WarpState> warps;
  bool saved = false;  // saved_shared holds the shared variables of this block, which was active before
  std::vector<unsigned char> saved_shared;
  std::unique_ptr<unsigned char[]> dynamic_shared;
};

BlockRunner::BlockRunner() = default;
BlockRunner::~BlockRunner() = default;

BlockRunner::Stack* BlockRunner::TakeStack() {
  if (free_stacks_.empty()) {
    stacks_.push_back(std::make_unique<Stack>(stacks_.size()));
    return stacks_.back().get();
  }
  Stack* const stack = free_stacks_.back();
  free_stacks_.pop_back();
  return stack;
}

std::string BlockRunner::Run(const GridSpec& spec) {
  HONE_CHECK(running == nullptr, "a kernel is launched from within a kernel");
  spec_ = &spec;
  draw_ = Draw(spec.order);
  fault_.clear();
  spins_ = 0;
  active_ = nullptr;
  shared_ = SharedVariablesOf(spec.kernel);
  shared_total_ = 0;
  for (const SharedVariable& variable : shared_) shared_total_ += variable.bytes;
  running = this;

  const uint64_t total = uint64_t{spec.grid[0]} * spec.grid[1] * spec.grid[2];
  std::vector<uint64_t> order;
  if (spec.order != 0) {
    order.resize(total);
    std::iota(order.begin(), order.end(), uint64_t{0});
    for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[draw_() % i]);
  }
  std::vector<std::unique_ptr<Block>> resident;
  size_t limit = spec.order != 0 ? kShuffledResident : 1;
  uint64_t next_block = 0;
  for (size_t turn = 0; fault_.empty(); ++turn) {
    for (; resident.size() < limit && next_block < total; ++next_block)
      resident.push_back(Begin(order.empty() ? next_block : order[next_block]));
    if (resident.empty()) break;
    const size_t which = spec.order != 0 ? draw_.Below(static_cast<uint32_t>(resident.size())) : turn % resident.size();
    Block& block = *resident[which];
    Activate(&block);
    const bool ran = RunBlock(block);
    if (!fault_.empty()) break;
    if (block.alive == 0) {
      active_ = nullptr;
      spare_.push_back(std::move(resident[which]));
      resident.erase(resident.begin() + static_cast<ptrdiff_t>(which));
      limit = spec.order != 0 ? kShuffledResident : 1;
      continue;
    }
    if (!ran) ReleaseBarrier(block);
    if (spins_ > kSpinsBeforeHelp * resident.size() && limit < kMaxResident && next_block < total) {
      ++limit;
      spins_ = 0;
    }
    if (spins_ > kSpinsBeforeFault) {
      NoteFault(fmt::format("block {}: its threads repeat atomics for ever, waiting for something that no thread does",
                            block.number));
    }
  }
  running = nullptr;
  block_ = nullptr;
  fiber_ = nullptr;
  active_ = nullptr;
  if (!fault_.empty()) {  // the remaining fibers never continue, so their stacks are free
    free_stacks_.clear();
    for (const auto& stack : stacks_) {
      free_stacks_.push_back(stack.get());
#if defined(__SANITIZE_ADDRESS__)
      __asan_unpoison_memory_region(stack->bottom(), stack->usable());
#endif
    }
  }
  return fault_;
}

std::unique_ptr<BlockRunner::Block> BlockRunner::Begin(uint64_t number) {
  const GridSpec& spec = *spec_;
  std::unique_ptr<Block> block;
  if (spare_.empty()) {
    block = std::make_unique<Block>();
  } else {
    block = std::move(spare_.back());
    spare_.pop_back();
  }
  const uint32_t threads = spec.block[0] * spec.block[1] * spec.block[2];
  block->number = number;
  block->alive = threads;
  block->at_barrier = 0;
  block->saved = false;
  block->dynamic_shared.reset();
  if (spec.shared_bytes > 0) {
    block->dynamic_shared = std::make_unique_for_overwrite<unsigned char[]>(spec.shared_bytes);
    std::memset(block->dynamic_shared.get(), 0xff, spec.shared_bytes);
  }
  block->fibers.resize(threads);
  block->warps.resize((threads + kWarpSize - 1) / kWarpSize);
  const uint32_t bx = static_cast<uint32_t>(number % spec.grid[0]);
  const uint32_t by = static_cast<uint32_t>(number / spec.grid[0] % spec.grid[1]);
  const uint32_t bz = static_cast<uint32_t>(number / spec.grid[0] / spec.grid[1]);
  for (uint32_t t = 0; t < threads; ++t) {
    Fiber& fiber = block->fibers[t];
    const uint32_t values[HONE_SIM_INDEX_COUNT] = {
        t % spec.block[0], t / spec.block[0] % spec.block[1], t / spec.block[0] / spec.block[1],
        bx, by, bz, spec.block[0], spec.block[1], spec.block[2], spec.grid[0], spec.grid[1], spec.grid[2],
        t % kWarpSize, t / kWarpSize, t, spec.shared_bytes, 0, 0, 1};
    std::memcpy(fiber.index, values, sizeof values);
    fiber.point = nullptr;
    fiber.stack = nullptr;
    fiber.block = block.get();
    fiber.thread = t;
    fiber.wait = Wait::kNone;
    fiber.spins = 0;
  }
  for (uint32_t w = 0; w < block->warps.size(); ++w) {
    WarpState& warp = block->warps[w];
    const uint32_t lanes = std::min(kWarpSize, threads - w * kWarpSize);
    warp.alive = warp.runnable = lanes == kWarpSize ? ~0u : (1u << lanes) - 1;
    warp.yielded = 0;
    warp.groups.clear();
    warp.lanes = &block->fibers[size_t{w} * kWarpSize];
  }
  return block;
}

// Brings the block's shared variables into place. A block that is never exchanged for another one is not saved.
void BlockRunner::Activate(Block* block) {
  block_ = block;
  if (active_ == block) return;
  if (active_ != nullptr) {
    active_->saved_shared.resize(shared_total_);
    active_->saved = true;
    size_t at = 0;
    for (const SharedVariable& variable : shared_) {
      std::memcpy(active_->saved_shared.data() + at, variable.begin, variable.bytes);
      at += variable.bytes;
    }
  }
  size_t at = 0;
  for (const SharedVariable& variable : shared_) {
    if (block->saved) {
      std::memcpy(variable.begin, block->saved_shared.data() + at, variable.bytes);
    } else {
      std::memset(variable.begin, 0xff, variable.bytes);  // undefined contents: NaN in every float type
    }
    at += variable.bytes;
  }
  active_ = block;
}

// Runs threads of the block. Returns false if no thread could run.
bool BlockRunner::RunBlock(Block& block) {
  if (spec_->order == 0) {
    bool ran = false;
    for (size_t w = 0; w < block.warps.size() && fault_.empty(); ++w) {
      if (block.warps[w].runnable == 0) continue;
      ran = true;
      RunWarp(block, w);
    }
    return ran;
  }
  const auto warps = static_cast<uint32_t>(block.warps.size());
  const uint32_t first_warp = draw_.Below(warps);
  for (uint32_t i = 0; i < warps; ++i) {
    const size_t w = (first_warp + i) % warps;
    if (block.warps[w].runnable == 0) continue;
    RunWarp(block, w);
    return true;
  }
  return false;
}

void BlockRunner::RunWarp(Block& block, size_t w) {
  WarpState& warp = block.warps[w];
  warp.yielded = 0;
  while (const uint32_t ready = warp.runnable & ~warp.yielded) {
    uint32_t lane = static_cast<uint32_t>(std::countr_zero(ready));
    if (spec_->order != 0) {
      uint32_t ready_after_skips = ready;
      for (uint32_t skip = draw_.Below(static_cast<uint32_t>(std::popcount(ready))); skip > 0; --skip)
        ready_after_skips &= ready_after_skips - 1;
      lane = static_cast<uint32_t>(std::countr_zero(ready_after_skips));
    }
    Resume(block, w * kWarpSize + lane);
    if (!fault_.empty()) return;
  }
}

inline void BlockRunner::KeepPoint(simt::FiberPoint* point) { (left_ != nullptr ? left_->point : scheduler_) = point; }

void BlockRunner::FiberMain(simt::FiberTransfer transfer) {
  BlockRunner& runner = *static_cast<BlockRunner*>(transfer.data);
  FinishSwitch(nullptr, &runner.scheduler_stack_, &runner.scheduler_stack_bytes_);
  runner.KeepPoint(transfer.from);
  (*runner.spec_->thread)();
  runner.fiber_->wait = Wait::kExited;
  StartSwitch(nullptr, runner.scheduler_stack_, runner.scheduler_stack_bytes_);
  simt::FiberJump(runner.scheduler_, nullptr);
  __builtin_unreachable();
}

void BlockRunner::Enter(Fiber& fiber) {
  if (fiber.stack == nullptr) {
    fiber.stack = TakeStack();
    fiber.point =
        simt::MakeFiber<&BlockRunner::FiberMain>(fiber.stack->begin + fiber.stack->top, fiber.stack->usable());
  }
  fiber_ = &fiber;
}

void BlockRunner::Resume(Block& block, size_t thread) {
  Enter(block.fibers[thread]);
  yielded_ = false;
  left_ = nullptr;
  StartSwitch(&scheduler_fake_stack_, fiber_->stack->bottom(), fiber_->stack->usable());
  const simt::FiberTransfer transfer = simt::FiberJump(fiber_->point, this);
  FinishSwitch(scheduler_fake_stack_, nullptr, nullptr);
  Fiber& fiber = *fiber_;  // perhaps another lane of the warp: a lane that waits continues another
  fiber.point = transfer.from;
  if (!fault_.empty()) return;
  WarpState& warp = block.warps[fiber.thread / kWarpSize];
  const uint32_t bit = 1u << fiber.thread % kWarpSize;
  if (yielded_) {
    warp.yielded |= bit;
    return;
  }
  if (fiber.wait == Wait::kExited) {
    spins_ = 0;
    NoteExit(fiber);
  } else if (fiber.wait != Wait::kNone) {
    spins_ = 0;
    warp.runnable &= ~bit;
  }
}

// Returns the lane that a waiting lane continues: the one that the scheduler would choose next, which saves half of all
// changes of stacks. Null: the scheduler must go on, because it draws the order, or because address sanitizer is told
// only of changes between a fiber and the scheduler.
BlockRunner::Fiber* BlockRunner::NextOfWarp() {
#if defined(__SANITIZE_ADDRESS__)
  return nullptr;
#else
  Fiber& fiber = *fiber_;
  if (spec_->order != 0 || fiber.wait == Wait::kNone || yielded_ || !fault_.empty()) return nullptr;
  WarpState& warp = block_->warps[fiber.thread / kWarpSize];
  warp.runnable &= ~(1u << fiber.thread % kWarpSize);
  const uint32_t ready = warp.runnable & ~warp.yielded;
  return ready == 0 ? nullptr : &warp.lanes[std::countr_zero(ready)];
#endif
}

void BlockRunner::SwitchOut() {
  Fiber& fiber = *fiber_;
  if (Fiber* const next = NextOfWarp(); next != nullptr) {
    spins_ = 0;
    Enter(*next);
    left_ = &fiber;
    KeepPoint(simt::FiberJump(next->point, this).from);
    return;
  }
  StartSwitch(&fiber.fake_stack, scheduler_stack_, scheduler_stack_bytes_);
  const simt::FiberTransfer transfer = simt::FiberJump(scheduler_, nullptr);
  FinishSwitch(fiber.fake_stack, &scheduler_stack_, &scheduler_stack_bytes_);
  KeepPoint(transfer.from);
}

void BlockRunner::NoteExit(Fiber& fiber) {
  free_stacks_.push_back(fiber.stack);
  fiber.stack = nullptr;
  Block& block = *fiber.block;
  WarpState& warp = block.warps[fiber.thread / kWarpSize];
  const uint32_t bit = 1u << fiber.thread % kWarpSize;
  warp.alive &= ~bit;
  warp.runnable &= ~bit;
  --block.alive;
  for (const WarpGroup& group : warp.groups) {
    if ((group.mask & bit) == 0) continue;
    const Fiber& waiting = warp.lanes[std::countr_zero(group.arrived)];
    NoteFault(fmt::format("{} waits in a warp operation at {} for {}, which has left the kernel", Describe(waiting),
                          FileLine(waiting.place), Describe(fiber)));
    return;
  }
}

std::string BlockRunner::Describe(const Fiber& fiber) const {
  const uint32_t* i = fiber.index;
  return fmt::format("block ({}, {}, {}) thread ({}, {}, {})", i[HONE_SIM_BLOCK_X], i[HONE_SIM_BLOCK_Y],
                     i[HONE_SIM_BLOCK_Z], i[HONE_SIM_THREAD_X], i[HONE_SIM_THREAD_Y], i[HONE_SIM_THREAD_Z]);
}

void BlockRunner::NoteFault(std::string what) {
  if (fault_.empty()) fault_ = std::move(what);
}

void BlockRunner::Fault(const std::string& what) {
  NoteFault(Describe(*fiber_) + " " + what);
  SwitchOut();
  __builtin_unreachable();
}

const uint32_t* BlockRunner::index() const { return fiber_->index; }
void* BlockRunner::dynamic_shared() { return block_->dynamic_shared.get(); }

void BlockRunner::Yield() {
  ++spins_;
  fiber_->spins = 0;
  yielded_ = true;
  SwitchOut();
}

void BlockRunner::Atomic() {
  const bool give_way = spec_->order != 0 ? (draw_() >> 61) == 0 : ++fiber_->spins >= kSpinsBeforeYield;
  if (give_way) Yield();
}

int BlockRunner::BlockBarrier(int kind, int predicate) {
  Fiber& fiber = *fiber_;
  fiber.wait = Wait::kBlockBarrier;
  fiber.kind = kind;
  fiber.flag = predicate;
  fiber.place = current_place;
  ++block_->at_barrier;
  SwitchOut();
  return static_cast<int>(fiber.result);
}

// Lets a block go on when none of its threads can run: all must be at one barrier.
void BlockRunner::ReleaseBarrier(Block& block) {
  if (block.at_barrier != block.fibers.size()) {
    NoteFault(Deadlock(block));
    return;
  }
  const Fiber& first_fiber = block.fibers[0];
  int count = 0;
  for (const Fiber& fiber : block.fibers) {
    count += fiber.flag != 0 ? 1 : 0;
    if (fiber.place.line == first_fiber.place.line && fiber.kind == first_fiber.kind &&
        std::strcmp(fiber.place.file, first_fiber.place.file) == 0)
      continue;
    NoteFault(fmt::format("threads of one block wait at different barriers: {} at {}, {} at {}", Describe(first_fiber),
                          FileLine(first_fiber.place), Describe(fiber), FileLine(fiber.place)));
    return;
  }
  const auto fiber_count = static_cast<int>(block.fibers.size());
  block.at_barrier = 0;
  for (Fiber& fiber : block.fibers) {
    fiber.result = static_cast<uint64_t>(fiber.kind == HONE_SIM_AND  ? count == fiber_count
                                         : fiber.kind == HONE_SIM_OR ? count > 0
                                                                     : count);
    fiber.wait = Wait::kNone;
    block.warps[fiber.thread / kWarpSize].runnable |= 1u << fiber.thread % kWarpSize;
  }
}

std::string BlockRunner::Deadlock(const Block& block) const {
  struct Group {
    const Fiber* first;
    int count;
  };
  std::vector<Group> groups;
  for (const Fiber& fiber : block.fibers) {
    if (fiber.wait == Wait::kExited) continue;
    const auto matching_group = std::find_if(groups.begin(), groups.end(), [&fiber](const Group& g) {
      return g.first->wait == fiber.wait && g.first->place.line == fiber.place.line &&
             g.first->place.file == fiber.place.file;
    });
    if (matching_group != groups.end()) {
      ++matching_group->count;
    } else {
      groups.push_back({&fiber, 1});
    }
  }
  std::string text = "the block cannot go on:";
  for (const Group& group : groups) {
    text += fmt::format(" {} thread(s), first {}, wait {} at {};", group.count, Describe(*group.first),
                        group.first->wait == Wait::kWarp ? "in a warp operation" : "at the block's barrier",
                        FileLine(group.first->place));
  }
  return text + fmt::format(" {} have left the kernel", block.fibers.size() - block.alive);
}

uint64_t BlockRunner::Warp(WarpOperation operation, int kind, uint32_t mask, uint64_t value, uint32_t argument,
                           uint32_t width, int* flag) {
  Fiber& fiber = *fiber_;
  WarpState& warp = block_->warps[fiber.thread / kWarpSize];
  const uint32_t lane = fiber.thread % kWarpSize, bit = 1u << lane;
  fiber.place = current_place;
  if ((mask & bit) == 0) {
    Fault(fmt::format("calls a warp operation at {} with the mask {:#010x}, which leaves itself (lane {}) out",
                      FileLine(fiber.place), mask, lane));
  }
  if ((mask & ~warp.alive) != 0) {
    Fault(fmt::format("calls a warp operation at {} with the mask {:#010x}; of those lanes {:#010x} have left the kernel "
                      "or never were", FileLine(fiber.place), mask, mask & ~warp.alive));
  }
  if (operation == WarpOperation::kShuffle && (width == 0 || width > kWarpSize || !std::has_single_bit(width))) {
    Fault(
        fmt::format("shuffles at {} with the width {}: a power of two up to 32 is one", FileLine(fiber.place), width));
  }
  fiber.kind = kind;
  fiber.value = value;
  fiber.argument = argument;
  fiber.width = width;
  fiber.flag = flag != nullptr ? *flag : 0;
  size_t g = 0;
  for (; g < warp.groups.size(); ++g) {
    const WarpGroup& group = warp.groups[g];
    if (group.operation == operation && group.mask == mask && group.kind == kind) break;
  }
  if (g == warp.groups.size()) warp.groups.push_back({operation, kind, mask, 0});
  warp.groups[g].arrived |= bit;
  if (warp.groups[g].arrived == mask) {
    Complete(warp, g);
    fiber.spins = 0;
    spins_ = 0;
    // In a random order, another thread may run first.
    if (!fault_.empty() || (spec_->order != 0 && (draw_() >> 63) != 0)) SwitchOut();
                    // thread may run first
  } else {
    fiber.wait = Wait::kWarp;
    SwitchOut();
  }
  if (flag != nullptr) *flag = fiber.flag;
  return fiber.result;
}

void BlockRunner::Complete(WarpState& warp, size_t at) {
  const WarpGroup group = warp.groups[at];
  warp.groups.erase(warp.groups.begin() + static_cast<ptrdiff_t>(at));
  const auto each = [&](auto&& visit) { simt::ForEachLane(group.arrived, visit); };
  simt::LaneValues values{};
  each([&](uint32_t lane) { values[lane] = warp.lanes[lane].value; });
  switch (group.operation) {
    case WarpOperation::kSync:
      break;
    case WarpOperation::kShuffle:
      each([&](uint32_t lane) {
        Fiber& fiber = warp.lanes[lane];
        const simt::ShuffleSource source =
            simt::SourceOfShuffle(static_cast<simt::ShuffleKind>(group.kind), lane, fiber.argument, fiber.width);
        fiber.flag = source.in_range ? 1 : 0;
        if ((group.arrived >> source.lane & 1) == 0) {
          NoteFault(fmt::format("{} shuffles at {} from lane {}, which its mask {:#010x} leaves out", Describe(fiber),
                                FileLine(fiber.place), source.lane, group.mask));
          return;
        }
        fiber.result = values[source.lane];
      });
      break;
    case WarpOperation::kVote: {
      const uint32_t ballot = simt::Ballot(values, group.arrived);
      each([&](uint32_t lane) {
        Fiber& fiber = warp.lanes[lane];
        fiber.result = simt::VoteResult(static_cast<simt::VoteKind>(fiber.kind), ballot, group.arrived);
      });
      break;
    }
    case WarpOperation::kMatchAny:
    case WarpOperation::kMatchAll:
      each([&](uint32_t lane) {
        Fiber& fiber = warp.lanes[lane];
        const uint32_t lanes_with_value = simt::LanesWith(fiber.value, values, group.arrived);
        fiber.flag = lanes_with_value == group.arrived;
        fiber.result = group.operation == WarpOperation::kMatchAny ? lanes_with_value
                       : fiber.flag != 0                           ? group.mask
                                                                   : 0;
      });
      break;
    case WarpOperation::kReduce: {
      const uint32_t result = simt::Reduce(static_cast<simt::ReduceKind>(group.kind), values, group.arrived);
      each([&](uint32_t lane) { warp.lanes[lane].result = result; });
      break;
    }
  }
  each([&](uint32_t lane) { warp.lanes[lane].wait = Wait::kNone; });
  warp.runnable |= group.arrived;
}

}  // namespace hone::gnn::cuda::emulated
