// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Describes the most that a batch may need, and a batch in device memory.
#pragma once

#include <cstdint>
#include <vector>

#include "base/numbers/rounding.h"
#include "gnn/cuda/base/batch_layout.h"

namespace hone::gnn::cuda {

// The most that a batch may need, hop by hop. Layer l of L turns the nodes known after hop L-l into rows for the nodes
// known after hop L-1-l. The nodes that the outermost hop draws get no local ids, because layer 0 draws and gathers in
// one kernel.
struct Envelope {
  std::vector<int32_t> fanouts;  // [layers], hop 0 is next to the seeds
  std::vector<int32_t> known;    // [layers]: nodes after hop 0 (the seeds), 1, …, layers - 1
  bool trains = false;

  int layers() const { return static_cast<int>(fanouts.size()); }
  int HopOf(int layer) const { return layers() - 1 - layer; }
  // Returns the rows of the output of layer `layer`, rounded up for the matrix products.
  int64_t Rows(int layer) const { return RoundUp<int64_t>(known[static_cast<size_t>(HopOf(layer))], 128); }
};

// A batch in device memory. Layer l >= 1 aggregates over hops[HopOf(l)].
struct BatchOnDevice {
  const RunState* state = nullptr;
  const BatchHeader* header = nullptr;
  const int32_t* nodes = nullptr;     // global id by local id
  const HopOnDevice* hops = nullptr;  // [layers - 1]
  void* outer = nullptr;              // output of EnqueueOutermost, Program::OuterBytes() bytes
  // The graph from which the outermost hop draws, with its feature rows, and the batch's nodes by that graph's ids.
  // These are the whole graph and `nodes`, except for a batch that was fed with its rows (feed.h).
  GraphOnDevice graph = {};
  const int32_t* graph_nodes = nullptr;
  // With staged misses: what the outermost hop drew and where its rows lie, if recorded.
  DrawnPlaces drawn = {};
};

}  // namespace hone::gnn::cuda
