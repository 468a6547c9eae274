// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Makes mini-batches on the GPU for a framework that trains there. Kernels sample and gather what the BatchLoader
// (gnn/loader/batch_loader.h) prepares on the host's threads, with the same ids in the same order.
//
// The size of a batch is known only after sampling, and the framework allocates the batch's memory. So a batch takes
// three calls: Sample enqueues the draws, Take waits until the host knows the sizes, and Write enqueues everything that
// fills the memory. Several batches may be sampled ahead on a separate stream. On the device, Sample waits only for the
// Write of the batch whose place it reuses. So Take finds the sizes ready even if the framework, for whose work Write's
// stream waits, is steps behind.
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
  std::vector<int32_t> fanouts;       // neighbors drawn in each hop (SampledBlocksOptions::sampler)
  int64_t batch = 1024;               // largest number of seeds per batch
  std::vector<RowTable> node_tables;  // in device or host memory that the device can read; borrowed
  std::vector<RowTable> edge_tables;
  int32_t ahead = 1;  // limit of batches that are sampled and not yet written; lower if their memory would exceed 1 GiB
};

// The sizes of a batch, and the byte offsets (…_at) of its arrays in its block of memory. Ids are int64.
struct DeviceBatch {
  int64_t step = 0;
  int64_t seeds = 0, nodes = 0, edges = 0;
  std::vector<int64_t> hop_nodes;  // [hops + 1] nodes that are new in each hop; hop_nodes[0]: the seeds
  std::vector<int64_t> hop_edges;  // [hops] edges drawn in each hop
  int64_t nodes_at = 0, input_at = 0, sources_at = 0, destinations_at = 0, edge_ids_at = 0;
  // One offset per table: of its rows, [nodes, row_bytes] or [edges, row_bytes].
  std::vector<int64_t> node_rows_at, edge_rows_at;
  int64_t block_bytes = 0;
};

// Not thread-safe. All samples of an epoch must go to one stream, and all writes to one, which may be the same.
class DeviceLoader {
 public:
  // Allocates on the current device, and waits for the device. kInvalidArgument names the option that is out of range;
  // kResourceExhausted if memory does not suffice.
  static Result<std::unique_ptr<DeviceLoader>> Make(const DeviceLoaderOptions& options);
  ~DeviceLoader();  // waits for sampled batches that were not taken

  // Begins an epoch; an epoch in progress is dropped. kInvalidArgument: a seed is not a node of the graph.
  Status Start(const LoaderEpoch& epoch);
  // Enqueues the sampling of the epoch's next batch. Returns false, and enqueues nothing, if the epoch is over.
  // kInternal: `ahead` batches are sampled and not yet written.
  Result<bool> Sample(cudaStream_t stream);
  // Drops all sampled batches, and samples a batch of `seeds`, which are distinct and at most `batch`.
  Status SampleThese(std::span<const int64_t> seeds, uint64_t seed, uint32_t epoch, uint32_t step, cudaStream_t stream);
  // Returns the oldest batch that is sampled and not yet taken, after waiting until the device has reported its sizes.
  // kInvalidArgument: a seed occurs twice.
  Result<const DeviceBatch*> Take();
  // Enqueues the work that fills the memory of the batch taken last. `block` has block_bytes bytes of device memory,
  // aligned to 256.
  Status Write(void* block, cudaStream_t stream);
  // Returns how many batches may be sampled and not yet written.
  int32_t ahead() const { return static_cast<int32_t>(sampled_batches_.size()); }

 private:
  // The memory and events of one sampled batch.
  struct SampledBatch {
    DeviceArray<int64_t> input;  // [batch] positions of the seeds in the epoch
    DeviceArray<int32_t> sizes;  // [2 * hops + 1], see EnqueueSizes
    // The host's side of the transfers. Pinned: int64 host_input[batch], int32 host_seeds[batch], int32 host_sizes[2
    // * hops + 1].
    PinnedBytes pinned;
    int64_t* host_input = nullptr;
    int32_t* host_seeds = nullptr;
    int32_t* host_sizes = nullptr;
    Event sizes_arrived, written;  // host_sizes has arrived; Write's work is done
    bool was_written = false;
    DeviceBatch batch;
  };

  explicit DeviceLoader(const DeviceLoaderOptions& options) : options_(options) {}
  Status Allocate();
  // Makes room for `ahead` batches, or for fewer, but at least two, if that takes more memory than there is or than the
  // limit.
  Status MakeBlocks();
  // Enqueues the sampling of a batch into place At(sampled_).
  Status Enqueue(const BatchKey& key, cudaStream_t stream);
  Status DropSampled();  // waits for the sampled batches, because the device writes to pinned memory
  void LayOut(SampledBatch& sampled) const;
  SampledBatch& At(int64_t number) { return sampled_batches_[static_cast<size_t>(number) % sampled_batches_.size()]; }

  DeviceLoaderOptions options_;
  std::unique_ptr<SampledBlocks> blocks_;
  std::vector<SampledBatch> sampled_batches_;
  // Batches are numbered from 0 on: those below taken_ were taken or dropped, those below sampled_ are sampled.
  int64_t sampled_ = 0, taken_ = 0;
  bool unwritten_ = false;  // the batch taken last is not written yet

  LoaderEpoch epoch_;
  std::optional<IndexPermutation> permutation_;
  int64_t steps_ = 0, next_ = 0;
};

}  // namespace hone::gnn::cuda
