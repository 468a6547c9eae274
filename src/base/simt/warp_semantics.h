// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Computes CUDA's warp operations, as functions of the 32 lanes' values.
//
// Everything that runs device code on the host uses these functions: the simulated GPU (tuner/device/sim), the emulated
// one of the graph engine (gnn/cuda/emulated) and the tests' driver (tuner/device/cuda/fake). Each of them decides how
// lanes wait for each other, and what happens when one is missing. Enumerators have the numbers of
// tuner/device/sim/sim_abi.h. All functions are pure and constexpr; source: CUDA C++ Programming Guide, "Warp Shuffle
// Functions" to "Warp Reduce Functions", and PTX ISA, shfl.sync.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

namespace hone::simt {

inline constexpr uint32_t kWarpLanes = 32;

// One value per lane; entries of lanes that take no part are ignored.
using LaneValues = std::array<uint64_t, kWarpLanes>;

enum class ShuffleKind : uint8_t { kIndex, kUp, kDown, kXor };
enum class VoteKind : uint8_t { kBallot, kAll, kAny, kUniform };
enum class ReduceKind : uint8_t { kAdd, kMinS32, kMaxS32, kMinU32, kMaxU32, kAnd, kOr, kXor };

// Calls visit(lane) for every lane of `lanes`, in ascending order.
template <typename Visit>
constexpr void ForEachLane(uint32_t lanes, Visit&& visit) {
  for (; lanes != 0; lanes &= lanes - 1) visit(static_cast<uint32_t>(std::countr_zero(lanes)));
}

// The lane from which a shuffle reads.
struct ShuffleSource {
  uint32_t lane;  // the lane that is read; the reading lane itself if the source is out of range
  bool in_range;  // PTX's predicate
};

// Returns the lane that `lane` reads. `argument`: the source lane (kIndex), the distance (kUp, kDown) or the bits to
// flip (kXor). `width`: a power of two up to 32; the warp is divided into segments of that many lanes.
constexpr ShuffleSource SourceOfShuffle(ShuffleKind kind, uint32_t lane, uint32_t argument, uint32_t width) {
  const uint32_t segment = lane & ~(width - 1), last = segment + width - 1;
  uint64_t source = lane;
  bool in_range = true;
  switch (kind) {
    case ShuffleKind::kIndex:
      source = segment + (argument & (width - 1));
      break;
    case ShuffleKind::kUp:
      in_range = lane - segment >= argument;
      source = lane - argument;
      break;
    case ShuffleKind::kDown:
      source = uint64_t{lane} + argument;
      in_range = source <= last;
      break;
    case ShuffleKind::kXor:  // may reach into earlier segments, never into later ones
      source = lane ^ argument;
      in_range = source <= last;
      break;
  }
  return {in_range ? static_cast<uint32_t>(source) : lane, in_range};
}

// Returns the lanes of `lanes` whose value is not zero.
constexpr uint32_t Ballot(const LaneValues& predicates, uint32_t lanes) {
  uint32_t ballot = 0;
  ForEachLane(lanes, [&](uint32_t lane) { ballot |= predicates[lane] != 0 ? 1u << lane : 0; });
  return ballot;
}

// Returns the vote's result for every lane of `lanes`; `ballot` is the result of Ballot.
constexpr uint32_t VoteResult(VoteKind kind, uint32_t ballot, uint32_t lanes) {
  switch (kind) {
    case VoteKind::kAll: return ballot == lanes;
    case VoteKind::kAny: return ballot != 0;
    case VoteKind::kUniform: return ballot == 0 || ballot == lanes;
    case VoteKind::kBallot: break;
  }
  return ballot;
}

// Implements match.any: returns the lanes of `lanes` that hold `value`. match.all holds if the result is `lanes`.
constexpr uint32_t LanesWith(uint64_t value, const LaneValues& values, uint32_t lanes) {
  uint32_t lanes_with_value = 0;
  ForEachLane(lanes, [&](uint32_t lane) { lanes_with_value |= values[lane] == value ? 1u << lane : 0; });
  return lanes_with_value;
}

// Implements redux.sync on the values' low 32 bits. `lanes` is not 0.
constexpr uint32_t Reduce(ReduceKind kind, const LaneValues& values, uint32_t lanes) {
  const auto first = static_cast<uint32_t>(std::countr_zero(lanes));
  auto result = static_cast<uint32_t>(values[first]);
  ForEachLane(lanes & (lanes - 1), [&](uint32_t lane) {
    const auto value = static_cast<uint32_t>(values[lane]);
    switch (kind) {
      case ReduceKind::kAdd: result += value; break;
      case ReduceKind::kMinS32: result = static_cast<int32_t>(value) < static_cast<int32_t>(result) ? value : result; break;
      case ReduceKind::kMaxS32: result = static_cast<int32_t>(value) > static_cast<int32_t>(result) ? value : result; break;
      case ReduceKind::kMinU32: result = std::min(result, value); break;
      case ReduceKind::kMaxU32: result = std::max(result, value); break;
      case ReduceKind::kAnd: result &= value; break;
      case ReduceKind::kOr: result |= value; break;
      case ReduceKind::kXor: result ^= value; break;
    }
  });
  return result;
}

}  // namespace hone::simt
