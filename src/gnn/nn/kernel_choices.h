// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Says which instances of the GPU engine's kernels a model's operations run. Every instance adds a row's terms in the
// same order, so a choice changes no bit of a result, only its time. `hone tune` finds choices on the tasks that
// `hone-gnn tune-model` writes (gnn/tune/tuned_kernels.h).
#pragma once

#include <map>
#include <string>

namespace hone::gnn {

// The instance of a kernel that sums rows over a hop, or of its backward pass. The default is the engine's own kernel.
struct SumChoice {
  int lanes = 32;   // lanes that share a row: 32, 16 or 8. Fewer than 32 put several rows side by side in a warp.
  int ahead = 8;    // forward: rows that a lane loads before it adds the first; backward: sources of a group of lanes
  int block = 256;  // threads of a thread block: 256, 128 or 64
  bool operator==(const SumChoice&) const = default;
  bool is_default() const { return *this == SumChoice{}; }
};

// Returns whether the engine has this instance.
inline bool HasInstance(const SumChoice& choice) {
  const bool lanes = choice.lanes == 32 || choice.lanes == 16 || choice.lanes == 8;
  const bool block = choice.block == 256 || choice.block == 128 || choice.block == 64;
  return lanes && block && (choice.ahead == 8 || choice.ahead == 4);
}

struct AggregateChoice {
  SumChoice forward, backward;
};

// The choices for a model's aggregates over inner hops, by the name of the spec's value. An aggregate that is not named
// here runs the engine's own kernels.
struct KernelChoices {
  std::map<std::string, AggregateChoice, std::less<>> aggregates;
};

}  // namespace hone::gnn
