// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Makes mini-batches on the GPU for a framework that trains there: samples and gathers by kernels what the BatchLoader
// (gnn/loader/batch_loader.h) prepares on the host's threads, with the same ids in the same order.
//
// The size of a batch is known only after sampling, and the framework allocates its memory. So a batch takes three
// calls: Sample enqueues the draws, Take waits until the host knows the sizes, Write enqueues everything that fills the
// memory. Several batches may be sampled ahead, on a stream of their own: Sample waits, on the device, for nothing but
// the Write of the batch whose place it takes. So Take finds the sizes ready although the framework, whose work Write's
// stream waits for, is steps behind.
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
  int32_t ahead = 1;  // most batches that are sampled and not written; fewer if their memory would be beyond 1 GiB
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

// Not thread-safe. Samples go to one stream and what is written to one, the same in all calls of an epoch; they may be
// two.
class DeviceLoader {
 public:
  // Allocates on the current device. Waits for the device. kInvalidArgument names the option that is out of range;
  // kResourceExhausted when memory does not suffice.
  static Result<std::unique_ptr<DeviceLoader>> Make(const DeviceLoaderOptions& options);
  ~DeviceLoader();  // waits for sampled batches that were not taken

  // Begins an epoch; drops an epoch in progress. kInvalidArgument: a seed that is no node.
  Status Start(const LoaderEpoch& epoch);
  // Enqueues the sampling of the epoch's next batch. Returns false, and enqueues nothing, when the epoch is over.
  // kInternal: `ahead` batches are sampled and not written.
  Result<bool> Sample(cudaStream_t stream);
  // Drops what was sampled, and samples these seeds, distinct and at most `batch`.
  Status SampleThese(std::span<const int64_t> seeds, uint64_t seed, uint32_t epoch, uint32_t step, cudaStream_t stream);
  // Returns the batch sampled first of those not taken. Waits until the device has reported its sizes.
  // kInvalidArgument: a repeated seed.
  Result<const DeviceBatch*> Take();
  // Enqueues the work that fills the batch taken last, `block`, block_bytes of device memory at a multiple of 256.
  Status Write(void* block, cudaStream_t stream);
  // Returns how many batches may be sampled and not written.
  int32_t ahead() const { return static_cast<int32_t>(places_.size()); }

 private:
  // What belongs to one sampled batch.
  struct Place {
    DeviceArray<int64_t> input;  // [batch]
    DeviceArray<int32_t> sizes;  // [2 * hops + 1], see EnqueueSizes
    // Transfer buffer: positions of the seeds [batch], seeds [batch], sizes.
    PinnedBytes pinned;
    int64_t* input_there = nullptr;
    int32_t* seeds_there = nullptr;
    int32_t* sizes_there = nullptr;
    Event told, written;
    bool was_written = false;
    DeviceBatch batch;
  };

  explicit DeviceLoader(const DeviceLoaderOptions& options) : options_(options) {}
  Status Allocate();
  Status MakeBlocks();
  Status Enqueue(const BatchKey& key, cudaStream_t stream);
  Status DropSampled();  // waits for them: the device writes to pinned memory
  void LayOut(Place& place) const;
  Place& At(int64_t number) { return places_[static_cast<size_t>(number) % places_.size()]; }

  DeviceLoaderOptions options_;
  std::unique_ptr<SampledBlocks> blocks_;
  std::vector<Place> places_;
  // Batches are numbered from 0 on: those below taken_ were taken or dropped, those below sampled_ are sampled.
  int64_t sampled_ = 0, taken_ = 0;
  bool unwritten_ = false;  // the one taken last is not written

  LoaderEpoch epoch_;
  std::optional<IndexPermutation> permutation_;
  int64_t steps_ = 0, next_ = 0;
};

}  // namespace hone::gnn::cuda
