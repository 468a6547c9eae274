// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The memory of a sampled batch on the device, and the work that fills it.
#pragma once

#include <functional>
#include <vector>

#include "gnn/cuda/base/cuda_support.h"
#include "gnn/cuda/base/envelope.h"
#include "gnn/cuda/graph/device_graph.h"
#include "hone/gnn/mini_batch.h"

namespace hone::gnn::cuda {

// One batch of an envelope: its header, node ids, inner hops, and what the program keeps of the outermost one.
class BatchBuffers {
 public:
  // kInvalidArgument when a hop's slots cannot be numbered in 30 bits.
  Status Make(const Envelope& envelope, int64_t outer_bytes);
  // Where its rows are found; before `view`. `set`: of staged ones.
  void SetGraph(const DeviceGraph& graph, int set) {
    graph_ = &graph;
    set_ = set;
  }
  // Room for the places of an outermost hop whose misses are staged; before `view`.
  Status MakeDrawn(const Envelope& envelope);
  const GraphOnDevice& graph() const { return graph_->view(set_); }
  BatchOnDevice view(const RunState* state) const {
    return {state, header_.get(), nodes_.get(), hop_views_.data(), outer_.get(), graph(), nodes_.get(), drawn()};
  }
  DrawnPlaces drawn() const { return {own_places_.get(), slot_places_.get()}; }
  // Of no valid step: whatever is enqueued for it changes nothing.
  Status Invalidate(cudaStream_t stream);
  BatchHeader* header() const { return header_.get(); }
  int32_t* nodes() const { return nodes_.get(); }
  const std::vector<HopOnDevice>& hops() const { return hop_views_; }

  // What has been sampled, all hops but the outermost; after a synchronisation.
  Result<BatchHeader> DownloadHeader() const;
  Result<NeighborSample> Download() const;

 private:
  struct Hop {
    DeviceArray<uint32_t> entries, slot_ranks, ordering, sorted_slots, tile_words;
    DeviceArray<int32_t> columns, counts, first, end;
    Result<HopOnDevice> Make(int32_t fanout, int32_t rows, int32_t sources, bool by_source);
  };

  DeviceArray<BatchHeader> header_;
  DeviceArray<int32_t> nodes_, own_places_, slot_places_;
  std::vector<Hop> hops_;
  std::vector<HopOnDevice> hop_views_;
  DeviceArray<unsigned char> outer_;
  const DeviceGraph* graph_ = nullptr;
  int set_ = 0;
};

// How the seeds of a step are dealt, and what their labels weigh.
struct BatchRule {
  int32_t batch = 1024;  // seeds a shard
  bool in_order = false;
  int32_t shards = 1;  // of a step; local_shards of them from first_shard on are sampled here
  int32_t first_shard = 0, local_shards = 1;
  const float* class_weights = nullptr;  // [classes] on the device, borrowed; null: all one
};

// Where a batch is sampled: draws and numbers one after the other on the chain; beside it, joined by the end, the
// structure of the inner hops and what comes after all draws.
struct SampleStreams {
  cudaStream_t chain = nullptr;
  cudaStream_t structure = nullptr, outermost = nullptr;  // null: all on the chain
  cudaEvent_t fork = nullptr, join = nullptr;
};

// Where batches come from: seeds, the table that finds duplicates, and the state of the run.
class BatchSource {
 public:
  // `most_nodes`: of any batch, outermost hop excluded.
  Status Make(const DeviceGraph& graph, std::span<const NodeId> seeds, const BatchRule& rule, int64_t most_nodes);
  // Forgets all batches, so that their tags may come again.
  Status ClearTable(cudaStream_t stream) const;
  int64_t count() const { return seeds_.count; }
  const SeedsOnDevice& seeds() const { return seeds_; }
  // Takes the state's next step and draws its inner hops; then, once they are known, `outermost`, which enqueues what is
  // to be done with the outermost one. `device_halt` is the host's flag as the device sees it.
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
