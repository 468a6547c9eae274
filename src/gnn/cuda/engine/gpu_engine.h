// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Trains and infers on one GPU that holds graph and features: a step is one replay of a CUDA graph.
//
// A replay trains on one batch while it samples the following batches into other buffers. Sizes stay on the device.
// Buffers and matrix products are sized for an envelope: the observed size of sampled batches, plus a margin. If a
// batch does not fit, the device detects it and skips all work behind it, and the batch is repeated in an envelope for
// the worst case. The same seeds give the same draws, masks and order of sums as the CPU path; matrix products differ
// in rounding.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "gnn/cuda/features/feature_storage.h"
#include "gnn/nn/kernel_choices.h"
#include "hone/base/status.h"
#include "hone/gnn/graph.h"
#include "hone/gnn/mini_batch.h"
#include "hone/gnn/model.h"
#include "hone/gnn/optimizer.h"
#include "hone/gnn/trainer.h"

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
  double clip_norm = 0;               // limit of the gradient's norm (TrainOptions::clip_norm); 0: none
  std::vector<double> class_weights;  // [classes]; empty: all weights are 1
  std::vector<double> pos_weight;     // [width of targets()] (TrainOptions::pos_weight); empty: all 1
  Loss loss = Loss::kAuto;            // for a graph with targets(); others have cross-entropy
  uint64_t seed = 0;                  // seed of the seeds' order, sampling and dropout
  // The capacity of a step's buffers in nodes, relative to the most that the first batches needed. Results do not
  // depend on it. Below 1, most steps are repeated in the worst-case envelope.
  double envelope = 1.03;
  // The ranks that train together, each with the same options and its own GPU; borrowed. Both must be set, or neither.
  // `shards` must be a multiple of the number of ranks, which does not change a bit of the result. With ranks, making
  // an engine, its steps and all functions for tests are collective; Evaluate is not.
  Communicator* ranks = nullptr;
  GradientExchange* exchange = nullptr;
  FeatureStorage storage;  // if cached, the graph must outlive the engine
  bool trains = true;  // false: only Evaluate works; nothing is kept for training, and the training split may be empty
  // The distinct nodes that will be predicted, if `trains` is false; they decide what a feature cache holds. Empty: the
  // training nodes. Borrowed as long as the engine lives.
  std::span<const NodeId> predicts = {};
  KernelChoices choices = {};  // instances of kernels that a model from a file runs; no bit depends on them
};

// One of `count` near-equal parts of a pass's steps.
struct EvaluationPart {
  int index = 0, count = 1;
  std::pair<int64_t, int64_t> Of(int64_t steps) const { return {steps * index / count, steps * (index + 1) / count}; }
};

struct EpochOnDevice {
  double seconds = 0;  // from the first launch to the end of the last kernel; includes the first batch's sampling
  double mean_loss = 0;
  double accuracy = 0;
  int64_t steps = 0;
  int64_t larger = 0;  // steps that were repeated in the worst-case envelope
};

// The position of training between two steps. Together with weights, running statistics and moments it is the whole
// state.
struct TrainingProgress {
  double learning_rate = 0;
  int64_t adam_steps = 0;
  // Whether the device applies the plateau rule (hone/gnn/optimizer.h) without the host.
  bool follows_plateau = false;
  PlateauOptions plateau_rule;  // threshold, cooldown and smallest rate must be the defaults
  PlateauState plateau;
  // The sums of the epoch so far.
  double loss_sum = 0;
  double weight_sum = 0;  // sum of the labels' class weights; without class weights equals `labelled`
  int64_t labelled = 0;
  int64_t correct = 0;
};

// Observes steps, which are enqueued ahead so that the device never waits for the host.
struct StepWatch {
  // Called after each finished step, in order; returns true to stop. Steps that are already enqueued are still done and
  // reported.
  std::function<bool(uint32_t step, double loss)> step;
  int ahead = 64;  // limit of steps that are enqueued and not done; 1 to 512
};

struct StepsOnDevice {
  uint32_t done = 0;   // steps of the epoch that are done, including those before `from`
  int64_t larger = 0;  // steps that ran in the worst-case envelope
  bool stopped = false;
  // Says which value was infinite or not a number in step `done`. This step is not counted; the parameters are unusable
  // afterwards.
  enum class Failure { kNone, kLoss, kGradient } failure = Failure::kNone;
  double value = 0;  // the failing loss or gradient
};

class HostFeed;  // gnn/cuda/engine/feed.h

// The time of each stage of batches that the host's cores prepare. The stages overlap.
struct HostStages {
  double sample_seconds = 0;  // processor time over all workers
  double slice_seconds = 0;
  double copy_seconds = 0;     // transfer time over all batches
  double compute_seconds = 0;  // device time over all batches
  double wait_seconds = 0;     // time that the thread which drives the device waited for batches
  int64_t rows = 0;            // rows sliced and copied
  int64_t edges = 0;           // edges sampled
  int workers = 0;
};
struct FedEpoch : HostStages {
  EpochOnDevice epoch;  // its `seconds` begin with the request for the first batch
};
struct FedSteps : HostStages {
  StepsOnDevice steps;
};

class GpuEngine {
 public:
  virtual ~GpuEngine() = default;
  // Trains one epoch. kInvalidArgument: the loss or a gradient is infinite or not a number.
  virtual Result<EpochOnDevice> TrainEpoch(uint32_t epoch) = 0;
  virtual int64_t steps_per_epoch() const = 0;
  // Trains steps from … until - 1 of an epoch; the epoch's sums continue from SetProgress.
  virtual Result<StepsOnDevice> TrainSteps(uint32_t epoch, uint32_t from, uint32_t until, const StepWatch& watch) = 0;
  virtual Status SetProgress(const TrainingProgress& progress) = 0;
  virtual Result<TrainingProgress> Progress() = 0;
  // Restores a state after TrainSteps has failed with several ranks; on rank 0 only. Copies the state after some
  // completed step, which was kept on the host, into model and optimizer, and sets `step` to the number of completed
  // steps. The device is not read, because its state may be corrupt.
  virtual Result<TrainingProgress> LastGood(Model<float>& model, Adam<float>& optimizer, uint32_t* step) = 0;
  // Runs sampled inference for `nodes`; predictions are in their order. With `part`, only the batches of that part
  // (eval_batch nodes each) are computed, and the other predictions are undefined. A graph with targets() has no
  // predictions, and `outputs` [nodes, width of the targets] instead: logits or values.
  virtual Result<EpochOnDevice> Evaluate(std::span<const NodeId> nodes, std::vector<int32_t>* predictions,
                                         EvaluationPart part = {}, std::vector<float>* outputs = nullptr) = 0;
  // Copy the weights and running statistics to the model's parameters (ExportTo), or from them (ImportFrom).
  virtual Status ExportTo(Model<float>& model) = 0;
  virtual Status ImportFrom(Model<float>& model) = 0;
  // Copy Adam's moments, by name, to the optimizer or from it.
  virtual Status ExportTo(Adam<float>& optimizer) = 0;
  virtual Status ImportFrom(Adam<float>& optimizer) = 0;
  // These serve tests that compare with the CPU path: they sample one step; compute one step's gradients without an
  // update; and train one step. The returned loss is the step's mean.
  virtual Result<NeighborSample> SampleStep(uint32_t epoch, uint32_t step) = 0;
  virtual Result<double> GradientsOfStep(uint32_t epoch, uint32_t step, Model<float>& into) = 0;
  virtual Result<double> TrainStep(uint32_t epoch, uint32_t step) = 0;
  // Sets the tag of the latest batch in the node table; the next batch's tag follows it. For tests.
  virtual Status SetTableTag(uint32_t tag) = 0;
  virtual int64_t device_bytes() const = 0;
  // Do the work of TrainEpoch and TrainSteps with the batches of `feed`, which must be made of the same graph and
  // options, and give the same bits. Each rank has its own feed.
  virtual Result<FedEpoch> TrainFedEpoch(uint32_t epoch, HostFeed& feed) = 0;
  virtual Result<FedSteps> TrainFedSteps(uint32_t epoch, uint32_t from, uint32_t until, const StepWatch& watch,
                                         HostFeed& feed) = 0;
  // Returns the whole graph of an outline, in host memory. The result borrows labels from `graph` and, if they are
  // already on the host, features from this engine; it must be destroyed before both.
  virtual Result<std::shared_ptr<const Graph>> HostGraph(const Graph& graph) = 0;
  // Moves features to host memory behind a cache, or changes the cache, between two epochs. `graph` is the one given to
  // MakeGpuEngine. Training state is kept, and results stay the same to the bit. kInvalidArgument for tiers other than
  // kCached.
  virtual Status SetStorage(const Graph& graph, const FeatureStorage& storage) = 0;
  virtual const StorageFacts& storage() const = 0;
  // Counts the rows that the batches of an epoch read, and how many of these reads the device's memory serves.
  virtual Result<CacheReads> ReadsOfEpoch(const Graph& graph, uint32_t epoch) = 0;
  virtual int64_t num_edges() const = 0;
  // Returns GraphFingerprint (hone/gnn/predictor.h), computed from the device's memory. `graph` is the one given to
  // MakeGpuEngine.
  virtual Result<std::string> Fingerprint(const Graph& graph) const = 0;
};

// FeedNeeds says what a model needs of batches that the host prepares (feed.h).
struct FeedNeeds {
  // Whether rows must be found by the node's global id: because a mask of every input row is keyed by it, or because
  // the outermost hop's sum reads degrees of the whole graph.
  bool rows_by_id = false;
  bool numbers_outermost = false;  // ModelPlan::numbers_outermost: the outermost hop's nodes get local ids too
};
// Returns the needs of a model. kInvalidArgument if the engine does not know the model.
Result<FeedNeeds> FeedNeedsOf(const ModelOptions& model);

// Makes an engine. `model` gives the kind, shape, dropout and initial weights; it is not kept. The graph is copied to
// the device. If it is the outline of a synthetic graph, it is generated there and never exists on the host. Errors:
// kInvalidArgument for what this engine does not support, naming it; kResourceExhausted if memory does not suffice.
Result<std::unique_ptr<GpuEngine>> MakeGpuEngine(const Graph& graph, Model<float>& model,
                                                 const GpuEngineOptions& options);

}  // namespace hone::gnn::cuda
