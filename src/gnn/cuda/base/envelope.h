// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// What a batch may need at most, and a batch in device memory.
#pragma once

#include <cstdint>
#include <vector>

#include "base/rounding.h"
#include "gnn/cuda/base/batch_layout.h"

namespace hone::gnn::cuda {

// Layer l of L turns the nodes known after hop L-l into rows for those known after hop L-1-l; the outermost hop's own
// nodes are known to nobody, for layer 0 draws and gathers in one kernel.
struct Envelope {
  std::vector<int32_t> fanouts;  // [layers], hop 0 is next to the seeds
  std::vector<int32_t> known;    // [layers]: nodes after hop 0 (the seeds), 1, …, layers - 1
  bool trains = false;

  int layers() const { return static_cast<int>(fanouts.size()); }
  int HopOf(int layer) const { return layers() - 1 - layer; }
  // Of what layer `layer` puts out, rounded up to what products like.
  int64_t Rows(int layer) const { return RoundUp<int64_t>(known[static_cast<size_t>(HopOf(layer))], 128); }
};

// A batch in device memory. Layer l >= 1 aggregates over hops[HopOf(l)].
struct BatchOnDevice {
  const RunState* state = nullptr;
  const BatchHeader* header = nullptr;
  const int32_t* nodes = nullptr;     // global id by local id
  const HopOnDevice* hops = nullptr;  // [layers - 1]
  void* outer = nullptr;              // what EnqueueOutermost leaves, Program::OuterBytes() of it
  // Where the outermost hop is drawn from and its rows are found, and the batch's nodes by that graph's ids; the whole
  // graph and `nodes`, but for a batch that came with its rows (feed.h).
  GraphOnDevice graph = {};
  const int32_t* graph_nodes = nullptr;
  // Where misses are staged: what the outermost hop has drawn and where it lies, if that was written down.
  DrawnPlaces drawn = {};
};

}  // namespace hone::gnn::cuda
