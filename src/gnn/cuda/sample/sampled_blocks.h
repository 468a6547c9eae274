// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A sampled batch as data on the GPU: what hone/gnn/neighbor_sampler.h gives on the CPU, byte for byte.
//
// The engine's own models never have the outermost hop as data, because their kernels draw it and aggregate it at once,
// and their hops have rows of a fixed stride. Whoever wants a batch to compute on it himself takes it from here: every
// hop is numbered, rows are compact (CSR), each edge can tell its place in the graph, and a node is drawn at every hop or
// only when it is new.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "gnn/cuda/base/batch_layout.h"
#include "hone/base/status.h"
#include "hone/gnn/mini_batch.h"
#include "hone/gnn/neighbor_sampler.h"

namespace hone::gnn::cuda {

struct SampledBlocksOptions {
  SamplerOptions sampler;  // at most kMaxHops of batch_layout.h
  int32_t batch = 1024;    // seeds of a batch, at most
  bool edge_ids = false;   // whether edges tell their place among the graph's columns
};

// In device memory, until the next batch. All-so-far has one a hop, of hop_nodes[hop] rows; new-only has one in all, of
// hop_nodes[hops - 1] rows.
struct BlockRowsOnDevice {
  const int32_t* row_offsets = nullptr;  // [rows + 1]
  const int32_t* columns = nullptr;      // [row_offsets[rows]] local ids
  const int64_t* edge_ids = nullptr;     // likewise, places in the graph's columns; null where they were not asked for
};

// One batch's memory, which is allocated once for the most that a batch may need. Not thread-safe.
class SampledBlocks {
 public:
  // `graph`'s arrays are borrowed and must outlive this. kInvalidArgument names the option that is out of range, or the
  // hop that may have more slots than can be numbered; kResourceExhausted when memory does not suffice.
  static Result<std::unique_ptr<SampledBlocks>> Make(const GraphOnDevice& graph, const SampledBlocksOptions& options);
  virtual ~SampledBlocks() = default;

  // Enqueues the sampling of a batch and returns; what was sampled before is overwritten. `seeds` as
  // NeighborSampler::Sample takes them, and read before the call returns; the key's shard takes no part.
  // kInvalidArgument: a seed out of range, or more of them than a batch has.
  virtual Status Enqueue(std::span<const NodeId> seeds, const BatchKey& key, cudaStream_t stream) = 0;

  // After Enqueue, in the order of its stream:
  virtual const int32_t* nodes() const = 0;      // [hop_nodes[hops]] global id by local id
  virtual const int32_t* hop_nodes() const = 0;  // [hops + 1] nodes known after each hop, on the device
  virtual const std::vector<BlockRowsOnDevice>& rows() const = 0;

  // To the host; waits for `stream`. `edge_ids`, where they were asked for, has one list a BlockRowsOnDevice; may be null.
  virtual Result<NeighborSample> Download(cudaStream_t stream, std::vector<std::vector<int64_t>>* edge_ids = nullptr) const = 0;
  virtual int64_t device_bytes() const = 0;
};

}  // namespace hone::gnn::cuda
