// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Trains and infers on one GPU with graph and features in device memory: a step is one CUDA-graph replay.
//
// A replay trains on one batch while it samples the following ones into other buffers. Sizes stay on the device;
// buffers and matrix products are sized for an envelope, the observed size of sampled batches plus a margin. The device
// detects a batch that does not fit, skips all work behind it, and the batch is repeated in an envelope for the worst
// case. The same seeds give the same draws, masks and order of sums as the CPU path; matrix products differ in
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
  int32_t batch = 1024;  // seeds per shard
  int32_t shards = 1;    // virtual shards per step (TrainOptions::shards)
  int32_t eval_batch = 1024;
  bool fp32 = false;  // activations and products in fp32 instead of bf16
  double learning_rate = 3e-3;
  double weight_decay = 0;
  double clip_norm = 0;               // as TrainOptions::clip_norm
  std::vector<double> class_weights;  // [classes]; empty: all weights are 1
  uint64_t seed = 0;  // for seed order, sampling and dropout
  // Capacity of a step's buffers in nodes, relative to the most that the first batches needed. Results do not depend on
  // it; below 1 most steps are repeated in the worst-case envelope.
  double envelope = 1.03;
  // The ranks that train together, each with the same options and its own GPU; borrowed. Set both or neither; `shards`
  // must be a multiple of the number of ranks, which does not change a bit of the result. With ranks, making an engine,
  // its steps and all functions that tests call are collective; Evaluate is not.
  Communicator* ranks = nullptr;
  GradientExchange* exchange = nullptr;
  FeatureStorage storage;  // if cached, the graph must outlive the engine
  bool trains = true;  // false: only Evaluate works; nothing is kept for training, and the training split may be empty
  // If `trains` is false: the distinct nodes that will be predicted, by which a feature cache is chosen; empty: the
  // training nodes. Borrowed for as long as the engine lives.
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

// The position of training between two steps; with weights, running statistics and moments this is the whole state.
struct TrainingProgress {
  double learning_rate = 0;
  int64_t adam_steps = 0;
  // Whether the device applies the plateau rule (hone/gnn/optimizer.h) without the host.
  bool follows_plateau = false;
  PlateauOptions plateau_rule;  // threshold, cooldown and smallest rate must be the defaults
  PlateauState plateau;
  // Sums of the epoch so far.
  double loss_sum = 0;
  double weight_sum = 0;  // sum of the labels' class weights; without class weights equals `labelled`
  int64_t labelled = 0;
  int64_t correct = 0;
};

// An observer of steps. Steps are enqueued ahead, so that the device never waits for the host.
struct StepWatch {
  // Called after each finished step, in order; return true to stop. Steps already enqueued are still done and reported.
  std::function<bool(uint32_t step, double loss)> step;
  int ahead = 64;  // most steps enqueued and not done; 1 to 512
};

struct StepsOnDevice {
  uint32_t done = 0;   // steps of the epoch that are done
  int64_t larger = 0;  // steps that ran in the larger envelope
  bool stopped = false;
  // The quantity that was not a number in step `done`, which is not counted; the parameters are unusable afterwards.
  enum class Failure { kNone, kLoss, kGradient } failure = Failure::kNone;
  double value = 0;  // the failing loss or gradient
};

class HostFeed;  // gnn/cuda/engine/feed.h

// Time of each stage of batches prepared by the host's cores; the stages overlap.
struct HostStages {
  double sample_seconds = 0;   // processor time over all workers
  double slice_seconds = 0;
  double copy_seconds = 0;     // transfer time over all batches
  double compute_seconds = 0;  // device time over all batches
  double wait_seconds = 0;     // time that the host thread of the device waited for a batch
  int64_t rows = 0;            // rows sliced and copied
  int64_t edges = 0;           // edges sampled
  int workers = 0;
};
struct FedEpoch : HostStages {
  EpochOnDevice epoch;  // its seconds: from requesting the first batch to the last kernel's end
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
  // Runs steps from … until - 1 of an epoch; sums continue from SetProgress.
  virtual Result<StepsOnDevice> TrainSteps(uint32_t epoch, uint32_t from, uint32_t until, const StepWatch& watch) = 0;
  virtual Status SetProgress(const TrainingProgress& progress) = 0;
  virtual Result<TrainingProgress> Progress() = 0;
  // After TrainSteps has failed with several ranks, only on rank 0: copies the state after some completed step, kept on
  // the host, into model and optimizer, and sets `step` to the number of completed steps. The device is not read,
  // because its state may be corrupt.
  virtual Result<TrainingProgress> LastGood(Model<float>& model, Adam<float>& optimizer, uint32_t* step) = 0;
  // Runs sampled inference for `nodes`; predictions are in their order. With `part`, only that part's batches
  // (eval_batch nodes each) are computed, and the other predictions are undefined.
  virtual Result<EpochOnDevice> Evaluate(std::span<const NodeId> nodes, std::vector<int32_t>* predictions,
                                         EvaluationPart part = {}) = 0;
  // Copies the weights and running statistics into the model's parameters, or takes them from it.
  virtual Status ExportTo(Model<float>& model) = 0;
  virtual Status ImportFrom(Model<float>& model) = 0;
  // Copies Adam's moments, by name.
  virtual Status ExportTo(Adam<float>& optimizer) = 0;
  virtual Status ImportFrom(Adam<float>& optimizer) = 0;
  // For tests that compare with the CPU path: the sample of one step; the gradients of one step without an update; a
  // step with an update. The returned loss is the step's mean.
  virtual Result<NeighborSample> SampleStep(uint32_t epoch, uint32_t step) = 0;
  virtual Result<double> GradientsOfStep(uint32_t epoch, uint32_t step, Model<float>& into) = 0;
  virtual Result<double> TrainStep(uint32_t epoch, uint32_t step) = 0;
  // Sets the tag that precedes the next batch's in the table that finds duplicates.
  virtual Status SetTableTag(uint32_t tag) = 0;
  virtual int64_t device_bytes() const = 0;
  // Work like TrainEpoch and TrainSteps, with the batches of `feed`, which must be made of the same graph and options;
  // give the same bits. Each rank has its own feed.
  virtual Result<FedEpoch> TrainFedEpoch(uint32_t epoch, HostFeed& feed) = 0;
  virtual Result<FedSteps> TrainFedSteps(uint32_t epoch, uint32_t from, uint32_t until, const StepWatch& watch,
                                         HostFeed& feed) = 0;
  // Returns in host memory the whole graph of an outline. The result borrows labels from `graph` and, if already on the
  // host, features from this engine; destroy it before both.
  virtual Result<std::shared_ptr<const Graph>> HostGraph(const Graph& graph) = 0;
  // Moves features to host memory behind a cache, or changes the cache, between two epochs; `graph` as given to
  // MakeGpuEngine. Training state is kept, and results stay the same to the bit. kInvalidArgument for tier kDevice.
  virtual Status SetStorage(const Graph& graph, const FeatureStorage& storage) = 0;
  virtual const StorageFacts& storage() const = 0;
  // Counts the rows that the batches of an epoch read, and how many of them are in device memory.
  virtual Result<CacheReads> ReadsOfEpoch(const Graph& graph, uint32_t epoch) = 0;
  virtual int64_t num_edges() const = 0;
  // GraphFingerprint (hone/gnn/predictor.h), read back from the device; `graph` as given to MakeGpuEngine.
  virtual Result<std::string> Fingerprint(const Graph& graph) const = 0;
};

// What a model needs of batches that the host prepared (feed.h).
struct FeedNeeds {
  // Rows are found by the node's global id: a mask of every input row is keyed by it, or the outermost hop's sum reads
  // degrees of the whole graph.
  bool rows_by_id = false;
  bool numbers_outermost = false;  // as ModelPlan's: the outermost hop comes like the others
};
// kInvalidArgument for a model that the engine does not know.
Result<FeedNeeds> FeedNeedsOf(const ModelOptions& model);

// Makes an engine. `model` gives the kind, shape, dropout and initial weights; it is not kept. The graph is copied to
// the device; the outline of a synthetic graph is generated there and never exists on the host. Errors:
// kInvalidArgument for what this engine does not support, naming it; kResourceExhausted when memory does not suffice.
Result<std::unique_ptr<GpuEngine>> MakeGpuEngine(const Graph& graph, Model<float>& model,
                                                 const GpuEngineOptions& options);

}  // namespace hone::gnn::cuda
