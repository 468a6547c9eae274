// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Mini-batches for a framework that trains on the GPU by itself: what the BatchLoader (gnn/loader/batch_loader.h)
// prepares on the host's threads, sampled and gathered by kernels, with the same ids in the same order.
//
// How large a batch is becomes known when it has been sampled, and the framework allocates its memory. So a batch comes
// in three calls: Sample enqueues the draws, Take waits until the host knows the sizes, Write enqueues everything that
// fills the memory. Who samples a batch ahead finds its sizes there when he asks, and waits for nothing.
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
  // The graph as InEdges (gnn/loader/in_edges.h) lays it out, in memory that the device reads; borrowed.
  const int64_t* row_offsets = nullptr;
  const int32_t* columns = nullptr;
  const int64_t* edge_ids = nullptr;
  int64_t nodes = 0, edges = 0;
  std::vector<int32_t> fanouts;       // as SampledBlocksOptions has them
  int64_t batch = 1024;               // seeds a batch, at most
  std::vector<RowTable> node_tables;  // likewise in memory that the device reads, on the device or the host; borrowed
  std::vector<RowTable> edge_tables;
};

// How large a batch is, and where its arrays begin in its block of memory, in bytes. Ids are int64.
struct DeviceBatch {
  int64_t step = 0;
  int64_t seeds = 0, nodes = 0, edges = 0;
  std::vector<int64_t> hop_nodes;  // [hops + 1] nodes first met in each hop; the first: the seeds
  std::vector<int64_t> hop_edges;  // [hops] edges drawn in each hop
  int64_t nodes_at = 0, input_at = 0, sources_at = 0, destinations_at = 0, edge_ids_at = 0;
  std::vector<int64_t> node_rows_at, edge_rows_at;  // [nodes, row_bytes] and [edges, row_bytes] of each table
  int64_t block_bytes = 0;
};

// Not thread-safe. All work goes to one stream, the same in all calls until it has been waited for.
class DeviceLoader {
 public:
  // Its memory is the device's that is current. kInvalidArgument names the option that is out of range;
  // kResourceExhausted when memory does not suffice. Waits for the device.
  static Result<std::unique_ptr<DeviceLoader>> Make(const DeviceLoaderOptions& options);
  ~DeviceLoader();  // waits for a batch that was sampled and not taken

  // Begins an epoch; one that was under way is dropped. kInvalidArgument: a seed that is no node.
  Status Start(const LoaderEpoch& epoch);
  // Enqueues the sampling of the epoch's next batch. False, and nothing is enqueued, when the epoch is over.
  Result<bool> Sample(cudaStream_t stream);
  // Of these seeds, distinct and at most `batch`, instead of an epoch's next batch.
  Status SampleThese(std::span<const int64_t> seeds, uint64_t seed, uint32_t epoch, uint32_t step, cudaStream_t stream);
  // What was sampled last. Waits until the device has told its sizes. kInvalidArgument: a seed came twice.
  Result<const DeviceBatch*> Take();
  // Enqueues what fills the taken batch's `block`, block_bytes of device memory at a multiple of 256. The next batch
  // may be sampled then, on the same stream.
  Status Write(void* block, cudaStream_t stream);

 private:
  explicit DeviceLoader(const DeviceLoaderOptions& options) : options_(options) {}
  Status Allocate();
  Status Enqueue(const BatchKey& key, cudaStream_t stream);
  Status Wait();  // for the sizes of what was sampled
  void LayOut();

  DeviceLoaderOptions options_;
  std::unique_ptr<SampledBlocks> blocks_;
  DeviceArray<int64_t> input_;  // [batch]
  DeviceArray<int32_t> sizes_;  // [2 * hops + 1], see EnqueueSizes
  // What crosses the bus: seeds [batch], their positions [batch], sizes.
  PinnedBytes pinned_;
  int32_t* seeds_there_ = nullptr;
  int64_t* input_there_ = nullptr;
  int32_t* sizes_there_ = nullptr;
  Event told_;
  bool sampled_ = false;  // and not taken

  LoaderEpoch epoch_;
  std::optional<IndexPermutation> permutation_;
  int64_t steps_ = 0, next_ = 0;
  DeviceBatch batch_;
};

}  // namespace hone::gnn::cuda
