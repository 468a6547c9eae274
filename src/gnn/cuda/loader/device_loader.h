// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Makes mini-batches on the GPU for a framework that trains there: samples and gathers by kernels what the BatchLoader
// (gnn/loader/batch_loader.h) prepares on the host's threads, with the same ids in the same order.
//
// The size of a batch is known only after sampling, and the framework allocates its memory. So a batch takes three
// calls: Sample enqueues the draws, Take waits until the host knows the sizes, Write enqueues everything that fills the
// memory. If the batch was sampled ahead, Take finds the sizes ready and does not wait.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "gnn/cuda/base/cuda_handles.h"
#include "gnn/cuda/base/cuda_support.h"
#include "gnn/cuda/sample/sampled_blocks.h"
#include "gnn/loader/batch_loader.h"
#include "gnn/sample/index_permutation.h"
#include "hone/base/status.h"

namespace hone::gnn::cuda {

struct DeviceLoaderOptions {
  // The graph in the layout of InEdges (gnn/loader/in_edges.h), in memory that the device can read; borrowed.
  const int64_t* row_offsets = nullptr;
  const int32_t* columns = nullptr;
  const int64_t* edge_ids = nullptr;
  int64_t nodes = 0, edges = 0;
  std::vector<int32_t> fanouts;       // as in SampledBlocksOptions
  int64_t batch = 1024;               // most seeds per batch
  std::vector<RowTable> node_tables;  // in device or host memory that the device can read; borrowed
  std::vector<RowTable> edge_tables;
};

// The sizes of a batch, and the byte offsets of its arrays in its block of memory. Ids are int64.
struct DeviceBatch {
  int64_t step = 0;
  int64_t seeds = 0, nodes = 0, edges = 0;
  std::vector<int64_t> hop_nodes;  // [hops + 1] nodes first met in each hop; hop_nodes[0]: the seeds
  std::vector<int64_t> hop_edges;  // [hops] edges drawn in each hop
  int64_t nodes_at = 0, input_at = 0, sources_at = 0, destinations_at = 0, edge_ids_at = 0;
  std::vector<int64_t> node_rows_at, edge_rows_at;  // [nodes, row_bytes] and [edges, row_bytes] of each table
  int64_t block_bytes = 0;
};

// Not thread-safe. All work goes to one stream, the same in all calls until it has been waited for.
class DeviceLoader {
 public:
  // Allocates on the current device. Waits for the device. kInvalidArgument names the option that is out of range;
  // kResourceExhausted when memory does not suffice.
  static Result<std::unique_ptr<DeviceLoader>> Make(const DeviceLoaderOptions& options);
  ~DeviceLoader();  // waits for a sampled batch that was not taken

  // Begins an epoch; drops an epoch in progress. kInvalidArgument: a seed that is no node.
  Status Start(const LoaderEpoch& epoch);
  // Enqueues the sampling of the epoch's next batch. Returns false, and enqueues nothing, when the epoch is over.
  Result<bool> Sample(cudaStream_t stream);
  // Samples these seeds, distinct and at most `batch`, instead of the epoch's next batch.
  Status SampleThese(std::span<const int64_t> seeds, uint64_t seed, uint32_t epoch, uint32_t step, cudaStream_t stream);
  // Returns the batch sampled last. Waits until the device has reported its sizes. kInvalidArgument: a repeated seed.
  Result<const DeviceBatch*> Take();
  // Enqueues the work that fills the taken batch's `block`, block_bytes of device memory at a multiple of 256. The next
  // batch may be sampled afterwards, on the same stream.
  Status Write(void* block, cudaStream_t stream);

 private:
  explicit DeviceLoader(const DeviceLoaderOptions& options) : options_(options) {}
  Status Allocate();
  Status Enqueue(const BatchKey& key, cudaStream_t stream);
  Status Wait();  // waits for the sizes of the sampled batch
  void LayOut();

  DeviceLoaderOptions options_;
  std::unique_ptr<SampledBlocks> blocks_;
  DeviceArray<int64_t> input_;  // [batch]
  DeviceArray<int32_t> sizes_;  // [2 * hops + 1], see EnqueueSizes
  // Transfer buffer: seeds [batch], their positions [batch], sizes.
  PinnedBytes pinned_;
  int32_t* seeds_there_ = nullptr;
  int64_t* input_there_ = nullptr;
  int32_t* sizes_there_ = nullptr;
  Event told_;
  bool sampled_ = false;  // a batch is sampled and not taken

  LoaderEpoch epoch_;
  std::optional<IndexPermutation> permutation_;
  int64_t steps_ = 0, next_ = 0;
  DeviceBatch batch_;
};

}  // namespace hone::gnn::cuda
