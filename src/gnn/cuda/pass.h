// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// One direction of use of a model on the GPU: the seeds, fanouts and buffers of training, or of evaluation.
//
// A step is one CUDA-graph replay, which computes on one batch while it samples the next into the other of two
// buffers. Steps run in the envelope that sampled batches have stayed in; a batch that does not fit is noticed on the
// device, turns the replays behind it into nothing, and is done again in the envelope of the worst case.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "gnn/cuda/batch_buffers.h"
#include "gnn/cuda/cuda_handles.h"
#include "gnn/cuda/gpu_engine.h"
#include "gnn/cuda/learn_kernels.h"
#include "gnn/cuda/program.h"

namespace hone::gnn::cuda {

struct PassOptions {
  std::vector<int32_t> fanouts;
  int32_t batch = 1024;
  bool trains = false;  // otherwise: inference, seeds in their order
  uint64_t seed = 0;
  double envelope = 1.03;  // see GpuEngineOptions
  int32_t classes = 0;
  AdamOptions adam;
  double learning_rate = 0;  // at the beginning
};

class Pass {
 public:
  // All borrowed.
  Pass(const ProgramContext& context, const ModelPlan& plan, PassOptions options)
      : context_(context), plan_(plan), options_(std::move(options)) {}

  Status Make(std::span<const NodeId> seeds);
  uint32_t steps() const { return steps_; }
  // A whole epoch, counted from its beginning.
  Result<EpochOnDevice> RunEpoch(uint32_t epoch);
  // Steps from … until - 1 of an epoch, whose sums go on. `watch` may be null: then nobody looks before the end.
  Result<StepsOnDevice> RunSteps(uint32_t epoch, uint32_t from, uint32_t until, const StepWatch* watch);
  Status SetProgress(const TrainingProgress& progress);
  Result<TrainingProgress> Progress();
  // Samples a step and does nothing else.
  Result<NeighborSample> SampleStep(uint32_t epoch, uint32_t step);
  // One step in the envelope of the worst case; its mean loss. `update`: the parameters move.
  Result<double> OneStep(uint32_t epoch, uint32_t step, bool update);
  const DeviceArray<int32_t>& predictions() const { return predictions_; }

 private:
  // Buffers and captured steps for batches of one envelope.
  struct Bucket {
    Envelope envelope;
    std::unique_ptr<Program> program;
    std::array<BatchBuffers, 2> batches;
    DeviceArray<float> logits, row_loss;
    DeviceArray<int32_t> row_correct;
    DeviceArray<unsigned char> grad_logits, sort_scratch;
    std::array<GraphExec, 2> replays;  // compute on batch i, sample into the other
  };

  Status MakeBucket(const std::vector<int32_t>& known, Bucket& bucket);
  Status Capture(Bucket& bucket);
  Status EnqueueSample(Bucket& bucket, int which, cudaStream_t stream);
  Status EnqueueCompute(Bucket& bucket, int which, bool update, cudaStream_t stream);
  Status SetState(uint32_t epoch, uint32_t next, bool fresh);
  Status WriteState(const RunState& state);
  Result<RunState> ReadState();
  Result<RunState> RunReplays(uint32_t from, uint32_t until, const StepWatch* watch, uint32_t* told, bool* stopped);
  void Tell(const StepWatch& watch, uint32_t until, uint32_t* told, bool* stopped);
  std::vector<int32_t> WorstCase() const;
  Result<std::vector<int32_t>> Observe();

  const ProgramContext& context_;
  const ModelPlan& plan_;
  const PassOptions options_;
  uint32_t steps_ = 0;
  BatchSource source_;
  DeviceArray<int32_t> predictions_;
  DeviceArray<RunState> state_;
  MappedValue<HostProgress> progress_;
  Stream main_, side_;
  Event fork_, join_;
  std::array<Event, 2> behind_;  // chunks of replays that a watched run enqueues ahead
  Bucket small_, large_;
};

}  // namespace hone::gnn::cuda
