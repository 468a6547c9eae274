// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// What a run will need of the device's memory, told before anything is loaded.
//
// Buffers and workspaces are counted by the code that makes them (AllocationCount), for batches of the worst case in
// both envelopes of a pass: the run needs no more, and often half of it. Nothing here touches a device.
#pragma once

#include <cstdint>
#include <string>

#include "gnn/cuda/engine/gpu_engine.h"

namespace hone::gnn::cuda {

struct GraphSize {
  std::string name;
  int64_t num_nodes = 0;
  int64_t num_edges = 0;
  int64_t feature_stride_bytes = 0;
};

// Bytes, at most.
struct WorkingMemory {
  int64_t parameters = 0;  // weights, gradients, moments, and the copy that products read
  int64_t training = 0;    // batches, activations and their gradients
  int64_t evaluation = 0;  // likewise, of Evaluate
  int64_t products = 0;    // the matrix library's
};

struct MemoryPlan {
  int64_t structure = 0, labels = 0;
  int64_t features = 0;     // rows on the device: all, its part of them, or the cache and what is staged behind it
  int64_t feature_map = 0;  // which rows those are; 0 where it is all of them
  WorkingMemory working;
  int64_t reserve = 0;  // for what the runtime takes as kernels load and steps are captured
  int64_t needed = 0;   // the sum
  int64_t free = 0;
  bool fits = false;
  // The most rows of a cache with which the run fits, the others in the host's memory, or in that of the GPUs of
  // FeatureStorage::processes ranks; 0: with none; below 0: not even then, or there is one rank alone.
  int64_t most_cache_rows = -1;
  int64_t most_cache_rows_of_peers = -1;
  std::string text;     // a line an item
  std::string refusal;  // empty where it fits: what is needed, what there is, and what would work

  Status status() const { return fits ? Status::Ok() : Status::ResourceExhausted(refusal); }
};

// kInvalidArgument as MakeGpuEngine gives it for models that the engine does not have, and for batches past 2^30 slots.
Result<WorkingMemory> CountWorkingMemory(const ModelOptions& model, const GpuEngineOptions& options, int64_t num_nodes);

MemoryPlan PlanMemory(const GraphSize& graph, const WorkingMemory& working, const FeatureStorage& storage,
                      int64_t device_free);

// Both, for the current device. kUnavailable without one.
Result<MemoryPlan> PlanMemory(const GraphSize& graph, const ModelOptions& model, const GpuEngineOptions& options);

}  // namespace hone::gnn::cuda
