// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Samples batches as data on the GPU, byte for byte as hone/gnn/neighbor_sampler.h does on the CPU.
//
// The engine's own models never materialize the outermost hop, because their kernels draw it and aggregate it at once,
// and their hops have rows of a fixed stride. This class serves callers that compute on batches themselves: every hop
// is numbered, rows are compact (CSR), each edge can give its position in the graph, and a node is drawn at every hop
// or only when it is new.
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
  SamplerOptions sampler;  // at most kMaxHopsOnDevice of batch_layout.h
  int32_t batch = 1024;    // most seeds of a batch
  bool edge_ids = false;   // whether edges give their position in the graph's columns
  int32_t results = 1;     // samples that are kept at a time; what sampling itself works on is there once
};

// One block of rows in device memory, valid until the next batch into the same result. The frontier rule kAllSoFar has
// one per hop, of hop_nodes[hop] rows; new-only has one in all, of hop_nodes[hops - 1] rows.
struct BlockRowsOnDevice {
  const int32_t* row_offsets = nullptr;  // [rows + 1]
  const int32_t* columns = nullptr;      // [row_offsets[rows]] local ids
  const int64_t* edge_ids = nullptr;     // [row_offsets[rows]] positions in the graph's columns; null if not requested
};

// Memory of one batch, allocated once for the most that a batch may need. Not thread-safe.
class SampledBlocks {
 public:
  // `graph`'s arrays are borrowed and must outlive this object. kInvalidArgument names the option that is out of range,
  // or the hop that may have more slots than can be numbered; kResourceExhausted when memory does not suffice.
  static Result<std::unique_ptr<SampledBlocks>> Make(const GraphOnDevice& graph, const SampledBlocksOptions& options);
  virtual ~SampledBlocks() = default;

  // Chooses the result, of those that the options ask for, that Enqueue overwrites and the accessors are about. 0 at
  // first.
  virtual void Select(int32_t result) = 0;

  // Enqueues the sampling of a batch and returns; the selected result is overwritten. Samples go to one stream, the
  // same until it has been waited for, for they share what sampling works on. `seeds` as for NeighborSampler::Sample,
  // read before the call returns; the key's shard is ignored. kInvalidArgument: a seed out of range, or more seeds than
  // a batch may have.
  virtual Status Enqueue(std::span<const NodeId> seeds, const BatchKey& key, cudaStream_t stream) = 0;

  // Valid after Enqueue, in the order of its stream:
  virtual const int32_t* nodes() const = 0;      // [hop_nodes[hops]] global id by local id
  virtual const int32_t* hop_nodes() const = 0;  // [hops + 1] nodes known after each hop, on the device
  virtual const std::vector<BlockRowsOnDevice>& rows() const = 0;

  // Copies the sample to the host; waits for `stream`. `edge_ids` may be null; if edge ids were requested, it gets one
  // list per BlockRowsOnDevice.
  virtual Result<NeighborSample> Download(cudaStream_t stream,
                                          std::vector<std::vector<int64_t>>* edge_ids = nullptr) const = 0;
  virtual int64_t device_bytes() const = 0;
};

}  // namespace hone::gnn::cuda
