// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Prepares mini-batches ahead of the trainer that consumes them.
//
// Each worker thread samples and slices a whole batch at a time (the division of labour of SALIENT, Kaler et al. 2022).
// Batches come out in the order of the epoch whatever the number of workers, and which nodes they hold depends on the
// seed, the epoch and the options alone. Threads, tables and buffers live as long as the pipeline; the next epoch may
// be started before the last one has been taken, so nothing drains in between. Idle threads sleep.
//
// A global step takes `batch * shards` seeds of the epoch's order and deals them to `shards` virtual shards of
// near-equal size, the short last step too: shard g of n seeds gets positions n g / shards … n (g + 1) / shards. Each
// is a MiniBatch with its own sample. A process may prepare a range of the shards only.
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

// Provides the memory that feature rows are gathered into: plain, or pinned for a device. Called from any worker.
class BufferAllocator {
 public:
  virtual ~BufferAllocator() = default;
  // Returns at least `bytes`, aligned to 64. Error: kResourceExhausted with the size.
  virtual Result<std::byte*> Allocate(size_t bytes) = 0;
  virtual void Free(std::byte* memory, size_t bytes) noexcept = 0;
};

// State that a transfer stage keeps with a batch (device buffers, events). Recycled together with the batch's own
// buffers.
class TransferState {
 public:
  virtual ~TransferState() = default;
};

// Moves prepared batches to where the model runs. The CPU needs none; a GPU brings its own.
//
// Calls for different batches may overlap, those for one batch never do. Start is called in delivery order, one at a
// time, up to ahead() batches before the consumer asks; it should only begin the copy. Finish runs on the consumer's
// thread when it gets the batch, Release when it gives it back or when a started batch is dropped.
class TransferStage {
 public:
  virtual ~TransferStage() = default;
  virtual int ahead() const { return 1; }                    // batches begun and not yet taken; at least 1
  virtual BufferAllocator* allocator() { return nullptr; }  // for the feature rows; null: plain memory
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
  int queue = 0;           // most batches begun and not yet taken; 0: two more than workers
  // Approximate limit on the memory of these batches' feature rows. Above the limit fewer than `queue` batches are
  // prepared at once, but always at least one. Batches that the consumer holds are not counted.
  int64_t buffer_bytes = int64_t{640} << 20;
  bool features = true;    // false: structure and labels only
  TransferStage* transfer = nullptr;  // borrowed; null: batches stay in plain memory
};

struct EpochPlan {
  std::span<const NodeId> seeds;  // distinct; borrowed until the epoch's end was delivered or Cancel returned
  uint32_t epoch = 0;             // keys the seed order and every draw
  bool shuffle = true;            // false: seeds in the given order
  int64_t first_step = 0;         // global step to begin with, to continue in the middle of an epoch
};

// Work of the pipeline since the last TakeTimes. A batch's seconds are counted when the consumer takes it.
struct PipelineTimes {
  double wait_seconds = 0;      // wall time that the consumer spent in Next: the preparation that was not hidden
  double sample_seconds = 0;    // processor time, summed over workers
  double slice_seconds = 0;
  double transfer_seconds = 0;
  int64_t batches = 0;
  int64_t nodes = 0;
  int64_t edges = 0;
};

class BatchPipeline;

// A batch on loan. The destructor gives the batch back, and must run before the pipeline's. Movable; empty after that.
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
  // Returns what the options' TransferStage keeps for this batch, the consumer's only access to it. Null without a
  // stage.
  TransferState* transfer_state() const;
  void Return();                          // gives the batch back early; any thread

 private:
  friend class BatchPipeline;
  BatchLease(BatchPipeline* pipeline, void* slot) : pipeline_(pipeline), slot_(slot) {}
  BatchPipeline* pipeline_ = nullptr;
  void* slot_ = nullptr;
};

// Start, Next, Cancel and TakeTimes belong to one consumer thread (or are called under its lock).
class BatchPipeline {
 public:
  // kInvalidArgument names the option that is out of range.
  static Result<std::unique_ptr<BatchPipeline>> Make(std::shared_ptr<const Graph> graph, const BatchPipelineOptions& options);
  // May run in the middle of an epoch: batches under way are finished and dropped.
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
  virtual void Recycle(void* slot) noexcept = 0;
};

}  // namespace hone::gnn
