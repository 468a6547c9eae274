// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Samples batches as data on the GPU, byte for byte as hone/gnn/neighbor_sampler.h does on the CPU.
//
// The engine's own models never materialize the outermost hop, because their kernels draw it and aggregate it at once,
// and their hops have rows of a fixed stride. This class serves callers that compute on batches themselves. Every hop
// is numbered, rows are compact (CSR), and each edge can give its position in the graph. Depending on the frontier
// rule, a hop draws for all nodes known so far, or only for new ones.
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
  SamplerOptions sampler;  // at most kMaxHopsOnDevice hops (batch_layout.h)
  int32_t batch = 1024;    // largest number of seeds of a batch
  bool edge_ids = false;   // whether edges give their position in the graph's columns
  int32_t results = 1;     // number of samples that are kept at a time; the scratch memory exists once
};

// A block of rows in device memory, valid until the next batch is sampled into the same result. With the frontier rule
// kAllSoFar there is a block per hop, of hop_nodes[hop] rows; with kNewOnly there is one block in all, of
// hop_nodes[hops - 1] rows.
struct BlockRowsOnDevice {
  const int32_t* row_offsets = nullptr;  // [rows + 1]
  const int32_t* columns = nullptr;      // [row_offsets[rows]] local ids
  const int64_t* edge_ids = nullptr;     // [row_offsets[rows]] positions in the graph's columns; null if not requested
};

// Samples batches into memory that is allocated once for the most that a batch may need. Not thread-safe.
class SampledBlocks {
 public:
  // `graph`'s arrays are borrowed and must outlive this object. kInvalidArgument names the option that is out of range,
  // or the hop that may have more slots than can be numbered; kResourceExhausted if memory does not suffice.
  static Result<std::unique_ptr<SampledBlocks>> Make(const GraphOnDevice& graph, const SampledBlocksOptions& options);
  virtual ~SampledBlocks() = default;

  // Selects one of options.results results: Enqueue overwrites it, and the accessors return its data. 0 is selected at
  // first.
  virtual void Select(int32_t result) = 0;

  // Enqueues the sampling of a batch into the selected result, and returns. All samples must go to one stream, because
  // they share scratch memory; the caller may change the stream only after it has waited for it. `seeds` are those of
  // NeighborSampler::Sample, read before the call returns; the key's shard is ignored. kInvalidArgument: a seed is out
  // of range, or there are more seeds than a batch may have.
  virtual Status Enqueue(std::span<const NodeId> seeds, const BatchKey& key, cudaStream_t stream) = 0;

  // These are valid after Enqueue, in the order of its stream:
  virtual const int32_t* nodes() const = 0;      // [hop_nodes[hops]] global id by local id
  virtual const int32_t* hop_nodes() const = 0;  // [hops + 1] nodes known after each hop, on the device
  virtual const std::vector<BlockRowsOnDevice>& rows() const = 0;

  // Copies the sample to the host and waits for `stream`. If edge ids were requested and `edge_ids` is not null, it
  // gets one list per BlockRowsOnDevice.
  virtual Result<NeighborSample> Download(cudaStream_t stream,
                                          std::vector<std::vector<int64_t>>* edge_ids = nullptr) const = 0;
  virtual int64_t device_bytes() const = 0;
};

}  // namespace hone::gnn::cuda
