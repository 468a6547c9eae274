// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Begins the fibers of a block, runs each until it waits, and decides which may continue.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "tuner/device/sim/worker/worker.h"
#include "tuner/values/draw.h"

namespace hone::sim {

void Worker::Activate(BlockState* state) {
  counters.UseCache(state->cache, state->number);
  if (active_ == state) return;
  uint8_t* const shared = reinterpret_cast<uint8_t*>(shared_begin);
  const size_t used_shared = std::max(static_shared, dynamic_end);
  if (active_ != nullptr) active_->saved_shared.assign(shared, shared + used_shared);
  if (!state->saved_shared.empty()) std::memcpy(shared, state->saved_shared.data(), used_shared);
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
  state.ordered = state.paused = state.lets_others_in = false;
  state.first_writes = 0;
  state.saved_shared.clear();
  for (NamedBarrier& barrier : state.named) barrier = {};
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
    f.volatile_read = 0;
    f.copies = &state.copies(t);
    f.copies->clear();
    f.group_reads = &state.group_reads(t);
    f.group_reads->clear();
    f.group_fenced = false;
    if (spec.local_bytes == 0) f.point = simt::MakeFiber<&Worker::FiberMain>(state.stack_top(t), state.stack_bytes());
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
  // Shared memory is undefined at the start of a block, and never holds what the previous block left.
  const uint8_t* const fill = fill_.data() + draw::Mix(number ^ spec.fill_key) % fill_span_ / 64 * 64;
  std::memcpy(reinterpret_cast<void*>(shared_begin), fill, std::max(static_shared, dynamic_end));
  if (spec.local_bytes > 0) {
    for (int t = 0; t < threads; ++t) {
      std::memcpy(static_cast<uint8_t*>(state.stack_top(t)) - spec.local_bytes, fill, spec.local_bytes);
      state.fiber(t).point = simt::MakeFiber<&Worker::FiberMain>(state.stack_top(t), state.stack_bytes());
    }
  }
}

// Runs one thread of the candidate, on a fiber's stack, from its start to its end.
void Worker::FiberMain(simt::FiberTransfer transfer) {
  Worker& w = *static_cast<Worker*>(transfer.data);
  w.scheduler_ = transfer.from;
  w.launch->spec->entry(w.launch->spec->arguments.data());
  w.FinishCopies(*w.fiber, /*groups_left=*/0, /*uncommitted_too=*/true);
  if (!w.fiber->group_reads->empty()) [[unlikely]] w.GroupNotWaitedFor();
  w.fiber->wait = Wait::kExited;
  simt::FiberJump(w.scheduler_, nullptr);
  __builtin_unreachable();
}

void Worker::SwitchOut() {
  if (!repeated_writes.empty()) [[unlikely]] CheckRepeatedWrites();
  fiber->spins = 0;
  scheduler_ = simt::FiberJump(scheduler_, nullptr).from;
}

void Worker::Yield() {
  yielded_ = true;
  SwitchOut();
}

// Switches to a thread, and returns when it waits, yields or has ended.
void Worker::Resume(BlockState& state, int thread) {
  Fiber& f = state.fiber(thread);
  const int lane = thread & 31;
  self = thread;
  fiber = &f;
  stack_begin = state.stack_begin(thread);
  stack_bytes = state.stack_stride();
  stack_write_bytes = state.stack_bytes();
  log_cursor = log_.cursor(lane);
  log_limit = log_.limit(lane);
  log_.MarkDirty();
  yielded_ = false;
  f.point = simt::FiberJump(f.point, this).from;
  log_.set_cursor(lane, log_cursor);
  if (aborting_) return;
  Warp& warp = state.warps[static_cast<size_t>(thread >> 5)];
  if (yielded_ || log_filled_) {
    warp.yielded |= 1u << lane;
    some_log_filled_ |= log_filled_;
    log_filled_ = false;
  } else if (f.wait == Wait::kExited) {
    if (!repeated_writes.empty()) CheckRepeatedWrites();
    NoteExit(state, thread);
  } else {
    warp.runnable &= ~(f.wait == Wait::kNone ? 0u : 1u << lane);
  }
}

// Takes a thread that has ended out of its warp and its block.
void Worker::NoteExit(BlockState& state, int thread) {
  Fiber& f = state.fiber(thread);
  Warp& warp = state.warps[static_cast<size_t>(thread >> 5)];
  const uint32_t bit = 1u << (thread & 31);
  warp.alive &= ~bit;
  warp.runnable &= ~bit;
  --state.alive;
  // Exiting early without effects is usual for threads beyond the end of a tensor, and barriers do not wait for them.
  // Exiting after work, having passed fewer barriers than other threads, means a barrier in a divergent branch.
  if (f.ran && (!state.effects_exited || f.barriers < state.effects_exited_barriers)) {
    state.effects_exited = true;
    state.effects_exited_barriers = f.barriers;
    state.effects_exited_thread = static_cast<uint64_t>(thread);
  }
  if (!state.stack_intact(thread)) {
    // This runs on the scheduler's own stack: the fiber is gone, so End (which leaves a fiber) cannot be used.
    std::lock_guard lock(launch->mutex);
    launch->end = LaunchEnd::kUnsupported;
    launch->detail = fmt::format("a thread needs more than {} KiB of local memory", launch->spec->stack_bytes / 1024);
    launch->stop = true;
    aborting_ = true;
    return;
  }
  CompleteReadyGroups(state, thread >> 5);
}

// Runs threads of a warp until each waits, has yielded or has ended. Returns whether any ran; sets `only_yields` to false
// if one of them did more than yield.
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
  moved_ = false;
  for (;;) {
    bool ran = false, only_yields = true;
    for (int w = 0; w < state.warp_count(); ++w) {
      if (state.warps[static_cast<size_t>(w)].runnable != 0) ran |= RunWarp(state, w, &only_yields);
      if (aborting_) return Stop::kAborted;
    }
    counters.EndRound();
    if (let_others_in_) {
      let_others_in_ = false;
      for (int w = 0; w < state.warp_count(); ++w) state.warps[static_cast<size_t>(w)].yielded = 0;
      moved_ = true;
      return Stop::kSpinning;
    }
    if (launch->stop.load(std::memory_order_relaxed)) return Stop::kAborted;
    if (state.alive == 0) return Stop::kDone;
    if (some_log_filled_) {
      // Such threads wait for nothing: nobody else is released until they have gone on.
      some_log_filled_ = false;
      for (int w = 0; w < state.warp_count(); ++w) state.warps[static_cast<size_t>(w)].yielded = 0;
      moved_ = true;
      continue;
    }
    if (ran && !only_yields) {
      spinning_rounds = 0;
      moved_ = true;
    }
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

}  // namespace hone::sim
