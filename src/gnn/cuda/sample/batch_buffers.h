// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Holds the memory of a sampled batch on the device, and enqueues the work that fills it.
#pragma once

#include <functional>
#include <vector>

#include "gnn/cuda/base/cuda_support.h"
#include "gnn/cuda/base/envelope.h"
#include "gnn/cuda/graph/device_graph.h"
#include "hone/gnn/mini_batch.h"

namespace hone::gnn::cuda {

// The buffers of one batch: header, node ids, inner hops, and what the program keeps of the outermost hop. Their sizes
// are those of an envelope.
class BatchBuffers {
 public:
  // Allocates the buffers. kInvalidArgument if a hop's slots cannot be numbered in 30 bits.
  Status Make(const Envelope& envelope, int64_t outer_bytes);
  // Sets the graph from which the batch is drawn, and the staging set that holds its missing rows. Must precede `view`.
  void SetGraph(const DeviceGraph& graph, int staging_set) {
    graph_ = &graph;
    set_ = staging_set;
  }
  // Allocates the places of an outermost hop whose misses are staged. Must precede `view`.
  Status MakeDrawn(const Envelope& envelope);
  const GraphOnDevice& graph() const { return graph_->view(set_); }
  BatchOnDevice view(const RunState* state) const {
    return {state, header_.get(), nodes_.get(), hop_views_.data(), outer_.get(), graph(), nodes_.get(), drawn()};
  }
  DrawnPlaces drawn() const { return {own_places_.get(), slot_places_.get()}; }
  // Marks the batch invalid, so that work enqueued for it changes nothing.
  Status Invalidate(cudaStream_t stream);
  BatchHeader* header() const { return header_.get(); }
  int32_t* nodes() const { return nodes_.get(); }
  const std::vector<HopOnDevice>& hops() const { return hop_views_; }

  // Copy to the host what has been sampled: all hops but the outermost. The caller must have synchronised.
  Result<BatchHeader> DownloadHeader() const;
  Result<NeighborSample> Download() const;

 private:
  // The arrays of a HopOnDevice.
  struct Hop {
    DeviceArray<uint32_t> entries, slot_ranks, ordering, sorted_slots, prefix_sum_scratch;
    DeviceArray<int32_t> columns, counts, first, end;
    // Allocates the arrays for `rows` destinations, `fanout` slots each, and at most `sources` source nodes.
    // `by_source`: also those by which slots are sorted by source, for the backward pass.
    Result<HopOnDevice> Make(int32_t fanout, int32_t rows, int32_t sources, bool by_source);
  };

  DeviceArray<BatchHeader> header_;
  DeviceArray<int32_t> nodes_, own_places_, slot_places_;  // global ids, and the arrays of DrawnPlaces
  std::vector<Hop> hops_;
  std::vector<HopOnDevice> hop_views_;  // hops_ as kernels see them
  DeviceArray<unsigned char> outer_;    // BatchOnDevice::outer
  const DeviceGraph* graph_ = nullptr;
  int set_ = 0;  // staging set of the batch
};

// Says how the seeds of a step are dealt to shards, and how their labels are weighted.
struct BatchRule {
  int32_t batch = 1024;  // seeds per shard
  bool in_order = false;  // true: seeds in the given order; false: permuted in each epoch
  int32_t shards = 1;     // shards of a step on all devices; this device samples local_shards, from first_shard on
  int32_t first_shard = 0, local_shards = 1;
  const float* class_weights = nullptr;  // [classes] on the device, borrowed; null: all weights are 1
};

// The streams on which a batch is sampled. Draws and numbering run one after the other on `chain`. The structure of the
// inner hops, and the work that needs only the draws, run concurrently on the other streams and are joined at the end.
struct SampleStreams {
  cudaStream_t chain = nullptr;
  cudaStream_t structure = nullptr, outermost = nullptr;  // null: work runs on the chain
  cudaEvent_t fork = nullptr, join = nullptr;
};

// Makes batches. Owns the seeds and the node table, and advances the state of the run.
class BatchSource {
 public:
  // Makes the buffers. `most_nodes` is the largest number of nodes of any batch, outermost hop excluded.
  Status Make(const DeviceGraph& graph, std::span<const NodeId> seeds, const BatchRule& rule, int64_t most_nodes);
  // Clears the table, so that tags may be used again.
  Status ClearTable(cudaStream_t stream) const;
  int64_t count() const { return seeds_.count; }
  const SeedsOnDevice& seeds() const { return seeds_; }
  // Samples the state's next batch: draws its inner hops, then calls `outermost`, which enqueues the work on the
  // outermost hop. `device_halt` is the device address of the host's halt flag.
  Status EnqueueSample(const Envelope& envelope, BatchBuffers& batch, RunState* state, volatile uint32_t* device_halt,
                       const SampleStreams& streams, const std::function<Status(cudaStream_t)>& outermost) const;

 private:
  const DeviceGraph* graph_ = nullptr;
  SeedsOnDevice seeds_{};
  const float* class_weights_ = nullptr;
  NodeTable table_{};
  DeviceArray<int32_t> seed_nodes_;
  DeviceArray<NodeTableEntry> table_entries_;
};

}  // namespace hone::gnn::cuda
