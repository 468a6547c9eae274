// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The scheduler: runs fibers until they wait, then decides what may go on.
#include "tuner/device/sim/worker.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <deque>

#include "tuner/core/draw.h"

namespace hone::sim {

using boost::context::detail::jump_fcontext;
using boost::context::detail::make_fcontext;
using boost::context::detail::transfer_t;

constinit thread_local Worker* current_worker = nullptr;

Worker::Worker(int number) : number_(number) {}
Worker::~Worker() = default;

std::unique_ptr<BlockState> Worker::MakeBlock() const {
  return std::make_unique<BlockState>(static_cast<int>(launch->spec->block_threads()), launch->spec->stack_bytes,
                                      static_cast<uint32_t>(shared_bytes));
}

void Worker::Run(Launch& l, uint8_t* shared) {
  launch = &l;
  const ImageLayout& image = *l.image;
  shared_begin = reinterpret_cast<uint64_t>(shared);
  shared_bytes = image.shared_bytes;
  static_shared = image.static_shared;
  dynamic_begin = image.dynamic_offset;
  dynamic_end = image.dynamic_offset + (image.has_dynamic ? l.spec->dynamic_shared : 0);
  several_workers = l.workers > 1;
  aborting_ = false;
  active_ = nullptr;
  reported_cost_ = 0;
  gathers_ = 0;
  ticks = 0;
  log_.Clear();
  repeated_writes.clear();
  counters.BeginLaunch(l.sectors, l.spec->ranges.size(), image.text_begin, l.spec->l1_bytes);
  if (primary_ && (primary_->threads() != static_cast<int>(l.spec->block_threads()) ||
                   primary_->shadow.bytes() < shared_bytes)) {
    primary_.reset();
  }
  current_worker = this;
  if (l.spec->cooperative) {
    RunCooperative();
  } else {
    RunIndependent();
  }
  current_worker = nullptr;
  block = nullptr;
  fiber = nullptr;
}

void Worker::RunIndependent() {
  const LaunchSpec& spec = *launch->spec;
  const uint64_t total = spec.blocks.empty() ? spec.grid_blocks() : spec.blocks.size();
  // Blocks in progress: one, unless a block spins on something that a later block must do.
  std::vector<std::unique_ptr<BlockState>> resident;
  std::vector<std::unique_ptr<BlockState>> spare;
  if (primary_) spare.push_back(std::move(primary_));
  bool more = true;
  int stuck_rounds = 0;
  while (!launch->stop.load(std::memory_order_relaxed)) {
    bool finished_one = false;
    // With many blocks that wait for one another in a chain, each pass may finish only one of them.
    const int patience = resident.size() == 1 ? kSpinRounds : kSpinRoundsOfMany;
    for (size_t i = 0; i < resident.size();) {
      Activate(resident[i].get());
      const Stop stop = RunBlock(*resident[i], patience);
      if (stop == Stop::kAborted) return;
      if (stop == Stop::kDone) {
        counters.counters.blocks += 1;
        counters.counters.warps += resident[i]->warp_count();
        spare.push_back(std::move(resident[i]));
        resident.erase(resident.begin() + static_cast<ptrdiff_t>(i));
        active_ = nullptr;
        finished_one = true;
        if (spec.access_budget != 0) AddCost();
      } else {
        ++i;
      }
    }
    if (finished_one) stuck_rounds = 0;
    if (finished_one && !resident.empty()) continue;
    if (more && resident.size() < kMaxResident) {
      const uint64_t next = launch->next_block.fetch_add(1, std::memory_order_relaxed);
      const bool spent = spec.access_budget != 0 && launch->spent >= spec.access_budget;
      if (next < total && !spent) {
        if (spare.empty()) spare.push_back(MakeBlock());
        resident.push_back(std::move(spare.back()));
        spare.pop_back();
        resident.back()->cache = spec.in_order ? &launch->caches[next % Launch::kPretendedSms] : nullptr;
        Activate(resident.back().get());
        BeginBlock(*resident.back(), spec.blocks.empty() ? next : spec.blocks[next]);
        continue;
      }
      more = false;
    }
    if (resident.empty()) break;
    if (!more && !spec.blocks.empty() && (stuck_rounds += patience) >= kStuckRounds) {
      // Every sampled block has begun, and those left wait for something that none of them does.
      std::lock_guard lock(launch->mutex);
      if (launch->end == LaunchEnd::kOk) {
        launch->end = LaunchEnd::kStuck;
        launch->detail = "the sampled blocks wait for blocks outside the sample";
      }
      launch->stop = true;
    }
    // Otherwise they spin for ever, or until another OS thread's block helps: the session's time limit decides.
  }
  if (!spare.empty()) primary_ = std::move(spare.back());
}

void Worker::AddCost() {
  // In units of an access. A lane's part in a warp operation costs a switch of fibers, in a matrix instruction its
  // arithmetic too.
  uint64_t total = 15 * gathers_ + 5 * kWarpSize * static_cast<uint64_t>(counters.counters.warp_operations);
  for (uint16_t i = 1; i <= counters.site_count(); ++i) total += counters.site(i).total;
  launch->spent += total - reported_cost_;
  reported_cost_ = total;
}

void Worker::RunCooperative() {
  const LaunchSpec& spec = *launch->spec;
  std::vector<std::unique_ptr<BlockState>> resident;
  const uint64_t total = spec.grid_blocks();
  // All blocks are in progress at once: each has its share of the first-level cache to itself.
  std::deque<L1Cache> caches;
  for (uint64_t b = static_cast<uint64_t>(number_); b < total; b += static_cast<uint64_t>(launch->workers)) {
    resident.push_back(MakeBlock());
    if (spec.in_order) resident.back()->cache = &caches.emplace_back();
    Activate(resident.back().get());
    BeginBlock(*resident.back(), b);
  }
  std::vector<bool> done(resident.size());
  while (!launch->stop.load(std::memory_order_relaxed)) {
    bool all_done = true, all_waiting = true;
    for (size_t i = 0; i < resident.size(); ++i) {
      if (done[i]) continue;
      if (resident[i]->at_grid == resident[i]->alive && resident[i]->alive > 0) {
        all_done = false;
        continue;
      }
      Activate(resident[i].get());
      const Stop stop = RunBlock(*resident[i], kSpinRounds);
      if (stop == Stop::kAborted) {
        Leave();
        return;
      }
      if (stop == Stop::kDone) {
        done[i] = true;
        counters.counters.blocks += 1;
        counters.counters.warps += resident[i]->warp_count();
      } else {
        all_done = false;
        all_waiting &= stop == Stop::kGrid;
      }
    }
    if (all_done) break;
    if (!all_waiting) continue;
    if (!MeetGrid()) break;
    for (size_t i = 0; i < resident.size(); ++i) {
      if (!done[i]) ReleaseGrid(*resident[i]);
    }
  }
  Leave();
  active_ = nullptr;
}

// This worker has no more blocks: the others need not wait for it.
void Worker::Leave() {
  std::lock_guard lock(launch->grid_mutex);
  ++launch->workers_done;
  launch->grid_changed.notify_all();
}

// Waits until every worker's blocks stand at the grid barrier. False when the launch has been stopped.
bool Worker::MeetGrid() {
  std::unique_lock lock(launch->grid_mutex);
  const uint64_t generation = launch->grid_generation;
  ++launch->workers_waiting;
  for (;;) {
    if (launch->stop) return false;
    if (launch->grid_generation != generation) return true;
    if (launch->workers_waiting + launch->workers_done >= launch->workers) {
      launch->workers_waiting = 0;
      ++launch->grid_generation;
      launch->grid_changed.notify_all();
      return true;
    }
    launch->grid_changed.wait(lock);
  }
}

void Worker::ReleaseGrid(BlockState& state) {
  if (state.at_grid == 0) return;
  state.at_grid = 0;
  ++state.barriers;
  state.order.BlockBarrier();
  for (int t = 0; t < state.threads(); ++t) {
    Fiber& f = state.fiber(t);
    if (f.wait != Wait::kGridBarrier) continue;
    f.wait = Wait::kNone;
    f.barriers = state.barriers;
    state.warps[static_cast<size_t>(t >> 5)].runnable |= 1u << (t & 31);
  }
}

void Worker::Activate(BlockState* state) {
  counters.UseCache(state->cache, state->number);
  if (active_ == state) return;
  uint8_t* const shared = reinterpret_cast<uint8_t*>(shared_begin);
  const size_t used = std::max(static_shared, dynamic_end);
  if (active_ != nullptr) active_->saved_shared.assign(shared, shared + used);
  if (!state->saved_shared.empty()) std::memcpy(shared, state->saved_shared.data(), used);
  active_ = state;
  block = state;
}

void Worker::BeginBlock(BlockState& state, uint64_t number) {
  const LaunchSpec& spec = *launch->spec;
  const int threads = state.threads();
  state.number = number;
  counters.UseCache(state.cache, number);
  state.alive = threads;
  state.at_barrier = state.at_grid = 0;
  state.barriers = 0;
  state.effects_exited = false;
  state.saved_shared.clear();
  for (NamedBarrier& named : state.named) named = {};
  if (state.order.now() > HappensBefore::kLastStamp / 2) {
    state.shadow.Restart();
    state.order.Restart();
  }
  state.order.BeginBlock(threads);
  const uint32_t bx = static_cast<uint32_t>(number % spec.grid[0]);
  const uint32_t by = static_cast<uint32_t>(number / spec.grid[0] % spec.grid[1]);
  const uint32_t bz = static_cast<uint32_t>(number / spec.grid[0] / spec.grid[1]);
  for (int t = 0; t < threads; ++t) {
    Fiber& f = state.fiber(t);
    const uint32_t ut = static_cast<uint32_t>(t);
    const uint32_t values[HONE_SIM_INDEX_COUNT] = {
        ut % spec.block[0], ut / spec.block[0] % spec.block[1], ut / spec.block[0] / spec.block[1],
        bx, by, bz, spec.block[0], spec.block[1], spec.block[2], spec.grid[0], spec.grid[1], spec.grid[2],
        ut % kWarpSize, ut / kWarpSize, ut, spec.dynamic_shared, static_shared,
        static_cast<uint32_t>(number % spec.sm_count), spec.sm_count};
    std::memcpy(f.index, values, sizeof values);
    f.thread = t;
    f.wait = Wait::kNone;
    f.ran = false;
    f.barriers = 0;
    f.spins = 0;
    f.commits = 0;
    f.copies = &state.copies(t);
    f.copies->clear();
    f.context = make_fcontext(state.stack_top(t), state.stack_bytes(), &Worker::FiberMain);
  }
  for (int w = 0; w < state.warp_count(); ++w) {
    Warp& warp = state.warps[static_cast<size_t>(w)];
    const int lanes = std::min(kWarpSize, threads - w * kWarpSize);
    warp.alive = warp.runnable = lanes == kWarpSize ? ~0u : (1u << lanes) - 1;
    warp.yielded = 0;
    warp.groups.clear();
    warp.ready_operands = {};
    warp.next_operands = 0;
  }
  // Undefined at the start of a block: NaN in every floating-point type, so that a use shows in the result too.
  std::memset(reinterpret_cast<void*>(shared_begin), 0xff, std::max(static_shared, dynamic_end));
}

void Worker::FiberMain(transfer_t transfer) {
  Worker& w = *static_cast<Worker*>(transfer.data);
  w.scheduler_ = transfer.fctx;
  w.launch->spec->entry(w.launch->spec->arguments.data());
  w.FinishCopies(*w.fiber, 0, true);
  w.fiber->wait = Wait::kExited;
  jump_fcontext(w.scheduler_, nullptr);
  __builtin_unreachable();
}

void Worker::SwitchOut() {
  if (!repeated_writes.empty()) [[unlikely]] CheckRepeatedWrites();
  fiber->spins = 0;
  const transfer_t transfer = jump_fcontext(scheduler_, nullptr);
  scheduler_ = transfer.fctx;
}

void Worker::Yield() {
  yielded_ = true;
  SwitchOut();
}

void Worker::Resume(BlockState& state, int thread) {
  Fiber& f = state.fiber(thread);
  const int lane = thread & 31;
  self = thread;
  fiber = &f;
  stack_begin = state.stack_begin(thread);
  stack_bytes = state.stack_stride();
  log_cursor = log_.cursor(lane);
  log_limit = log_.limit(lane);
  log_.MarkDirty();
  yielded_ = false;
  const transfer_t transfer = jump_fcontext(f.context, this);
  f.context = transfer.fctx;
  log_.set_cursor(lane, log_cursor);
  if (aborting_) return;
  Warp& warp = state.warps[static_cast<size_t>(thread >> 5)];
  if (yielded_) {
    warp.yielded |= 1u << lane;
  } else if (f.wait == Wait::kExited) {
    if (!repeated_writes.empty()) CheckRepeatedWrites();
    Exited(state, thread);
  } else {
    warp.runnable &= ~(f.wait == Wait::kNone ? 0u : 1u << lane);
  }
}

void Worker::Exited(BlockState& state, int thread) {
  Fiber& f = state.fiber(thread);
  Warp& warp = state.warps[static_cast<size_t>(thread >> 5)];
  const uint32_t bit = 1u << (thread & 31);
  warp.alive &= ~bit;
  warp.runnable &= ~bit;
  --state.alive;
  // Leaving early before doing anything is how threads beyond the end of a tensor leave, and barriers do not wait for
  // them. Leaving after work, with fewer barriers passed than others will pass, is a barrier in a divergent branch.
  if (f.ran && (!state.effects_exited || f.barriers < state.effects_exited_barriers)) {
    state.effects_exited = true;
    state.effects_exited_barriers = f.barriers;
    state.effects_exited_thread = static_cast<uint64_t>(thread);
  }
  if (!state.stack_intact(thread)) {
    // On the scheduler's own stack: the fiber is gone, so End (which leaves a fiber) does not fit.
    std::lock_guard lock(launch->mutex);
    launch->end = LaunchEnd::kUnsupported;
    launch->detail = fmt::format("a thread needs more than {} KiB of local memory", launch->spec->stack_bytes / 1024);
    launch->stop = true;
    aborting_ = true;
    return;
  }
  CompleteReadyGroups(state, thread >> 5);
}

bool Worker::RunWarp(BlockState& state, int w, bool* only_yields) {
  Warp& warp = state.warps[static_cast<size_t>(w)];
  bool ran = false;
  uint32_t ready;
  while ((ready = warp.runnable & ~warp.yielded) != 0) {
    const int lane = std::countr_zero(ready);
    Resume(state, w * kWarpSize + lane);
    if (aborting_) return true;
    ran = true;
    if (!yielded_) *only_yields = false;
  }
  if (ran) {
    counters.Drain(log_, w);
    counters.EndBatch();
  }
  return ran;
}

Worker::Stop Worker::RunBlock(BlockState& state, int patience) {
  int spinning_rounds = 0;
  for (;;) {
    bool ran = false, only_yields = true;
    for (int w = 0; w < state.warp_count(); ++w) {
      if (state.warps[static_cast<size_t>(w)].runnable != 0) ran |= RunWarp(state, w, &only_yields);
      if (aborting_) return Stop::kAborted;
    }
    counters.EndRound();
    if (launch->stop.load(std::memory_order_relaxed)) return Stop::kAborted;
    if (state.alive == 0) return Stop::kDone;
    if (ran && !only_yields) spinning_rounds = 0;
    if (state.order.exhausted()) {
      state.shadow.Restart();
      state.order.Restart();
    }
    bool spinning = false, runnable = false;
    for (int w = 0; w < state.warp_count(); ++w) {
      Warp& warp = state.warps[static_cast<size_t>(w)];
      spinning |= warp.yielded != 0;
      warp.yielded = 0;
      runnable |= warp.runnable != 0;
    }
    if (runnable && !spinning) continue;
    if (ReleaseActive(state)) continue;
    if (ReleaseBlockBarrier(state)) continue;
    if (aborting_) return Stop::kAborted;
    if (spinning) {
      if (++spinning_rounds >= patience) return Stop::kSpinning;
      continue;
    }
    if (state.at_grid == state.alive) return Stop::kGrid;
    ReportDeadlock(state);
    return Stop::kAborted;
  }
}

void Worker::BlockBarrier(int kind, int predicate, uint64_t pc, int* result) {
  Fiber& f = *fiber;
  f.wait = Wait::kBlockBarrier;
  f.wait_pc = pc;
  f.kind = static_cast<uint32_t>(kind);
  f.flag = predicate;
  ++block->at_barrier;
  SwitchOut();
  if (result != nullptr) *result = static_cast<int>(f.result);
}

bool Worker::ReleaseBlockBarrier(BlockState& state) {
  if (state.at_barrier == 0 || state.at_barrier != state.alive) return false;
  state.at_barrier = 0;
  int count = 0, waiting = 0;
  uint64_t pc = 0, other_pc = 0;
  int first = -1, other = -1;
  for (int t = 0; t < state.threads(); ++t) {
    const Fiber& f = state.fiber(t);
    if (f.wait != Wait::kBlockBarrier) continue;
    count += f.flag != 0;
    ++waiting;
    if (first < 0) {
      first = t;
      pc = f.wait_pc;
    } else if (f.wait_pc != pc && other < 0) {
      other = t;
      other_pc = f.wait_pc;
    }
  }
  if (other >= 0) {
    Note("divergent_barrier",
         fmt::format("threads of one block wait at different barriers: {} at {{0}}, {} at {{1}}", ThreadText(first),
                     ThreadText(other)),
         {pc, other_pc}, true);
  }
  if (state.effects_exited && state.effects_exited_barriers <= state.barriers) {
    Note("divergent_barrier",
         fmt::format("{} threads wait at the barrier at {{0}}, which {} left the kernel without reaching", waiting,
                     ThreadText(static_cast<int>(state.effects_exited_thread))),
         {pc});
    state.effects_exited = false;
  }
  ++state.barriers;
  state.order.BlockBarrier();
  counters.counters.barriers += (waiting + kWarpSize - 1) / kWarpSize;
  for (int t = 0; t < state.threads(); ++t) {
    Fiber& f = state.fiber(t);
    if (f.wait != Wait::kBlockBarrier) continue;
    f.result = f.kind == HONE_SIM_AND ? count == waiting : (f.kind == HONE_SIM_OR ? count > 0 : count);
    f.wait = Wait::kNone;
    f.barriers = state.barriers;
    state.warps[static_cast<size_t>(t >> 5)].runnable |= 1u << (t & 31);
  }
  return true;
}

void Worker::NamedBarrierWait(uint32_t id, uint32_t threads, bool wait, uint64_t pc) {
  NamedBarrier& named = block->named[id & 15];
  const uint32_t expected = threads == 0 ? static_cast<uint32_t>(block->alive) : threads;
  if (named.threads.empty()) named.expected = expected;
  if (named.expected != expected) {
    Note("divergent_barrier",
         fmt::format("barrier {} is used with {} and with {} threads at {{0}}", id, named.expected, expected), {pc});
  }
  named.threads.push_back(self);
  ++named.arrived;
  Fiber& f = *fiber;
  f.wait_pc = pc;
  if (wait) {
    f.wait = Wait::kNamedBarrier;
    f.operand = id & 15;
  }
  if (named.arrived >= named.expected) {
    const std::vector<int> arrived = std::move(named.threads);
    named = {};
    block->order.PartialBarrier(arrived);
    counters.counters.barriers += (static_cast<double>(arrived.size()) + kWarpSize - 1) / kWarpSize;
    for (const int t : arrived) {
      Fiber& waiting = block->fiber(t);
      if (waiting.wait != Wait::kNamedBarrier || waiting.operand != (id & 15)) continue;
      waiting.wait = Wait::kNone;
      if (t != self) block->warps[static_cast<size_t>(t >> 5)].runnable |= 1u << (t & 31);
    }
    return;
  }
  if (wait) SwitchOut();
}

void Worker::GridBarrier(uint64_t pc) {
  if (!launch->spec->cooperative) {
    End(LaunchEnd::kCrashed, "grid_sync",
        "grid synchronisation at {0} in a launch that is not cooperative (plan: cooperative = true)", {pc});
  }
  fiber->wait = Wait::kGridBarrier;
  fiber->wait_pc = pc;
  ++block->at_grid;
  SwitchOut();
}

void Worker::Meet(Collective collective, uint32_t mask, uint32_t tag, uint64_t pc) {
  const int lane = self & 31, w = self >> 5;
  Warp& warp = block->warps[static_cast<size_t>(w)];
  const uint32_t bit = 1u << lane;
  if (!(mask & bit)) {
    End(LaunchEnd::kCrashed, "warp_mask",
        fmt::format("lane {} calls a warp operation at {{0}} with the mask {:#010x}, which leaves it out", lane, mask),
        {pc});
  }
  size_t g = 0;
  for (; g < warp.groups.size(); ++g) {
    const WarpGroup& group = warp.groups[g];
    if (group.collective == collective && group.mask == mask && group.tag == tag &&
        (collective != Collective::kActiveMask || group.pc == pc)) {
      break;
    }
  }
  if (g == warp.groups.size()) warp.groups.push_back({collective, mask, tag, 0, pc});
  warp.groups[g].arrived |= bit;
  fiber->wait = Wait::kWarp;
  fiber->wait_pc = pc;
  if (collective != Collective::kActiveMask && warp.groups[g].arrived == (mask & warp.alive)) {
    // The last to arrive: its warp's log is drained here when all lanes are at this point together.
    log_.set_cursor(lane, log_cursor);
    if (warp.groups[g].arrived == warp.alive) {
      counters.Drain(log_, w);
      log_cursor = log_.cursor(lane);
      log_.MarkDirty();
    }
    CompleteGroup(*block, w, g);
    if (!repeated_writes.empty()) [[unlikely]] CheckRepeatedWrites();
    fiber->spins = 0;
    return;
  }
  SwitchOut();
}

bool Worker::MustWait(BlockState& state, int w, const WarpGroup& group) const {
  if (group.collective != Collective::kShuffle) return true;
  uint64_t operands = group.arrived;
  for (uint32_t left = group.arrived; left != 0; left &= left - 1) {
    operands = draw::Mix(operands + state.fiber(w * kWarpSize + std::countr_zero(left)).value);
  }
  Warp& warp = state.warps[static_cast<size_t>(w)];
  if (std::find(warp.ready_operands.begin(), warp.ready_operands.end(), operands) != warp.ready_operands.end()) return false;
  warp.ready_operands[warp.next_operands++ % warp.ready_operands.size()] = operands;
  return true;
}

bool Worker::CompleteReadyGroups(BlockState& state, int w) {
  Warp& warp = state.warps[static_cast<size_t>(w)];
  bool any = false;
  for (size_t g = 0; g < warp.groups.size();) {
    const WarpGroup& group = warp.groups[g];
    if (group.collective != Collective::kActiveMask && group.arrived == (group.mask & warp.alive)) {
      CompleteGroup(state, w, g);
      any = true;
    } else {
      ++g;
    }
  }
  return any;
}

// Lanes that asked who runs with them, once nobody else in their warp can run.
bool Worker::ReleaseActive(BlockState& state) {
  bool any = false;
  for (int w = 0; w < state.warp_count(); ++w) {
    Warp& warp = state.warps[static_cast<size_t>(w)];
    if ((warp.runnable & ~warp.yielded) != 0) continue;
    for (size_t g = 0; g < warp.groups.size();) {
      if (warp.groups[g].collective == Collective::kActiveMask) {
        CompleteGroup(state, w, g);
        any = true;
      } else {
        ++g;
      }
    }
  }
  return any;
}

namespace {

// What CUDA leaves undefined: a NaN in every type, so that a use of it shows.
constexpr uint64_t kUndefined = ~uint64_t{0};

uint64_t Shuffled(int kind, int lane, uint32_t argument, uint32_t width, const std::array<Fiber*, kWarpSize>& lanes,
                  int* in_range) {
  const uint32_t segment = static_cast<uint32_t>(lane) & ~(width - 1);
  const uint32_t last = segment + width - 1;
  const uint32_t self = static_cast<uint32_t>(lane);
  uint32_t source = self;
  bool inside = true;
  switch (kind) {
    case HONE_SIM_SHUFFLE_INDEX:
      source = segment + (argument & (width - 1));
      break;
    case HONE_SIM_SHUFFLE_UP:
      inside = self - segment >= argument;
      if (inside) source = self - argument;
      break;
    case HONE_SIM_SHUFFLE_DOWN:
      inside = uint64_t{self} + argument <= last;
      if (inside) source = self + argument;
      break;
    default: {  // XOR may reach into earlier segments, never into later ones
      const uint32_t other = self ^ argument;
      inside = other <= last && other < kWarpSize;
      if (inside) source = other;
      break;
    }
  }
  *in_range = inside;
  const Fiber* f = lanes[source];
  return f == nullptr ? kUndefined : f->value;
}

uint32_t Reduced(uint32_t kind, const std::array<Fiber*, kWarpSize>& lanes) {
  bool first = true;
  uint32_t r = 0;
  for (const Fiber* f : lanes) {
    if (f == nullptr) continue;
    const uint32_t v = static_cast<uint32_t>(f->value);
    if (first) {
      r = v;
      first = false;
      continue;
    }
    switch (kind) {
      case HONE_SIM_REDUCE_ADD: r += v; break;
      case HONE_SIM_REDUCE_MIN_S32: r = static_cast<int32_t>(v) < static_cast<int32_t>(r) ? v : r; break;
      case HONE_SIM_REDUCE_MAX_S32: r = static_cast<int32_t>(v) > static_cast<int32_t>(r) ? v : r; break;
      case HONE_SIM_REDUCE_MIN_U32: r = std::min(r, v); break;
      case HONE_SIM_REDUCE_MAX_U32: r = std::max(r, v); break;
      case HONE_SIM_REDUCE_AND: r &= v; break;
      case HONE_SIM_REDUCE_OR: r |= v; break;
      default: r ^= v; break;
    }
  }
  return r;
}

}  // namespace

void Worker::CompleteGroup(BlockState& state, int w, size_t g) {
  Warp& warp = state.warps[static_cast<size_t>(w)];
  const WarpGroup group = warp.groups[g];
  warp.groups.erase(warp.groups.begin() + static_cast<ptrdiff_t>(g));
  std::array<Fiber*, kWarpSize> lanes{};
  for (int lane = 0; lane < kWarpSize; ++lane) {
    if (group.arrived >> lane & 1) lanes[static_cast<size_t>(lane)] = &state.fiber(w * kWarpSize + lane);
  }
  switch (group.collective) {
    case Collective::kSync:
      state.order.WarpBarrier(w, group.arrived, warp.alive);
      break;
    case Collective::kShuffle:
      for (int lane = 0; lane < kWarpSize; ++lane) {
        Fiber* f = lanes[static_cast<size_t>(lane)];
        if (f == nullptr) continue;
        f->result = Shuffled(static_cast<int>(f->kind), lane, f->operand, f->width, lanes, &f->flag);
      }
      break;
    case Collective::kVote: {
      uint32_t ballot = 0;
      for (int lane = 0; lane < kWarpSize; ++lane) {
        const Fiber* f = lanes[static_cast<size_t>(lane)];
        if (f != nullptr && f->flag != 0) ballot |= 1u << lane;
      }
      for (Fiber* f : lanes) {
        if (f == nullptr) continue;
        switch (f->kind) {
          case HONE_SIM_VOTE_ALL: f->result = ballot == group.arrived; break;
          case HONE_SIM_VOTE_ANY: f->result = ballot != 0; break;
          case HONE_SIM_VOTE_UNI: f->result = ballot == 0 || ballot == group.arrived; break;
          default: f->result = ballot; break;
        }
      }
      break;
    }
    case Collective::kMatchAny:
    case Collective::kMatchAll: {
      bool all = true;
      const Fiber* first = nullptr;
      for (Fiber* f : lanes) {
        if (f == nullptr) continue;
        if (first == nullptr) first = f;
        all &= f->value == first->value;
      }
      for (Fiber* f : lanes) {
        if (f == nullptr) continue;
        uint32_t same = 0;
        for (int lane = 0; lane < kWarpSize; ++lane) {
          const Fiber* other = lanes[static_cast<size_t>(lane)];
          if (other != nullptr && other->value == f->value) same |= 1u << lane;
        }
        f->flag = all;
        f->result = group.collective == Collective::kMatchAny ? same : (all ? group.mask : 0);
      }
      break;
    }
    case Collective::kReduce: {
      const uint32_t value = Reduced(group.tag, lanes);
      for (Fiber* f : lanes) {
        if (f != nullptr) f->result = value;
      }
      break;
    }
    case Collective::kGather: {
      // Put together once, then copied whole: every lane of a group offers and receives the same number of bytes.
      const size_t bytes = group.tag & (kMaxGatherBytes | (kMaxGatherBytes - 1));
      alignas(64) uint8_t all[kWarpSize * kMaxGatherBytes];
      for (size_t lane = 0; lane < kWarpSize; ++lane) {
        if (lanes[lane] == nullptr) {
          std::memset(all + lane * bytes, 0, bytes);
        } else {
          std::memcpy(all + lane * bytes, lanes[lane]->gather_from, bytes);
        }
      }
      for (const Fiber* f : lanes) {
        if (f != nullptr) std::memcpy(f->gather_to, all, kWarpSize * bytes);
      }
      gathers_ += static_cast<uint64_t>(std::popcount(group.arrived));
      break;
    }
    case Collective::kActiveMask:
      for (Fiber* f : lanes) {
        if (f != nullptr) f->result = group.arrived;
      }
      break;
  }
  if (group.collective != Collective::kActiveMask) {
    counters.counters.warp_operations += 1;
    if (MustWait(state, w, group)) {
      counters.EndBatch();
      counters.counters.waiting_operations += 1;
    }
  }
  for (int lane = 0; lane < kWarpSize; ++lane) {
    Fiber* f = lanes[static_cast<size_t>(lane)];
    if (f == nullptr) continue;
    f->wait = Wait::kNone;
    warp.runnable |= 1u << lane;
  }
}

void Worker::ReportDeadlock(BlockState& state) {
  // One example of each way of waiting, with its place.
  struct Group {
    Wait wait;
    uint64_t pc;
    int first, count;
  };
  std::vector<Group> groups;
  for (int t = 0; t < state.threads(); ++t) {
    const Fiber& f = state.fiber(t);
    if (f.wait == Wait::kExited) continue;
    const auto same = std::find_if(groups.begin(), groups.end(),
                                   [&](const Group& g) { return g.wait == f.wait && g.pc == f.wait_pc; });
    if (same != groups.end()) {
      ++same->count;
    } else {
      groups.push_back({f.wait, f.wait_pc, t, 1});
    }
  }
  std::string text = "the block cannot go on:";
  std::vector<uint64_t> pcs;
  for (size_t i = 0; i < groups.size() && i < 3; ++i) {
    const Group& g = groups[i];
    const char* where = g.wait == Wait::kWarp ? "a warp operation"
                        : g.wait == Wait::kGridBarrier ? "the grid barrier"
                        : g.wait == Wait::kNamedBarrier ? "a named barrier" : "the block barrier";
    text += fmt::format("{} {} thread{} (first: {}) wait{} in {} at {{{}}}", i == 0 ? "" : ";", g.count,
                        g.count == 1 ? "" : "s", ThreadText(g.first), g.count == 1 ? "s" : "", where, i);
    pcs.push_back(g.pc);
  }
  if (state.alive < state.threads()) text += fmt::format("; {} have left the kernel", state.threads() - state.alive);
  Note("divergent_barrier", text, pcs);
  std::lock_guard lock(launch->mutex);
  launch->stop = true;
  aborting_ = true;
}

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
          block->shadow.Touch<true, false>(static_cast<uint32_t>(offset), copy.bytes, f.thread, Ordering::kPlain,
                                           site->id, block->order)) {
        SharedConflictFound(copy.pc, static_cast<uint32_t>(offset), copy.bytes, true);
      }
    }
    groups -= copy.committed;
    ++done;
  }
  copies.erase(copies.begin(), copies.begin() + static_cast<ptrdiff_t>(done));
}

}  // namespace hone::sim
