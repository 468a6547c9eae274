// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// One direction of use of a model on the GPU: the seeds, fanouts and buffers of training, or of evaluation.
//
// A step is one CUDA-graph replay, or a few steps are. It computes on one batch, makes the outermost hop of the next,
// whose inner hops are there, and draws the one after that: three buffers, so that neither the chain of small kernels
// that draws nor the outermost hop keeps the compute waiting. Steps run in the envelope that sampled batches have stayed
// in; a batch that does not fit is noticed on the device, turns the replays behind it into nothing, and is done again in
// the envelope of the worst case.
//
// Where a batch's rows come from the host (staging_kernels.h), there is one buffer more, for a batch waits for them: while
// one is computed the next is gathered, the rows of the one after that are copied, and one more is sampled. So the bus
// has something to do all the time, and a replay takes as long as the longest of these.
//
// A step of several shards computes this rank's one after the other in the same buffers, adds them up (step_sum.h), and
// updates once; a shard that does not fit undoes the whole step, on every rank. Ranks must enqueue the same replays,
// for each replay waits for all of them: so nobody stops on what he sees by himself, and after each chunk of replays
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
  int32_t batch = 1024;  // seeds a shard
  bool trains = false;   // otherwise: inference, seeds in their order
  int32_t shards = 1;    // of a step
  // Of several ranks: their hosts and their devices, borrowed; null for one.
  Communicator* ranks = nullptr;
  GradientExchange* exchange = nullptr;
  std::vector<float> class_weights;  // empty: all one
  double clip_norm = 0;              // 0: never
  uint64_t seed = 0;
  double envelope = 1.03;  // see GpuEngineOptions
  int32_t classes = 0;
  AdamOptions adam;
  double learning_rate = 0;  // at the beginning
};

class FedBatch;  // feed.h

class Pass {
 public:
  // Batches under way, the one that is computed included, where no rows are staged.
  static constexpr int kBuffers = 3;

  // All borrowed.
  Pass(const ProgramContext& context, const ModelPlan& plan, PassOptions options)
      : context_(context), plan_(plan), options_(std::move(options)) {}

  Status Make(std::span<const NodeId> seeds);
  uint32_t steps() const { return steps_; }
  // A whole epoch, counted from its beginning; or, of inference, part `part` of its steps.
  Result<EpochOnDevice> RunEpoch(uint32_t epoch, EvaluationPart part = {});
  // Steps from … until - 1 of an epoch, whose sums go on. `watch` may be null: then nobody looks before the end.
  Result<StepsOnDevice> RunSteps(uint32_t epoch, uint32_t from, uint32_t until, const StepWatch* watch);
  // Both, of batches that come from the host (pass_fed.cc).
  Result<FedEpoch> RunFed(uint32_t epoch, HostFeed& feed);
  Result<FedSteps> RunFedSteps(uint32_t epoch, uint32_t from, uint32_t until, const StepWatch* watch, HostFeed& feed);
  Status SetProgress(const TrainingProgress& progress);
  Status SetTableTag(uint32_t tag);
  // Of rank 0 of several: the state after some whole step of the latest RunSteps, in the host's memory; the device is
  // not asked. `step`: how many of the epoch are in it. kUnavailable where there is none.
  Result<TrainingProgress> LastGood(Model<float>& model, Adam<float>& optimizer, uint32_t* step) const;
  Result<TrainingProgress> Progress();
  // Samples a step and does nothing else.
  Result<NeighborSample> SampleStep(uint32_t epoch, uint32_t step);
  // One step in the envelope of the worst case; its mean loss. `update`: the parameters move.
  Result<double> OneStep(uint32_t epoch, uint32_t step, bool update);
  const DeviceArray<int32_t>& predictions() const { return predictions_; }

 private:
  // Buffers and captured steps for batches of one envelope.
  static constexpr int kMostBuffers = DeviceGraph::kStagingSets;
  struct Bucket {
    Envelope envelope;
    std::unique_ptr<Program> program;
    std::array<BatchBuffers, kMostBuffers> batches;  // buffers() of them
    DeviceArray<float> logits, row_loss;
    DeviceArray<int32_t> row_correct;
    DeviceArray<unsigned char> grad_logits;
    GraphExec ahead;                              // what the first of them finds done; of rows that are not staged
    std::array<GraphExec, kMostBuffers> replays;  // begin with batch i
    std::array<GraphExec, kMostBuffers> several;  // steps_together() of them
  };
  // Between two replays the device waits for the next one's first kernels, and so does the bus; within one they do not.
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
  // Batches under way at once, the one that is computed included.
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
  StepSum sum_;          // where a step has several shards
  Snapshots snapshots_;  // of several ranks, on rank 0, which saves
  MappedValue<HostProgress> progress_;
  // The step's compute; and of the next batch's sampling: the chain of draws, its structure, the outermost hop.
  Stream main_, side_, structure_, outermost_, collects_, copies_;
  Event fork_, join_, fork_sample_, join_sample_;
  std::array<Event, 2> drawn_, copied_, whole_, computed_;  // of the batches under way in EnqueueSteps
  std::array<Event, 2> behind_;  // chunks of replays that a watched run enqueues ahead
  Bucket small_, large_;
};

}  // namespace hone::gnn::cuda
