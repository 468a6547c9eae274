// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Prepares mini-batches ahead of the trainer that consumes them.
//
// Each worker thread samples and slices a whole batch at a time (the division of labour of SALIENT, Kaler et al. 2022).
// Batches are delivered in the order of the epoch, whatever the number of workers. The nodes of a batch depend on the
// seed, the epoch and the options alone. Threads, tables and buffers live as long as the pipeline. The next epoch may
// be started before the last batch of the present one was taken, so that the workers need not wait between epochs. Idle
// threads sleep.
//
// A global step takes the next `batch * shards` seeds of the epoch's order and divides them among `shards` virtual
// shards of near-equal size. The last step, which may have fewer seeds, does the same. Of a step with n seeds, shard g
// gets positions n g / shards to n (g + 1) / shards, the end excluded. Each shard is a MiniBatch with its own sample. A
// process may prepare only some of the shards.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "hone/base/status.h"
#include "hone/gnn/graph.h"
#include "hone/gnn/mini_batch.h"
#include "hone/gnn/neighbor_sampler.h"

namespace hone::gnn {

// Provides the memory that feature rows are gathered into: pageable, or pinned for a device. Any worker thread may call
// it.
class BufferAllocator {
 public:
  virtual ~BufferAllocator() = default;
  // Returns at least `bytes`, aligned to 64. Error: kResourceExhausted with the size.
  virtual Result<std::byte*> Allocate(size_t bytes) = 0;
  virtual void Free(std::byte* memory, size_t bytes) noexcept = 0;
};

// The state that a transfer stage keeps with a batch, such as device buffers and events. The pipeline reuses it
// together with the batch's own buffers.
class TransferState {
 public:
  virtual ~TransferState() = default;
};

// Moves prepared batches to where the model runs. On the CPU there is nothing to move; a GPU's engine supplies its own
// stage.
//
// Calls for different batches may overlap, calls for one batch never do. Start should only begin the copy. It is called
// in the order of delivery, for one batch at a time, up to ahead() batches before the consumer asks for them. Finish
// runs on the consumer's thread when the consumer gets the batch. Release runs when the consumer returns the batch, or
// when a batch that was started is dropped.
class TransferStage {
 public:
  virtual ~TransferStage() = default;
  virtual int ahead() const { return 1; }  // most batches that were started and not yet taken; at least 1
  virtual BufferAllocator* allocator() { return nullptr; }  // memory for feature rows, borrowed; null: pageable memory
  // `state` is null the first time a batch object is used, and afterwards what the last Start left there.
  virtual Status Start(MiniBatch& batch, std::unique_ptr<TransferState>& state) = 0;
  virtual Status Finish(MiniBatch& batch, TransferState* state) = 0;
  virtual void Release(MiniBatch& batch, TransferState* state) noexcept = 0;
};

struct BatchPipelineOptions {
  SamplerOptions sampler;
  int64_t batch = 1024;    // seeds a virtual shard
  int shards = 1;          // virtual shards a global step
  int first_shard = 0;     // this process prepares shards first_shard … first_shard + local_shards - 1
  int local_shards = 0;    // 0: all from first_shard on
  uint64_t seed = 0;       // for the seed order and every draw
  int workers = 1;         // threads; at least 1
  int queue = 0;           // most batches in preparation or waiting for the consumer; 0: workers + 2
  // Approximate limit on the feature rows of the batches that `queue` counts, in bytes. To keep to it, the pipeline
  // prepares fewer batches at once, but always at least one. Batches that the consumer holds are not counted.
  int64_t buffer_bytes = int64_t{640} << 20;
  bool features = true;    // false: structure and labels only
  TransferStage* transfer = nullptr;  // borrowed; null: batches stay in plain memory
};

struct EpochPlan {
  std::span<const NodeId> seeds;  // distinct; borrowed until Next has returned the epoch's end, or Cancel returned
  uint32_t epoch = 0;             // keys the seed order and every draw
  bool shuffle = true;            // false: seeds in the given order
  int64_t first_step = 0;         // global step to begin with, to continue in the middle of an epoch
};

// The pipeline's work since the last call of TakeTimes. A batch's figures are added when the consumer takes the batch.
struct PipelineTimes {
  double wait_seconds = 0;      // wall time that the consumer spent in Next: the preparation that was not hidden
  double sample_seconds = 0;    // processor time, summed over workers
  double slice_seconds = 0;     // processor time to gather features and labels, summed over workers
  double transfer_seconds = 0;  // as the transfer stage reports it
  int64_t batches = 0;          // batches that the consumer took
  int64_t nodes = 0;            // nodes of these batches, which are their input rows
  int64_t edges = 0;            // edges drawn for these batches
};

class BatchPipeline;

// A borrowed batch. The destructor returns the batch to the pipeline, and must run before the pipeline's destructor. A
// lease can be moved, and is empty afterwards.
class BatchLease {
 public:
  BatchLease() = default;
  BatchLease(BatchLease&& other) noexcept { *this = std::move(other); }
  BatchLease& operator=(BatchLease&& other) noexcept {
    std::swap(pipeline_, other.pipeline_);
    std::swap(slot_, other.slot_);
    return *this;
  }
  ~BatchLease() { Return(); }

  explicit operator bool() const { return slot_ != nullptr; }  // false: the epoch has ended
  MiniBatch& operator*() const;
  MiniBatch* operator->() const { return &**this; }
  // Returns the state that the options' TransferStage keeps for this batch; null without a stage. The consumer has no
  // other access to it.
  TransferState* transfer_state() const;
  void Return();                          // gives the batch back early; any thread

 private:
  friend class BatchPipeline;
  BatchLease(BatchPipeline* pipeline, void* slot) : pipeline_(pipeline), slot_(slot) {}
  BatchPipeline* pipeline_ = nullptr;
  void* slot_ = nullptr;
};

// Start, Next, Cancel and TakeTimes must not be called concurrently: one consumer thread calls them, or a lock guards
// them.
class BatchPipeline {
 public:
  // Makes a pipeline and starts its threads. kInvalidArgument names the option that is out of range.
  static Result<std::unique_ptr<BatchPipeline>> Make(std::shared_ptr<const Graph> graph, const BatchPipelineOptions& options);
  // The destructor may run in the middle of an epoch: batches in preparation are finished and dropped.
  virtual ~BatchPipeline() = default;

  // Returns the number of global steps of an epoch over `seeds` seeds.
  virtual int64_t StepsPerEpoch(int64_t seeds) const = 0;
  // Appends an epoch to those started before. kInvalidArgument: the first step is past the end.
  virtual Status Start(const EpochPlan& plan) = 0;
  // Returns the next batch in order, step by step and shard by shard, and waits until it is ready. An empty lease marks
  // the end of each epoch. Holding several leases at a time is fine. If preparing a batch failed (a seed out of range,
  // no memory, a transfer), Next returns the error in that batch's place, and the following batch on the next call.
  virtual Result<BatchLease> Next() = 0;
  // Drops all started epochs; returns when no worker touches their seeds any more.
  virtual void Cancel() = 0;
  virtual PipelineTimes TakeTimes() = 0;

 protected:
  BatchLease Lend(void* slot) { return BatchLease(this, slot); }

 private:
  friend class BatchLease;
  // Takes back a batch that a lease returns. Any thread.
  virtual void Recycle(void* slot) noexcept = 0;
};

}  // namespace hone::gnn
