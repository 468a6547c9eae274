// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Generates a synthetic graph on the host, in memory or piece by piece for a file. synthetic_core.h defines the graph.
//
// One object generates one graph; calls are made from one thread, which spreads the work over `threads`. The bytes do
// not depend on `threads`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "gnn/graph/container/memory_region.h"
#include "gnn/graph/synthetic/synthetic_shape.h"
#include "hone/base/status.h"
#include "hone/gnn/graph.h"

namespace hone::gnn {

class SyntheticGenerator {
 public:
  // Draws all degrees. Borrows `request`, which must outlive the generator. kResourceExhausted: memory is short.
  static Result<SyntheticGenerator> Make(const SyntheticRequest& request, int threads);

  // Makes a generator of labels and splits only. It draws no degrees; functions about edges must not be called.
  static SyntheticGenerator WithoutEdges(const SyntheticRequest& request, int threads);

  int64_t num_nodes() const { return request_->spec.num_nodes; }
  std::span<const int64_t> row_offsets() const {
    return {row_offsets_.as<int64_t>(), static_cast<size_t>(num_nodes()) + 1};
  }
  int64_t num_edges() const { return row_offsets().back(); }
  MemoryRegion TakeRowOffsets() && { return std::move(row_offsets_); }

  // Regions must be generated in order. A region's columns are those of its nodes' rows.
  int64_t num_regions() const { return request_->spec.num_regions; }
  int64_t RegionBegin(int64_t region) const;  // first node; num_nodes() for region == num_regions()
  // Writes the columns [row_offsets[RegionBegin(region)], row_offsets[RegionBegin(region + 1)]) to `out`.
  Status FillColumns(int64_t region, NodeId* out);

  // Writes rows [begin, end) with `stride` bytes each, padding zero.
  void FillFeatures(int64_t begin, int64_t end, std::byte* out, int64_t stride) const;
  // Writes the labels of [begin, end), kNoLabel where the node is not labelled.
  void FillLabels(int64_t begin, int64_t end, int32_t* out) const;
  // Returns the ascending ids of split 0 (train), 1 (valid) or 2 (test).
  std::vector<NodeId> SplitNodes(int split) const;

 private:
  SyntheticGenerator() = default;
  int64_t BlockBegin(int64_t block) const;
  // Writes the owner of every slot of a level, for blocks [first, last), to `owners`.
  void FillOwners(SyntheticLevel level, int64_t first, int64_t last, NodeId* owners) const;

  const SyntheticRequest* request_ = nullptr;
  int threads_ = 1;
  MemoryRegion row_offsets_;
  MemoryRegion global_owners_;           // node of each global slot
  std::vector<uint64_t> region_prefix_;  // [num_blocks + 1] region slots before a block, counted over all regions
  std::vector<uint64_t> global_prefix_;  // [num_blocks + 1]
  MemoryRegion region_owners_;           // node of each slot of the current region
};

}  // namespace hone::gnn
