// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements barriers of a block, of some of its warps and of the grid, and the report when no thread can continue.
#include <fmt/format.h>

#include <algorithm>

#include "tuner/device/sim/worker/worker.h"

namespace hone::sim {

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

// Lets the block's threads go on if all that live have reached the barrier. Reports a barrier that they reached at
// different places. Returns whether it was released.
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
         {pc, other_pc}, /*only_if_lines_differ=*/true);
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

// Waits at, or (`wait` false) only arrives at, a named barrier. `threads`: how many it is for; 0: the whole block.
void Worker::NamedBarrierWait(uint32_t id, uint32_t threads, bool wait, uint64_t pc) {
  NamedBarrier& barrier = block->named[id & 15];
  const uint32_t expected = threads == 0 ? static_cast<uint32_t>(block->alive) : threads;
  if (barrier.threads.empty()) barrier.expected = expected;
  if (barrier.expected != expected) {
    Note("divergent_barrier",
         fmt::format("barrier {} is used with {} and with {} threads at {{0}}", id, barrier.expected, expected), {pc});
  }
  barrier.threads.push_back(self);
  ++barrier.arrived;
  Fiber& f = *fiber;
  f.wait_pc = pc;
  if (wait) {
    f.wait = Wait::kNamedBarrier;
    f.operand = id & 15;
  }
  if (barrier.arrived >= barrier.expected) {
    const std::vector<int> arrived = std::move(barrier.threads);
    barrier = {};
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

// Lets the block's threads go on behind a barrier of the whole grid.
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

// Reports which threads of a block wait for what, when none can go on.
void Worker::ReportDeadlock(BlockState& state) {
  // One example of each kind of wait, with its position.
  struct Group {
    Wait wait;
    uint64_t pc;
    int first, count;
  };
  std::vector<Group> groups;
  for (int t = 0; t < state.threads(); ++t) {
    const Fiber& f = state.fiber(t);
    if (f.wait == Wait::kExited) continue;
    const auto matching_group = std::find_if(groups.begin(), groups.end(),
                                             [&](const Group& g) { return g.wait == f.wait && g.pc == f.wait_pc; });
    if (matching_group != groups.end()) {
      ++matching_group->count;
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

}  // namespace hone::sim
