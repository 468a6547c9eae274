// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements warp operations: lanes meet, each gets its result (base/simt/warp_semantics.h), and all continue.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "base/simt/warp_semantics.h"
#include "tuner/device/sim/worker/worker.h"
#include "tuner/values/draw.h"

namespace hone::sim {

namespace {

// Value of results that CUDA leaves undefined: a NaN in every type, so that its use shows.
constexpr uint64_t kUndefined = ~uint64_t{0};

static_assert(kWarpSize == simt::kWarpLanes);
template <typename Kind>
constexpr bool Is(Kind kind, int number) {
  return static_cast<int>(kind) == number;
}
static_assert(Is(simt::ShuffleKind::kIndex, HONE_SIM_SHUFFLE_INDEX) && Is(simt::ShuffleKind::kUp, HONE_SIM_SHUFFLE_UP) &&
              Is(simt::ShuffleKind::kDown, HONE_SIM_SHUFFLE_DOWN) && Is(simt::ShuffleKind::kXor, HONE_SIM_SHUFFLE_XOR));
static_assert(Is(simt::VoteKind::kBallot, HONE_SIM_VOTE_BALLOT) && Is(simt::VoteKind::kAll, HONE_SIM_VOTE_ALL) &&
              Is(simt::VoteKind::kAny, HONE_SIM_VOTE_ANY) && Is(simt::VoteKind::kUniform, HONE_SIM_VOTE_UNI));
static_assert(Is(simt::ReduceKind::kAdd, HONE_SIM_REDUCE_ADD) && Is(simt::ReduceKind::kMinS32, HONE_SIM_REDUCE_MIN_S32) &&
              Is(simt::ReduceKind::kMaxS32, HONE_SIM_REDUCE_MAX_S32) &&
              Is(simt::ReduceKind::kMinU32, HONE_SIM_REDUCE_MIN_U32) &&
              Is(simt::ReduceKind::kMaxU32, HONE_SIM_REDUCE_MAX_U32) && Is(simt::ReduceKind::kAnd, HONE_SIM_REDUCE_AND) &&
              Is(simt::ReduceKind::kOr, HONE_SIM_REDUCE_OR) && Is(simt::ReduceKind::kXor, HONE_SIM_REDUCE_XOR));

}  // namespace

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
    // The last lane has arrived: its warp's log is drained here if all lanes are at this point together.
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
  for (uint32_t lanes_left = group.arrived; lanes_left != 0; lanes_left &= lanes_left - 1) {
    operands = draw::Mix(operands + state.fiber(w * kWarpSize + std::countr_zero(lanes_left)).value);
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

// Releases lanes that asked for their active mask, once no other lane of their warp can run.
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

void Worker::CompleteGroup(BlockState& state, int w, size_t g) {
  Warp& warp = state.warps[static_cast<size_t>(w)];
  const WarpGroup group = warp.groups[g];
  warp.groups.erase(warp.groups.begin() + static_cast<ptrdiff_t>(g));
  std::array<Fiber*, kWarpSize> lanes{};
  simt::LaneValues values{};
  const auto each = [&](auto&& visit) {
    simt::ForEachLane(group.arrived, [&](uint32_t lane) { visit(lane, *lanes[lane]); });
  };
  simt::ForEachLane(group.arrived, [&](uint32_t lane) {
    lanes[lane] = &state.fiber(w * kWarpSize + static_cast<int>(lane));
    values[lane] = lanes[lane]->value;
  });
  switch (group.collective) {
    case Collective::kSync:
      state.order.WarpBarrier(w, group.arrived, warp.alive);
      break;
    case Collective::kShuffle:
      each([&](uint32_t lane, Fiber& f) {
        const simt::ShuffleSource source =
            simt::SourceOfShuffle(static_cast<simt::ShuffleKind>(group.tag), lane, f.operand, f.width);
        f.flag = source.in_range;
        f.result = (group.arrived >> source.lane & 1) != 0 ? values[source.lane] : kUndefined;
      });
      break;
    case Collective::kVote: {
      const uint32_t ballot = simt::Ballot(values, group.arrived);
      const uint32_t result = simt::VoteResult(static_cast<simt::VoteKind>(group.tag), ballot, group.arrived);
      each([&](uint32_t, Fiber& f) { f.result = result; });
      break;
    }
    case Collective::kMatchAny:
    case Collective::kMatchAll:
      each([&](uint32_t, Fiber& f) {
        const uint32_t lanes_with_value = simt::LanesWith(f.value, values, group.arrived);
        f.flag = lanes_with_value == group.arrived;
        f.result = group.collective == Collective::kMatchAny ? lanes_with_value : (f.flag != 0 ? group.mask : 0);
      });
      break;
    case Collective::kReduce: {
      const uint32_t result = simt::Reduce(static_cast<simt::ReduceKind>(group.tag), values, group.arrived);
      each([&](uint32_t, Fiber& f) { f.result = result; });
      break;
    }
    case Collective::kGather: {
      // The values are combined once, then copied whole: every lane of a group offers and receives the same number of
      // bytes.
      const size_t bytes = group.tag & (kMaxGatherBytes | (kMaxGatherBytes - 1));
      alignas(64) uint8_t all[kWarpSize * kMaxGatherBytes];
      std::memset(all, 0, kWarpSize * bytes);
      each([&](uint32_t lane, const Fiber& f) { std::memcpy(all + lane * bytes, f.gather_from, bytes); });
      each([&](uint32_t, const Fiber& f) { std::memcpy(f.gather_to, all, kWarpSize * bytes); });
      gathers_ += static_cast<uint64_t>(std::popcount(group.arrived));
      break;
    }
    case Collective::kActiveMask:
      each([&](uint32_t, Fiber& f) { f.result = group.arrived; });
      break;
  }
  if (group.collective != Collective::kActiveMask) {
    counters.counters.warp_operations += 1;
    if (MustWait(state, w, group)) {
      counters.EndBatch();
      counters.counters.waiting_operations += 1;
    }
  }
  each([](uint32_t, Fiber& f) { f.wait = Wait::kNone; });
  warp.runnable |= group.arrived;
}

}  // namespace hone::sim
