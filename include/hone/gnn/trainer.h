// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Trains a model on sampled mini-batches of a graph's training nodes.
//
// A run is a pure function of (graph, model options, the trajectory options below): the same bits on any number of
// threads, interrupted or not. What may change from machine to machine without changing the result (threads, queue
// depth, where checkpoints go) is kept apart in RunOptions.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "hone/base/status.h"
#include "hone/gnn/graph.h"
#include "hone/gnn/loss.h"
#include "hone/gnn/metrics.h"
#include "hone/gnn/model.h"
#include "hone/gnn/neighbor_sampler.h"

namespace hone::gnn {

class Communicator;  // hone/gnn/communicator.h

// How the learning rate changes from epoch to epoch.
enum class Schedule : uint8_t {
  kConstant,
  kCosine,      // half a cosine, from the learning rate after the warm-up to near 0 in the last epoch
  kStep,        // multiplied by schedule_factor after every schedule_every epochs
  kValidation,  // multiplied by schedule_factor after each schedule_patience validations in a row without a better one
};

// Options that decide the trajectory. Every checkpoint keeps them.
struct TrainOptions {
  std::vector<int32_t> fanouts = {15, 10, 5};  // one per layer of the model, the first for the hop next to the seeds
  std::vector<int32_t> eval_fanouts = {20, 20, 20};  // fanouts of the validation passes
  FrontierRule frontier = FrontierRule::kAllSoFar;
  int64_t batch = 1024;      // seeds per virtual shard
  int64_t eval_batch = 512;  // seeds per batch of the validation passes
  int shards = 1;            // virtual shards per step: a step has batch * shards seeds
  int epochs = 25;
  double learning_rate = 0.003;       // base of the schedule
  double weight_decay = 0;            // added to the gradient, as in torch.optim.Adam
  double clip_norm = 0;               // limit on the L2 norm of all gradients together; 0: none
  std::vector<double> class_weights;  // [num_classes], weights of the loss; empty: all 1
  // kBinaryCrossEntropy: the weight of a label that is true, as in PyTorch's BCEWithLogitsLoss: one number for each
  // label, or one for all; empty: 1.
  std::vector<double> pos_weight;
  // Values: train on (value - target_means[c]) / target_scales[c] in place of the values of column c. MakeTrainer sets
  // means and scales [num_classes], the mean and the standard deviation of the known values of the training nodes.
  bool standardize = false;
  std::vector<double> target_means, target_scales;
  bool plateau = false;  // lower the learning rate when the loss stops falling
  double plateau_factor = 0.8;
  int plateau_patience = 125;  // more steps than these without a lower loss: the rate is multiplied by plateau_factor
  Schedule schedule = Schedule::kConstant;
  int warmup = 0;           // epochs in which the rate rises linearly to the learning rate
  int schedule_every = 10;  // epochs
  double schedule_factor = 0.1;
  int schedule_patience = 5;      // validations
  Metric metric = Metric::kAuto;  // measured on the validation split; selects the best epoch
  Loss loss = Loss::kAuto;
  int eval_every = 1;  // epochs from one validation to the next (the last epoch always has one); 0: never
  int early_stop = 0;  // validations without a better one after which the run ends; 0: never
  uint64_t seed = 0;   // seed of seed order, samples and dropout masks
};

// Options that do not change the result.
struct RunOptions {
  int threads = 0;         // 0: all that the process may use
  int workers = 0;         // threads that prepare batches; 0: as many as threads
  int queue = 0;           // batches in preparation or waiting for the training loop; 0: a few more than workers
  std::string checkpoint;  // folder for last.safetensors and best.safetensors; empty: none are written
  int save_every = 0;      // steps between two writes of last.safetensors; 0: at the end of each epoch
  // Ranks (processes) that train one model together, each computing its part of the shards; borrowed. Null: this
  // process alone. Every rank makes and runs a trainer with equal options. The number of ranks does not change a bit of
  // the result. Only rank 0 reads and writes checkpoints. TrainOptions::shards must be a multiple of the number of
  // ranks.
  Communicator* communicator = nullptr;
  // Receives a sentence about a file that was read (that it has no checksum, say), for display. Called on rank 0 only.
  std::function<void(const std::string&)> note;
};

// Times of one epoch, in seconds. Preparation and computing overlap, so the parts add up to more than the whole.
// `exposed` is the part of the preparation that was not hidden: the training loop waited for it.
struct EpochTimes {
  double wall = 0;      // training and validation
  double train = 0;     // wall of the training part
  double sample = 0;    // processor time to draw samples, summed over the threads that prepare batches
  double slice = 0;     // processor time to gather feature rows, summed over the same threads
  double transfer = 0;  // copies to the device; 0 on the CPU
  double compute = 0;   // wall of forward, loss, backward and update
  double exposed = 0;   // wall that the training part spent waiting for a batch
  double evaluate = 0;  // wall of the validation pass
  double cpu = 0;       // processor time of the whole process during the training part, user and system
};

struct EpochReport {
  int epoch = 0;  // counted from 0
  int64_t steps = 0;
  double loss = 0;  // mean over the epoch's labelled seeds, weighted as the loss is
  // Accuracy of the logits that the steps computed, with dropout; with several labels a node the share of nodes whose
  // labels are all right. NaN: no label, or values.
  double train_accuracy = 0;
  // The results of validation. NaN: this epoch had no validation.
  double valid_accuracy = 0;
  double valid_macro_f1 = 0;
  double valid_auc =
      0;  // area under the ROC curve; NaN also unless there are exactly two classes, on a GPU, and with several ranks
  // With several labels or values a node, as TargetScores of hone/gnn/metrics.h; NaN elsewhere. With several labels
  // valid_accuracy, valid_macro_f1 and valid_auc are TargetScores' too. AUC and average precision need one rank.
  double valid_micro_f1 = 0, valid_average_precision = 0, valid_rmse = 0, valid_mae = 0;
  bool best = false;          // true: the best validation of the run so far
  double learning_rate = 0;   // at the epoch's end
  int64_t sampled_nodes = 0;  // input rows of all batches
  int64_t sampled_edges = 0;
  EpochTimes times;
};

struct StepReport {
  int epoch = 0;      // counted from 0
  int64_t step = 0;   // within the epoch, from 0
  int64_t steps = 0;  // in an epoch
  double loss = 0;
  bool validating = false;  // true: a batch of the validation pass; loss is not set
};

struct TrainEvents {
  std::function<void(const StepReport&)> step;
  std::function<void(const EpochReport&)> epoch;
  // Called after every step. If it returns true, the run saves last.safetensors (if there is a checkpoint folder) and
  // ends.
  std::function<bool()> stop;
};

struct TrainResult {
  enum class End { kFinished, kEarlyStop, kStopped } end = End::kFinished;
  int epochs = 0;          // complete epochs of the whole run, those before a resume included
  double best_valid = 0;   // TrainOptions::metric of the best validation; NaN: never validated
  int best_epoch = -1;     // counted from 0; -1: never validated
  std::string checkpoint;  // path of last.safetensors; empty without a folder
};

// Not thread-safe. Borrows nothing: it shares the graph and owns the rest.
class Trainer {
 public:
  virtual ~Trainer() = default;
  virtual Model<float>& model() = 0;
  virtual const TrainOptions& options() const = 0;
  virtual int64_t steps_per_epoch() const = 0;
  virtual int next_epoch() const = 0;  // epoch with which Run begins
  virtual int64_t next_step() const = 0;
  // Runs to the end of the last epoch, to early stopping, or to events.stop.
  // kInvalidArgument: the loss is not a number (names epoch and step, and says what to change);
  // kIo: a checkpoint could not be written (training stops: a run that cannot be resumed is not worth its time). With
  // several ranks: the communicator's errors, when a rank is lost; rank 0 then saves the state after the last whole
  // step, and the message names that file. events.stop of any rank ends all ranks after the same step.
  virtual Result<TrainResult> Run(const TrainEvents& events) = 0;
  // Writes the trainer's present state to `path`: to a temporary file, which is then renamed.
  virtual Status Save(const std::string& path) = 0;
};

// Makes a trainer. kInvalidArgument names the option that is wrong, or what the graph lacks (features, labels, training
// nodes). in_width and num_classes of `model` are taken from the graph. `init`: a safetensors file whose tensors
// replace the initial weights, named as PyTorch Geometric names them (docs/formats/checkpoint.md); empty: none.
Result<std::unique_ptr<Trainer>> MakeTrainer(std::shared_ptr<const Graph> graph, const ModelOptions& model,
                                             const TrainOptions& options, const RunOptions& run,
                                             const std::string& init = {});

// Continues, to the bit, the run that wrote `checkpoint` (a path of a file, or of a folder with last.safetensors).
// `epochs` replaces the number of epochs; 0 keeps it. `learning_rate` replaces the run's initial rate, and the schedule
// continues from its present point; 0 keeps the rate. kInvalidArgument: the checkpoint belongs to another graph, or is
// damaged.
Result<std::unique_ptr<Trainer>> ResumeTrainer(std::shared_ptr<const Graph> graph, const std::string& checkpoint,
                                               const RunOptions& run, int epochs = 0, double learning_rate = 0);

}  // namespace hone::gnn
