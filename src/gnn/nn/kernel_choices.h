// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Says which instances of the GPU engine's kernels a model's operations run. Every instance adds a row's terms in the
// same order, so a choice changes no bit of a result, only its time. `hone tune` finds choices on the tasks that
// `hone-gnn tune-model` writes (gnn/tune/tuned_kernels.h).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace hone::gnn {

// The instance of a kernel that sums rows over a hop, or of its backward pass.
struct SumChoice {
  int lanes = 32;   // lanes that share a row: 32, 16 or 8. Fewer than 32 put several rows side by side in a warp.
  int ahead = 4;    // forward: rows that a lane loads before it adds the first; backward: sources of a group of lanes
  int block = 256;  // threads of a thread block: 256, 128 or 64
  bool operator==(const SumChoice&) const = default;
};

// Returns the engine's own instance for rows of so many columns: as many lanes as a row has vectors of eight columns,
// and small blocks, whose last ones leave less of a GPU idle. On an H200 these won in epochs of graph convolutions of
// 64 to 256 columns.
inline SumChoice OwnSumChoice(int64_t columns, bool backward) {
  const int lanes = columns > 128 ? 32 : columns > 64 || backward ? 16 : 8;
  return {lanes, 4, backward ? 128 : 64};
}

// Returns whether the engine has this instance.
inline bool HasInstance(const SumChoice& choice) {
  const bool lanes = choice.lanes == 32 || choice.lanes == 16 || choice.lanes == 8;
  const bool block = choice.block == 256 || choice.block == 128 || choice.block == 64;
  return lanes && block && (choice.ahead == 8 || choice.ahead == 4);
}

struct AggregateChoice {
  std::optional<SumChoice> forward, backward;  // nullopt: the engine's own
};
inline bool HasInstances(const AggregateChoice& choice) {
  return (!choice.forward || HasInstance(*choice.forward)) && (!choice.backward || HasInstance(*choice.backward));
}

// The choices for a model's aggregates over inner hops, by the name of the spec's value. An aggregate that is not named
// here runs the engine's own kernels.
struct KernelChoices {
  std::map<std::string, AggregateChoice, std::less<>> aggregates;
};

}  // namespace hone::gnn
