// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs a model on the GPU in one mode, training or evaluation, with the seeds, fanouts and buffers of that mode.
//
// A CUDA-graph replay does one step or a few. Each step computes on one batch, gathers the outermost hop of the next
// batch, whose inner hops are drawn already, and draws the batch after that. With three buffers, neither the chain of
// small drawing kernels nor the outermost hop delays the compute. Steps run in the envelope of observed batches. If a
// batch does not fit it, the device detects this, the replays behind the batch do nothing, and the batch is repeated in
// the worst-case envelope.
//
// If rows are staged (staging_kernels.h), there is one more buffer, because a batch waits for its rows: while one batch
// is computed, the next is gathered, the rows of the one after that are copied, and one more is sampled. The bus stays
// busy, and a replay takes as long as the longest of these.
//
// A step of several shards computes this rank's shards one after the other in the same buffers, adds them up
// (step_sum.h), and updates once. A shard that does not fit undoes the whole step, on every rank. Ranks must enqueue
// the same replays, because each replay waits for all ranks. So no rank stops on its own: after each chunk of replays
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
#include "gnn/cuda/update/target_loss_kernels.h"
#include "hone/gnn/communicator.h"

namespace hone::gnn::cuda {

struct PassOptions {
  std::vector<int32_t> fanouts;
  int32_t batch = 1024;  // seeds per shard
  bool trains = false;   // false: inference, seeds in the given order
  int32_t shards = 1;    // shards of a step, on all ranks together
  // The communicator of the ranks' hosts and the exchange of their GPUs, borrowed; both null for one rank.
  Communicator* ranks = nullptr;
  GradientExchange* exchange = nullptr;
  std::vector<float> class_weights;  // empty: all weights are 1
  std::vector<float> pos_weight;     // [target_width], see EnqueueTargetLoss; empty: all 1
  double clip_norm = 0;              // 0: no clipping
  uint64_t seed = 0;
  double envelope = 1.03;  // see GpuEngineOptions
  int32_t classes = 0;
  int32_t target_width = 0;  // labels or values of a node; 0: the graph has classes
  TargetLossKind target_loss = TargetLossKind::kSquared;
  AdamConstants adam;
  double learning_rate = 0;  // initial learning rate
};

class FedBatch;  // feed.h

class Pass {
 public:
  // The number of batches in flight, including the one that is computed, if no rows are staged.
  static constexpr int kBuffers = 3;

  // `context` and `plan` are borrowed.
  Pass(const ProgramContext& context, const ModelPlan& plan, PassOptions options)
      : context_(context), plan_(plan), options_(std::move(options)) {}

  // Reserves all device memory and captures the steps. `seeds`: the nodes of an epoch, in the given order if not
  // trained.
  Status Make(std::span<const NodeId> seeds);
  uint32_t steps() const { return steps_; }  // steps of an epoch
  // Runs a whole epoch, with sums from zero; in inference, part `part` of its steps.
  Result<EpochOnDevice> RunEpoch(uint32_t epoch, EvaluationPart part = {});
  // Runs steps from … until - 1 of an epoch, whose sums continue. `watch` may be null.
  Result<StepsOnDevice> RunSteps(uint32_t epoch, uint32_t from, uint32_t until, const StepWatch* watch);
  // Do the work of RunEpoch and RunSteps with batches that come from the host (pass_fed.cc).
  Result<FedEpoch> RunFed(uint32_t epoch, HostFeed& feed);
  Result<FedSteps> RunFedSteps(uint32_t epoch, uint32_t from, uint32_t until, const StepWatch* watch, HostFeed& feed);
  Status SetProgress(const TrainingProgress& progress);
  Status SetTableTag(uint32_t tag);
  // Copies to `model` and `optimizer` the state after some completed step of the latest RunSteps, from host memory and
  // without reading the device; only on rank 0 of several. *step: the number of the epoch's completed steps.
  // kUnavailable if there is no such state.
  Result<TrainingProgress> LastGood(Model<float>& model, Adam<float>& optimizer, uint32_t* step) const;
  Result<TrainingProgress> Progress();
  // Samples a step without computing it.
  Result<NeighborSample> SampleStep(uint32_t epoch, uint32_t step);
  // Runs one step in the worst-case envelope and returns its mean loss. `update` says whether parameters are updated.
  Result<double> OneStep(uint32_t epoch, uint32_t step, bool update);
  const DeviceArray<int32_t>& predictions() const { return predictions_; }
  // Returns the outputs of inference for targets: [steps * batch, target_width].
  const DeviceArray<float>& outputs() const { return outputs_; }

 private:
  // The largest number of batches in flight, which is that of runs with staging.
  static constexpr int kMostBuffers = DeviceGraph::kStagingSets;
  // The buffers and captured steps for batches of one envelope.
  struct Bucket {
    Envelope envelope;
    std::unique_ptr<Program> program;
    std::array<BatchBuffers, kMostBuffers> batches;  // the first buffers() are used
    DeviceArray<float> logits, row_loss;
    DeviceArray<int32_t> row_correct;
    DeviceArray<unsigned char> grad_logits;
    GraphExec ahead;  // prepares the batches that the first replay expects; unused with staging
    std::array<GraphExec, kMostBuffers> replays;  // one step that begins with the batch in buffer i
    std::array<GraphExec, kMostBuffers> several;  // steps_together() steps that begin with the batch in buffer i
  };
  // Returns how many steps a larger replay does. Between two replays, device and bus wait for the next replay's first
  // kernels; within one replay they do not.
  uint32_t steps_together() const { return stages_ ? 8 : 4; }

  // Makes the program and `buffers` batch buffers for batches with up to `hop_nodes[h]` destination nodes in hop h.
  Status MakeBucket(const std::vector<int32_t>& hop_nodes, int buffers, Bucket& bucket);
  // Capture as a graph what `enqueue` enqueues; `steps` steps that begin with the batch in buffer `buffer`; all graphs
  // of a bucket.
  Status Capture(const std::function<Status()>& enqueue, GraphExec& replay);
  Status Capture(Bucket& bucket, int buffer, uint32_t steps, GraphExec& replay);
  Status Capture(Bucket& bucket);
  // The following functions enqueue parts of a step. `buffer` is the index of the batch's buffers in bucket.batches.
  Status EnqueueDraws(Bucket& bucket, int buffer, const SampleStreams& streams,
                      const std::function<Status(cudaStream_t)>& outermost);
  Status EnqueueSample(Bucket& bucket, int buffer, const SampleStreams& streams);
  // Collects the feature rows that the batch needs and the device does not hold (misses), and copies them.
  Status EnqueueCollect(Bucket& bucket, int buffer, cudaStream_t stream);
  Status EnqueueCopy(Bucket& bucket, int buffer, cudaStream_t stream);
  Status EnqueueOutermost(Bucket& bucket, int buffer, cudaStream_t stream);
  Status EnqueueAhead(Bucket& bucket);
  std::function<Status(cudaStream_t)> Collecting(Bucket& bucket, int buffer);
  Status EnqueueNext(Bucket& bucket, int buffer);
  Status EnqueueShard(Bucket& bucket, int buffer, cudaStream_t stream);
  Status EnqueueShard(Bucket& bucket, const BatchOnDevice& batch, cudaStream_t stream);
  Status EnqueueEndShard(Bucket& bucket, int buffer, int shard, cudaStream_t stream);
  // Sums the gradient over ranks, and updates the parameters if `update_parameters`.
  Status EnqueueUpdate(Bucket& bucket, int buffer, bool update_parameters, cudaStream_t stream);
  // Enqueues a step in one buffer and without overlap, sampling included.
  Status EnqueueStepWithoutOverlap(Bucket& bucket, bool update_parameters);
  Status EnqueueFed(Bucket& bucket, FedBatch& fed, int shard);
  Result<FedSteps> RunFedOn(uint32_t epoch, uint32_t from, uint32_t until, const StepWatch* watch, HostFeed& feed);
  Status EnqueueReplay(Bucket& bucket, int buffer);
  Status EnqueueSteps(Bucket& bucket, int buffer, uint32_t steps);
  // Returns the index of the buffers in which the first batch of `step` lies.
  int BufferOfStep(uint32_t step) const {
    return static_cast<int>(step * static_cast<uint32_t>(local_shards()) % static_cast<uint32_t>(buffers()));
  }
  // Returns the number of batches in flight, including the one that is computed.
  int buffers() const { return stages_ ? kMostBuffers : kBuffers; }
  // Returns whether gradients are summed over shards, and whether this rank copies the state for LastGood.
  bool sums() const { return options_.shards > 1; }
  bool keeps_copies() const { return options_.ranks != nullptr && options_.ranks->rank() == 0; }
  // Returns the number of a step's shards that this rank computes.
  int local_shards() const { return options_.shards / (options_.ranks == nullptr ? 1 : options_.ranks->size()); }
  // Returns whether `true_here` is true on any rank. `what` names the question in errors.
  Result<bool> AnyRank(std::string_view what, bool true_here);
  // Sets the device's state to the beginning of step `next_step`. `reset_sums`: loss and counts start at zero.
  Status SetState(uint32_t epoch, uint32_t next_step, bool reset_sums);
  Status WriteState(const RunState& state);
  Result<RunState> ReadState();
  static TrainingProgress ProgressOf(const RunState& state);
  Result<StepsOnDevice> RunOn(uint32_t epoch, uint32_t from, uint32_t until, const StepWatch* watch);
  static void NoteFailure(const RunState& state, StepsOnDevice& steps);
  Result<RunState> RunReplays(uint32_t from, uint32_t until, const StepWatch* watch, uint32_t* reported, bool* stopped);
  void ReportSteps(const StepWatch& watch, uint32_t until, uint32_t* reported, bool* stopped);
  // Return for each hop the largest number of destination nodes: that a batch can have; that observed batches had, plus
  // a margin.
  std::vector<int32_t> WorstCaseNodes() const;
  Result<std::vector<int32_t>> ObserveNodes();

  const ProgramContext& context_;
  const ModelPlan& plan_;
  const PassOptions options_;
  uint32_t steps_ = 0;
  bool stages_ = false;  // rows that are not in the cache are copied before they are read
  BatchSource source_;
  DeviceArray<int32_t> predictions_;
  DeviceArray<float> outputs_;
  DeviceArray<RunState> state_;
  DeviceArray<float> class_weights_, pos_weight_;
  DeviceArray<double> norm_partials_;
  StepSum sum_;          // used if a step has several shards
  Snapshots snapshots_;  // used on rank 0 of several, which saves
  MappedValue<HostProgress> progress_;
  // main_ has the step's compute. The others work for the next batches: side_ has the chain of draws, structure_ the
  // inner hops' structure, outermost_ the outermost hop, collects_ the collection of misses, copies_ the copies of
  // misses.
  Stream main_, side_, structure_, outermost_, collects_, copies_;
  Event fork_, join_, fork_sample_, join_sample_;
  std::array<Event, 2> drawn_, copied_, whole_, computed_;  // EnqueueSteps: progress of the latest two steps
  std::array<Event, 2> behind_;                             // ends of the latest two chunks of replays
  Bucket small_, large_;
};

}  // namespace hone::gnn::cuda
