// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs a model on the GPU in one mode, training or evaluation, with that mode's seeds, fanouts and buffers.
//
// A CUDA-graph replay is one step or a few steps. Each step computes on one batch, gathers the outermost hop of the
// next batch, whose inner hops are drawn, and draws the batch after that. With three buffers neither the chain of small
// drawing kernels nor the outermost hop delays the compute. Steps run in the envelope of observed batches; the device
// detects a batch that does not fit, the replays behind it do nothing, and the batch is repeated in the worst-case
// envelope.
//
// Where rows come from the host (staging_kernels.h), there is one more buffer, because a batch waits for its rows:
// while one batch is computed, the next is gathered, the rows of the one after that are copied, and one more is
// sampled. The bus stays busy, and a replay takes as long as the longest of these.
//
// A step of several shards computes this rank's shards one after the other in the same buffers, adds them up
// (step_sum.h), and updates once; a shard that does not fit undoes the whole step, on every rank. Ranks must enqueue
// the same replays, because each replay waits for all ranks: no rank stops on its own, and after each chunk of replays
// the hosts agree whether to go on.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "gnn/cuda/base/cuda_handles.h"
#include "gnn/cuda/engine/gpu_engine.h"
#include "gnn/cuda/lower/program.h"
#include "gnn/cuda/sample/batch_buffers.h"
#include "gnn/cuda/update/learn_kernels.h"
#include "gnn/cuda/update/snapshots.h"
#include "gnn/cuda/update/step_sum.h"
#include "hone/gnn/communicator.h"

namespace hone::gnn::cuda {

struct PassOptions {
  std::vector<int32_t> fanouts;
  int32_t batch = 1024;  // seeds per shard
  bool trains = false;   // false: inference, seeds in the given order
  int32_t shards = 1;    // per step
  // With several ranks: their hosts' communicator and their GPUs' exchange, borrowed; null for one rank.
  Communicator* ranks = nullptr;
  GradientExchange* exchange = nullptr;
  std::vector<float> class_weights;  // empty: all weights are 1
  double clip_norm = 0;              // 0: no clipping
  uint64_t seed = 0;
  double envelope = 1.03;  // see GpuEngineOptions
  int32_t classes = 0;
  AdamConstants adam;
  double learning_rate = 0;  // initial learning rate
};

class FedBatch;  // feed.h

class Pass {
 public:
  // Batches in flight, including the one that is computed, where no rows are staged.
  static constexpr int kBuffers = 3;

  // `context` and `plan` are borrowed.
  Pass(const ProgramContext& context, const ModelPlan& plan, PassOptions options)
      : context_(context), plan_(plan), options_(std::move(options)) {}

  Status Make(std::span<const NodeId> seeds);
  uint32_t steps() const { return steps_; }
  // Runs a whole epoch, counted from its beginning; in inference, part `part` of its steps.
  Result<EpochOnDevice> RunEpoch(uint32_t epoch, EvaluationPart part = {});
  // Runs steps from … until - 1 of an epoch, whose sums continue. `watch` may be null.
  Result<StepsOnDevice> RunSteps(uint32_t epoch, uint32_t from, uint32_t until, const StepWatch* watch);
  // Does the same for batches that come from the host (pass_fed.cc).
  Result<FedEpoch> RunFed(uint32_t epoch, HostFeed& feed);
  Result<FedSteps> RunFedSteps(uint32_t epoch, uint32_t from, uint32_t until, const StepWatch* watch, HostFeed& feed);
  Status SetProgress(const TrainingProgress& progress);
  Status SetTableTag(uint32_t tag);
  // On rank 0 of several: returns the state after some completed step of the latest RunSteps, from host memory without
  // reading the device. `step`: how many steps of the epoch are completed in it. kUnavailable if there is none.
  Result<TrainingProgress> LastGood(Model<float>& model, Adam<float>& optimizer, uint32_t* step) const;
  Result<TrainingProgress> Progress();
  // Samples a step and does nothing else.
  Result<NeighborSample> SampleStep(uint32_t epoch, uint32_t step);
  // Runs one step in the worst-case envelope and returns its mean loss. `update`: whether parameters are updated.
  Result<double> OneStep(uint32_t epoch, uint32_t step, bool update);
  const DeviceArray<int32_t>& predictions() const { return predictions_; }

 private:
  // Buffers and captured steps for batches of one envelope.
  static constexpr int kMostBuffers = DeviceGraph::kStagingSets;
  struct Bucket {
    Envelope envelope;
    std::unique_ptr<Program> program;
    std::array<BatchBuffers, kMostBuffers> batches;  // buffers() of them are used
    DeviceArray<float> logits, row_loss;
    DeviceArray<int32_t> row_correct;
    DeviceArray<unsigned char> grad_logits;
    GraphExec ahead;                              // prologue: prepares the first replay's batches; unused when staging
    std::array<GraphExec, kMostBuffers> replays;  // replay i begins with the batch in buffer i
    std::array<GraphExec, kMostBuffers> several;  // the same for steps_together() steps in one graph
  };
  // Between two replays, device and bus wait for the next replay's first kernels; within one replay they do not.
  uint32_t steps_together() const { return stages_ ? 8 : 4; }

  Status MakeBucket(const std::vector<int32_t>& known, int buffers, Bucket& bucket);
  Status Capture(const std::function<Status()>& enqueue, GraphExec& replay);
  Status Capture(Bucket& bucket, int which, uint32_t steps, GraphExec& replay);
  Status Capture(Bucket& bucket);
  Status EnqueueDraws(Bucket& bucket, int which, const SampleStreams& streams,
                      const std::function<Status(cudaStream_t)>& outermost);
  Status EnqueueSample(Bucket& bucket, int which, const SampleStreams& streams);
  Status EnqueueCollect(Bucket& bucket, int which, cudaStream_t stream);
  Status EnqueueCopy(Bucket& bucket, int which, cudaStream_t stream);
  Status EnqueueOutermost(Bucket& bucket, int which, cudaStream_t stream);
  Status EnqueueAhead(Bucket& bucket);
  std::function<Status(cudaStream_t)> Collecting(Bucket& bucket, int which);
  Status EnqueueNext(Bucket& bucket, int which);
  Status EnqueueShard(Bucket& bucket, int which, cudaStream_t stream);
  Status EnqueueShard(Bucket& bucket, const BatchOnDevice& batch, cudaStream_t stream);
  Status EnqueueEndShard(Bucket& bucket, int which, int shard, cudaStream_t stream);
  Status EnqueueUpdate(Bucket& bucket, int which, bool update, cudaStream_t stream);
  Status EnqueueWhole(Bucket& bucket, bool update);
  Status EnqueueFed(Bucket& bucket, FedBatch& fed, int shard);
  Result<FedSteps> RunFedOn(uint32_t epoch, uint32_t from, uint32_t until, const StepWatch* watch, HostFeed& feed);
  Status EnqueueReplay(Bucket& bucket, int which);
  Status EnqueueSteps(Bucket& bucket, int which, uint32_t steps);
  int BatchOf(uint32_t step) const {
    return static_cast<int>(step * static_cast<uint32_t>(local_shards()) % static_cast<uint32_t>(buffers()));
  }
  // Batches in flight, including the one that is computed.
  int buffers() const { return stages_ ? kMostBuffers : kBuffers; }
  bool sums() const { return options_.shards > 1; }
  bool keeps_copies() const { return options_.ranks != nullptr && options_.ranks->rank() == 0; }
  int local_shards() const { return options_.shards / (options_.ranks == nullptr ? 1 : options_.ranks->size()); }
  Result<bool> AnyRank(std::string_view what, bool mine);
  Status SetState(uint32_t epoch, uint32_t next, bool fresh);
  Status WriteState(const RunState& state);
  Result<RunState> ReadState();
  static TrainingProgress ProgressOf(const RunState& state);
  Result<StepsOnDevice> RunOn(uint32_t epoch, uint32_t from, uint32_t until, const StepWatch* watch);
  static void NoteFailure(const RunState& state, StepsOnDevice& steps);
  Result<RunState> RunReplays(uint32_t from, uint32_t until, const StepWatch* watch, uint32_t* told, bool* stopped);
  void Tell(const StepWatch& watch, uint32_t until, uint32_t* told, bool* stopped);
  std::vector<int32_t> WorstCase() const;
  Result<std::vector<int32_t>> Observe();

  const ProgramContext& context_;
  const ModelPlan& plan_;
  const PassOptions options_;
  uint32_t steps_ = 0;
  bool stages_ = false;  // rows that are not in the cache are copied ahead
  BatchSource source_;
  DeviceArray<int32_t> predictions_;
  DeviceArray<RunState> state_;
  DeviceArray<float> class_weights_;
  DeviceArray<double> norm_partials_;
  StepSum sum_;          // used where a step has several shards
  Snapshots snapshots_;  // with several ranks, on rank 0, which saves
  MappedValue<HostProgress> progress_;
  // The step's compute; and for the next batches: the chain of draws, their structure, the outermost hop, misses,
  // copies.
  Stream main_, side_, structure_, outermost_, collects_, copies_;
  Event fork_, join_, fork_sample_, join_sample_;
  std::array<Event, 2> drawn_, copied_, whole_, computed_;  // for the batches in flight in EnqueueSteps
  std::array<Event, 2> behind_;  // chunks of replays that an observed run enqueues ahead
  Bucket small_, large_;
};

}  // namespace hone::gnn::cuda
