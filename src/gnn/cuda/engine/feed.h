// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Training batches that the host's cores prepare: SALIENT's division of labour (Kaler et al. 2022), beside which the
// engine's own is held.
//
// Threads sample and slice whole batches into pinned memory (hone/gnn/batch_pipeline.h); each batch's structure and rows
// are copied to the device on a stream of their own while the two batches before it are trained on. Samples are the
// device's draw for draw, local ids too, so an epoch has the bits of one that the device sampled.
//
// A step of several shards is as many batches; each of several ranks prepares those of its own shards.
#pragma once

#include <array>
#include <memory>

#include "gnn/cuda/base/cuda_handles.h"
#include "gnn/cuda/engine/gpu_engine.h"
#include "gnn/cuda/sample/batch_buffers.h"
#include "hone/gnn/batch_pipeline.h"

namespace hone::gnn::cuda {

// A batch on the device as it came: structure in compressed rows, and the feature rows of all its nodes by local id.
class FedBatch {
 public:
  FedBatch() = default;
  FedBatch(const FedBatch&) = delete;
  FedBatch& operator=(const FedBatch&) = delete;
  ~FedBatch();
  // Where a batch's seeds lie in the epoch's order, and how many the whole step has.
  struct Seeds {
    int64_t first = 0, of_step = 0;
  };
  // Enqueues on `stream`, which this and the batch's buffers belong to until its copies are done. `places`: see HostFeed; null:
  // rows are found by local id.
  Status EnqueueCopies(const MiniBatch& batch, const Seeds& seeds, int32_t* places, cudaStream_t stream);
  Status EnqueueWait(cudaStream_t stream) const;
  // Fills `batch`, whose envelope holds it, on the stream that waited.
  Status EnqueueUnpack(const BatchBuffers& batch, cudaStream_t stream);
  // Where the outermost hop is drawn from, finds its rows, and the batch's nodes there, in `batch`, which has the whole graph: a
  // graph of this batch's own, in which every node draws all it has; or where rows are found by id the whole one.
  void Show(BatchOnDevice& batch) const;
  const std::vector<int32_t>& known() const { return known_; }  // nodes after each hop but the outermost
  // Around what is enqueued for it on the stream that waited.
  Status EnqueueBeginCompute(cudaStream_t stream) const;
  Status EnqueueEndCompute(cudaStream_t stream) const;
  Status WaitForCompute() const;
  // After that.
  Result<double> copy_seconds() const { return Seconds(kCopying, kCopied); }
  Result<double> compute_seconds() const { return Seconds(kComputing, kComputed); }

 private:
  struct Section {
    size_t offsets = 0, columns = 0;
  };
  Status Require(size_t structure_bytes, size_t row_bytes, int64_t outer_rows);

  std::vector<int32_t> known_;
  std::vector<Section> hops_;
  size_t nodes_at_ = 0;
  int64_t num_nodes_ = 0;
  int32_t* places_ = nullptr;
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
  int workers = 0;  // 0: all the process may use
  int queue = 0;    // as BatchPipelineOptions
  int64_t buffer_bytes = int64_t{6} << 30;
  // Slices in pinned memory, which workers ask the runtime for. Otherwise in plain memory: slower copies, and all calls
  // of the runtime are the consumer's, which is what the emulated one bears.
  bool pinned = true;
};

// What the batches under way take of the device's memory, at most.
int64_t FedBatchBytes(const std::vector<int32_t>& fanouts, int64_t batch, int64_t num_nodes, int64_t feature_stride_bytes);

class HostFeed final : public TransferStage {
 public:
  static constexpr size_t kHeld = 2;  // batches that are computed or wait for it, with their buffers

  // `graph` is whole, in the host's memory; kInvalidArgument for an outline.
  static Result<std::unique_ptr<HostFeed>> Make(std::shared_ptr<const Graph> graph, const GpuEngineOptions& engine,
                                                const HostFeedOptions& options);
  ~HostFeed() override;

  // An epoch from `step` on. Batches that are prepared already go on where they stand, if that is there.
  Status Begin(uint32_t epoch, uint32_t step = 0);
  // The next batch; an empty lease at the epoch's end.
  Result<BatchLease> Next();
  // Where the batch that is `index`-th from now comes to lie on the device: a place for each that is held, and one for
  // that whose copies begin.
  FedBatch& place(int64_t index) { return places_[static_cast<size_t>(index) % places_.size()]; }
  // Its copies, on a stream of this feed's; `stream` gets to wait for them.
  Status EnqueueCopies(const MiniBatch& batch, FedBatch& to, cudaStream_t stream) const;
  // Forgets what was begun; no lease may be out.
  void Stop();
  // For models that key what they draw for an input row by its node's global id: the outermost hop is then drawn once more, from
  // the whole graph on the device, of `num_nodes`, and a map says where each node's row lies. Before Begin.
  Status FindRowsById(int64_t num_nodes);
  PipelineTimes TakeTimes() { return pipeline_->TakeTimes(); }
  int workers() const { return workers_; }

  // The pipeline's side: where slices go. Copies are the consumer's, which is ahead of the device.
  BufferAllocator* allocator() override { return allocator_.get(); }
  Status Start(MiniBatch&, std::unique_ptr<TransferState>&) override { return Status::Ok(); }
  Status Finish(MiniBatch&, TransferState*) override { return Status::Ok(); }
  void Release(MiniBatch&, TransferState*) noexcept override {}

 private:
  HostFeed() = default;
  std::shared_ptr<const Graph> graph_;
  std::unique_ptr<BufferAllocator> allocator_;
  Stream copies_;
  int32_t batch_ = 0, shards_ = 1, local_shards_ = 1;
  int workers_ = 0;
  bool begun_ = false;
  uint32_t epoch_ = 0;   // of what was begun,
  int64_t taken_ = 0;    // and how many of its batches are taken, those before the step where it began included
  std::array<FedBatch, kHeld + 1> places_;
  DeviceArray<int32_t> rows_by_id_;  // of the batch that is computed; the one after it overwrites what it needs
  std::unique_ptr<BatchPipeline> pipeline_;  // goes first: it uses all of the above
};

}  // namespace hone::gnn::cuda
