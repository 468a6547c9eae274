// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Predicts how much device memory a run needs, before anything is loaded.
//
// Nothing is allocated: the code that makes buffers and workspaces only counts them (AllocationCount), for worst-case
// batches in both envelopes of a pass. A run needs no more, and often half of it. No device is used.
#pragma once

#include <cstdint>
#include <string>

#include "gnn/cuda/engine/gpu_engine.h"

namespace hone::gnn::cuda {

// GraphSize holds the sizes of a graph that a plan depends on.
struct GraphSize {
  std::string name;
  int64_t num_nodes = 0;
  int64_t num_edges = 0;
  int64_t feature_stride_bytes = 0;
  int64_t edge_feature_bytes =
      0;                     // of the table of edges' features, if the model reads them; it is always on the device
  int64_t target_bytes = 0;  // bytes of the targets of a graph with several labels or values a node
};

// Upper bounds of the memory that a run takes besides the graph, in bytes.
struct WorkingMemory {
  int64_t parameters = 0;  // weights, gradients, moments, and the copy that products read
  int64_t training = 0;    // batches, activations and their gradients
  int64_t evaluation = 0;  // batches and activations of Evaluate
  int64_t products = 0;    // workspaces of the matrix library
};

struct MemoryPlan {
  int64_t structure = 0, labels = 0, edge_features = 0;
  int64_t features = 0;     // rows on the device: all, this rank's part, or the cache and its staging rows
  int64_t feature_map = 0;  // map from nodes to rows; 0 if all rows are on the device
  WorkingMemory working;
  int64_t reserve = 0;  // for memory that the runtime takes when kernels load and steps are captured
  int64_t needed = 0;   // the sum of the above
  int64_t free = 0;     // device memory that the run may use
  bool fits = false;
  // The largest cache, in rows, with which the run fits, if the other rows are in host memory, or in the GPU memory of
  // FeatureStorage::processes ranks. 0: the run fits only without a cache; below 0: it does not fit, or (peers) there
  // is only one rank.
  int64_t most_cache_rows = -1;
  int64_t most_cache_rows_of_peers = -1;
  std::string text;     // one line per item
  std::string refusal;  // empty if the run fits; otherwise says what is needed, what there is, and what would work

  Status status() const { return fits ? Status::Ok() : Status::ResourceExhausted(refusal); }
};

// Counts working memory. kInvalidArgument as MakeGpuEngine returns it for unsupported models, and for batches of more
// than 2^30 slots.
Result<WorkingMemory> CountWorkingMemory(const ModelOptions& model, const GpuEngineOptions& options, int64_t num_nodes);

MemoryPlan PlanMemory(const GraphSize& graph, const WorkingMemory& working, const FeatureStorage& storage,
                      int64_t device_free);

// Plans for the current device's total memory. kUnavailable without a device.
Result<MemoryPlan> PlanMemory(const GraphSize& graph, const ModelOptions& model, const GpuEngineOptions& options);

}  // namespace hone::gnn::cuda
