// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Trains on batches that the host's cores prepare, to compare with sampling on the device. The division of labour is
// SALIENT's (Kaler et al. 2022).
//
// Threads sample and slice whole batches into pinned memory (hone/gnn/batch_pipeline.h). Each batch's structure and
// rows are copied to the device on a separate stream, while the two batches before it are trained on. Draws and local
// ids equal the device's, so an epoch gives the same bits as one that the device sampled.
//
// A step of several shards takes as many batches. With several ranks, each prepares the batches of its own shards.
#pragma once

#include <array>
#include <memory>

#include "gnn/batch/host_batch_cuts.h"
#include "gnn/cuda/base/cuda_handles.h"
#include "gnn/cuda/engine/gpu_engine.h"
#include "gnn/cuda/sample/batch_buffers.h"
#include "gnn/sample/huge_buffer.h"
#include "hone/gnn/batch_pipeline.h"

namespace hone::gnn::cuda {

// A batch on the device, as copied from the host: its structure in compressed rows, and the feature rows of all its
// nodes by local id.
class FedBatch {
 public:
  FedBatch() = default;
  FedBatch(const FedBatch&) = delete;
  FedBatch& operator=(const FedBatch&) = delete;
  ~FedBatch();
  // Where a batch's seeds begin in the epoch's order, and the number of seeds in the whole step.
  struct Seeds {
    int64_t first = 0, of_step = 0;
  };
  // Enqueues the copies on `stream`. The caller must not touch this object or the batch's buffers until the copies are
  // done. `places` is the map of HostFeed::FitTo; null: rows are found by local id. `numbers_outermost` is that of
  // FeedNeeds (gpu_engine.h).
  Status EnqueueCopies(const MiniBatch& batch, const Seeds& seeds, int32_t* places, bool numbers_outermost,
                       cudaStream_t stream);
  // Makes `stream` wait for the copies.
  Status EnqueueWait(cudaStream_t stream) const;
  // Fills `batch`, whose envelope must hold this batch. `stream` must have waited for the copies.
  Status EnqueueUnpack(const BatchBuffers& batch, cudaStream_t stream);
  // Sets in `batch` the graph that the outermost hop reads, and the batch's node ids in that graph. It is a private
  // graph of this batch, in which a full draw gives the sampled edges, or, if rows are found by id, the whole graph.
  void PointToGraph(BatchOnDevice& batch) const;
  // Returns the number of nodes after each hop; of the outermost hop only if its nodes are numbered.
  const std::vector<int32_t>& known() const { return known_; }
  // Mark the beginning and end of the batch's compute on `stream`, for compute_seconds.
  Status EnqueueBeginCompute(cudaStream_t stream) const;
  Status EnqueueEndCompute(cudaStream_t stream) const;
  Status WaitForCompute() const;
  // These are valid after the batch's work is done.
  Result<double> copy_seconds() const { return Seconds(kCopying, kCopied); }
  Result<double> compute_seconds() const { return Seconds(kComputing, kComputed); }

 private:
  struct Section {
    size_t offsets = 0, columns = 0;
  };
  // Makes room for a batch of these sizes, and for a quarter more, as the pipeline's own buffers do.
  Status Require(size_t structure_bytes, size_t row_bytes, int64_t outer_rows);

  std::vector<int32_t> known_;
  std::vector<Section> hops_;
  size_t nodes_at_ = 0;
  int64_t num_nodes_ = 0;
  int32_t* places_ = nullptr;
  bool numbers_outermost_ = false;
  std::unique_ptr<PinnedBytes> pack_;
  size_t pack_bytes_ = 0;
  DeviceArray<unsigned char> structure_, rows_;
  DeviceArray<int64_t> row_offsets_;
  DeviceArray<int32_t> ids_;
  int64_t ids_known_ = 0;
  enum Moment : size_t { kCopying, kCopied, kComputing, kComputed, kMoments };
  Result<double> Seconds(Moment from, Moment to) const;
  std::array<cudaEvent_t, kMoments> moments_{};
};

struct HostFeedOptions {
  int workers = 0;  // sampling threads; 0: all cores that the process may use
  int queue = 0;    // BatchPipelineOptions::queue
  int64_t buffer_bytes = int64_t{6} << 30;
  HostBatchCuts cuts = {};
};

// Returns an upper bound of the device memory, in bytes, that all batches in flight take.
int64_t FedBatchBytes(const std::vector<int32_t>& fanouts, int64_t batch, int64_t num_nodes,
                      int64_t feature_stride_bytes, bool numbers_outermost = false);

class HostFeed final : public TransferStage {
 public:
  static constexpr size_t kHeld = 2;  // batches that are computed or wait for it; their buffers are in use

  // Makes the feed. `graph` must be whole, in host memory; kInvalidArgument for an outline.
  static Result<std::unique_ptr<HostFeed>> Make(std::shared_ptr<const Graph> graph, const GpuEngineOptions& engine,
                                                const HostFeedOptions& options);
  ~HostFeed() override;

  // Begins an epoch at `step`. Batches already prepared for exactly this position are used.
  Status Begin(uint32_t epoch, uint32_t step = 0);
  // Returns the next batch; an empty lease at the epoch's end.
  Result<BatchLease> Next();
  // Returns the device memory for a run's batch number `index`, counted from 0. Places are used in turn: there is one
  // for each held batch, and one for the batch whose copies begin.
  FedBatch& place(int64_t index) { return places_[static_cast<size_t>(index) % places_.size()]; }
  // Enqueues the batch's copies on a stream of this feed, and makes `stream` wait for them.
  Status EnqueueCopies(const MiniBatch& batch, FedBatch& to, cudaStream_t stream) const;
  // Discards prepared batches. No lease may be outstanding.
  void Stop();
  // Fits the feed to what the model needs. Must precede Begin. If rows are found by id, the outermost hop is drawn
  // again on the device, from the whole graph of `num_nodes` nodes, and a map gives the place of each node's row.
  Status FitTo(const FeedNeeds& needs, int64_t num_nodes);
  PipelineTimes TakeTimes();
  // Returns how many earlier batches may still wait or be computed when a batch is taken: kHeld, or 0 if cuts.overlap
  // leaves overlap out.
  size_t held() const { return cuts_.overlap ? 0 : kHeld; }
  int workers() const { return workers_; }

  // Implement the pipeline's interface: only the buffers for slices are this feed's. The consumer enqueues the copies,
  // because it runs ahead of the device.
  BufferAllocator* allocator() override { return allocator_.get(); }
  Status Start(MiniBatch&, std::unique_ptr<TransferState>&) override { return Status::Ok(); }
  Status Finish(MiniBatch&, TransferState*) override { return Status::Ok(); }
  void Release(MiniBatch&, TransferState*) noexcept override {}

 private:
  HostFeed() = default;
  // Copies the batch's feature rows into this feed's memory.
  Status Slice(MiniBatch& batch);
  std::shared_ptr<const Graph> graph_;
  std::unique_ptr<BufferAllocator> allocator_;
  Stream copies_;
  int32_t batch_ = 0, shards_ = 1, local_shards_ = 1;
  int workers_ = 0;
  bool begun_ = false;  // an epoch has begun
  bool numbers_outermost_ = false;
  HostBatchCuts cuts_;
  // Memory for feature slices that this feed makes itself (cuts.batches), one per batch held and one for the next.
  struct Sliced {
    HugeBuffer memory;
    size_t bytes = 0;
  };
  std::array<Sliced, kHeld + 1> slices_;
  double slice_seconds_ = 0;  // wall time of Slice since TakeTimes
  uint32_t epoch_ = 0;        // epoch of the prepared batches
  int64_t taken_ = 0;         // batches of the epoch that were taken, including those before the first step
  std::array<FedBatch, kHeld + 1> places_;
  DeviceArray<int32_t> rows_by_id_;  // [num_nodes] rows of the batch being computed; the next batch overwrites the
                                     // entries that it needs
  std::unique_ptr<BatchPipeline> pipeline_;  // declared last, so destroyed first, because it uses all of the above
};

}  // namespace hone::gnn::cuda
