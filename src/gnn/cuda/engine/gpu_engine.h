// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Training and inference on one GPU with graph and features in device memory: a step is one CUDA-graph replay.
//
// A replay trains on one batch while it samples those that follow into other buffers. Sizes stay on the device;
// buffers and matrix products are for an envelope that sampled batches stay in (observed, with a margin), and a batch
// that does not is noticed on the device, stops everything behind it, and is done again in an envelope for the worst
// case. The same seeds give the same draws, masks and order of sums as the CPU path's; matrix products differ in
// rounding.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "gnn/cuda/features/feature_storage.h"
#include "hone/base/status.h"
#include "hone/gnn/graph.h"
#include "hone/gnn/mini_batch.h"
#include "hone/gnn/model.h"
#include "hone/gnn/optimizer.h"

namespace hone::gnn {
class Communicator;      // hone/gnn/communicator.h
class GradientExchange;  // gnn/dist/gradient_exchange.h
}  // namespace hone::gnn

namespace hone::gnn::cuda {

struct GpuEngineOptions {
  std::vector<int32_t> fanouts = {15, 10, 5};  // each 1 to 1024, or kAllNeighbors; up to 32 is faster
  std::vector<int32_t> eval_fanouts = {20, 20, 20};
  int32_t batch = 1024;  // seeds a shard
  int32_t shards = 1;    // virtual shards a step (TrainOptions::shards)
  int32_t eval_batch = 1024;
  bool fp32 = false;  // activations and products in fp32 instead of bf16
  double learning_rate = 3e-3;
  double weight_decay = 0;
  double clip_norm = 0;               // as TrainOptions::clip_norm
  std::vector<double> class_weights;  // [classes] or empty: all one
  uint64_t seed = 0;  // of seed order, sampling and dropout
  // Nodes a step's buffers hold, over the most that the first batches needed. Results do not depend on it; below 1 most
  // steps are done again in the envelope of the worst case.
  double envelope = 1.03;
  // The ranks that train together, each with the same options and a GPU of its own; borrowed. Both or neither, and
  // `shards` a multiple of their number, which does not change a bit of the result. Making an engine, its steps and
  // all that tests call are then collective; Evaluate is not.
  Communicator* ranks = nullptr;
  GradientExchange* exchange = nullptr;
  FeatureStorage storage;  // cached: the graph must outlive the engine
  bool trains = true;  // false: Evaluate alone; nothing is kept for training, and the training split may be empty
  // Of an engine that does not train: distinct nodes that it will be asked for, by which a cache of features is chosen;
  // empty: the training nodes. Borrowed, for as long as the engine.
  std::span<const NodeId> predicts = {};
};

// Part `index` of `count` near-equal parts of a pass's steps.
struct EvaluationPart {
  int index = 0, count = 1;
  std::pair<int64_t, int64_t> Of(int64_t steps) const { return {steps * index / count, steps * (index + 1) / count}; }
};

struct EpochOnDevice {
  double seconds = 0;  // from the first launch to the last kernel's end, the first sample included
  double mean_loss = 0;
  double accuracy = 0;
  int64_t steps = 0;
  int64_t larger = 0;  // steps that needed the larger envelope
};

// Where training stands between two steps; with weights, running statistics and moments it is all of it.
struct TrainingProgress {
  double learning_rate = 0;
  int64_t adam_steps = 0;
  // The plateau rule (hone/gnn/optimizer.h), which the device follows without the host.
  bool follows_plateau = false;
  PlateauOptions plateau_rule;  // its threshold, cooldown and smallest rate must be the defaults
  PlateauState plateau;
  // Of the epoch so far.
  double loss_sum = 0;
  double weight_sum = 0;  // of the labels; without class weights as many as `labelled`
  int64_t labelled = 0;
  int64_t correct = 0;
};

// Somebody who looks on. Steps are enqueued ahead of the device, so that it never waits for the host.
struct StepWatch {
  // After each step that is done, in their order; true: stop. Steps that are enqueued by then are still done, and told.
  std::function<bool(uint32_t step, double loss)> step;
  int ahead = 64;  // steps enqueued and not done, at most; 1 to 512
};

struct StepsOnDevice {
  uint32_t done = 0;   // of the epoch
  int64_t larger = 0;  // of them in the larger envelope
  bool stopped = false;
  // What is not a number, in step `done`, which is not counted; the parameters are then of no use.
  enum class Failure { kNone, kLoss, kGradient } failure = Failure::kNone;
  double value = 0;  // of it
};

class HostFeed;  // gnn/cuda/engine/feed.h

// What each stage of batches from the host's cores took by itself; they run beside one another.
struct HostStages {
  double sample_seconds = 0;   // of the host's processors, over all workers
  double slice_seconds = 0;
  double copy_seconds = 0;     // of the bus, over all batches
  double compute_seconds = 0;  // of the device, likewise
  double wait_seconds = 0;     // that the device's host thread waited for a batch
  int64_t rows = 0;            // sliced and copied
  int64_t edges = 0;           // sampled
  int workers = 0;
};
struct FedEpoch : HostStages {
  EpochOnDevice epoch;  // its seconds: from the first batch's ticket to the last kernel's end
};
struct FedSteps : HostStages {
  StepsOnDevice steps;
};

class GpuEngine {
 public:
  virtual ~GpuEngine() = default;
  // kInvalidArgument: the loss or a gradient is not a number.
  virtual Result<EpochOnDevice> TrainEpoch(uint32_t epoch) = 0;
  virtual int64_t steps_per_epoch() const = 0;
  // Steps from … until - 1 of an epoch; sums go on from what was set.
  virtual Result<StepsOnDevice> TrainSteps(uint32_t epoch, uint32_t from, uint32_t until, const StepWatch& watch) = 0;
  virtual Status SetProgress(const TrainingProgress& progress) = 0;
  virtual Result<TrainingProgress> Progress() = 0;
  // Of rank 0 of several, when TrainSteps has failed: the state after some whole step of it, which the host has kept, into
  // model and optimizer; `step` of the epoch are in it. The device, whose state may be of no use, is not asked.
  virtual Result<TrainingProgress> LastGood(Model<float>& model, Adam<float>& optimizer, uint32_t* step) = 0;
  // Sampled inference for `nodes`; predictions in their order.
  // With `part`: of its batches only (eval_batch nodes each), the other predictions mean nothing.
  virtual Result<EpochOnDevice> Evaluate(std::span<const NodeId> nodes, std::vector<int32_t>* predictions,
                                         EvaluationPart part = {}) = 0;
  // Copies the weights and running statistics into the model's parameters, or takes them from it.
  virtual Status ExportTo(Model<float>& model) = 0;
  virtual Status ImportFrom(Model<float>& model) = 0;
  // Adam's moments, by name.
  virtual Status ExportTo(Adam<float>& optimizer) = 0;
  virtual Status ImportFrom(Adam<float>& optimizer) = 0;
  // What tests compare with the CPU path: the sample of one step; the gradients of one step without an update; a step
  // with one. The loss is the step's mean.
  virtual Result<NeighborSample> SampleStep(uint32_t epoch, uint32_t step) = 0;
  virtual Result<double> GradientsOfStep(uint32_t epoch, uint32_t step, Model<float>& into) = 0;
  virtual Result<double> TrainStep(uint32_t epoch, uint32_t step) = 0;
  // The next batch's tag in the table that finds duplicates is one more.
  virtual Status SetTableTag(uint32_t tag) = 0;
  virtual int64_t device_bytes() const = 0;
  // As TrainEpoch and TrainSteps, of `feed`'s batches instead of its own, made of the same graph and options: the same
  // bits. Each rank of several has a feed of its own.
  virtual Result<FedEpoch> TrainFedEpoch(uint32_t epoch, HostFeed& feed) = 0;
  virtual Result<FedSteps> TrainFedSteps(uint32_t epoch, uint32_t from, uint32_t until, const StepWatch& watch,
                                         HostFeed& feed) = 0;
  // The whole graph in the host's memory, of one that was an outline. Its labels are that one's and its features, where
  // they are there already, this engine's: it must outlive neither.
  virtual Result<std::shared_ptr<const Graph>> HostGraph(const Graph& graph) = 0;
  // Features to the host's memory behind a cache, or behind another one, between two epochs; `graph` as given to
  // MakeGpuEngine. What was trained stays, and goes on to the same bits. kInvalidArgument for the device's tier.
  virtual Status SetStorage(const Graph& graph, const FeatureStorage& storage) = 0;
  virtual const StorageFacts& storage() const = 0;
  // What the batches of an epoch read, and what of it is in the device's memory.
  virtual Result<CacheReads> ReadsOfEpoch(const Graph& graph, uint32_t epoch) = 0;
  virtual int64_t num_edges() const = 0;
  // GraphFingerprint (hone/gnn/predictor.h), read back from the device; `graph` as given to MakeGpuEngine.
  virtual Result<std::string> Fingerprint(const Graph& graph) const = 0;
};

// Whether this model wants the rows of batches from the host's cores by their nodes' global ids (feed.h): its masks are
// drawn for every input row, by the node that it belongs to.
bool FindsRowsById(const ModelOptions& model);

// `model` gives the kind, shape, dropout and initial weights; it is not kept. The graph is copied to the device; an
// outline of a synthetic graph is made whole there, and never is on the host.
// kInvalidArgument for what this engine cannot do, naming it; kResourceExhausted when memory does not suffice.
Result<std::unique_ptr<GpuEngine>> MakeGpuEngine(const Graph& graph, Model<float>& model,
                                                 const GpuEngineOptions& options);

}  // namespace hone::gnn::cuda
