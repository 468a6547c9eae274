// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs the training loop around the GPU engine. The engine holds weights, moments and the sums of the epoch. The model
// and the optimizer of this class serve checkpoints, and are filled before each one is written.
#include "gnn/cuda/engine/gpu_trainer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/clock.h"
#include "base/process/cgroup_limits.h"
#include "gnn/cuda/engine/feed.h"
#include "gnn/cuda/engine/gpu_engine.h"
#include "gnn/cuda/graph/device_graph.h"
#include "gnn/dist/gradient_exchange.h"
#include "gnn/spec/own_operations.h"
#include "gnn/train/checkpoint.h"
#include "gnn/train/standard_targets.h"
#include "gnn/train/train_options.h"
#include "gnn/train/validation.h"
#include "hone/gnn/communicator.h"
#include "hone/gnn/predictor.h"

namespace hone::gnn::cuda {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Status CheckDeviceRanks(const RunOptions& run, const GpuTrainerOptions& gpu) {
  const int ranks = run.communicator == nullptr ? 1 : run.communicator->size();
  if (ranks == 1 || (gpu.exchange != nullptr && gpu.exchange->size() == ranks)) return Status::Ok();
  return Status::InvalidArgument(
      fmt::format("{} ranks train on GPUs, and there is no communicator of the GPUs", ranks));
}

class GpuTrainer final : public Trainer {
 public:
  GpuTrainer(std::shared_ptr<const Graph> graph, const CheckpointHeader& header, const RunOptions& run,
             const GpuTrainerOptions& gpu, std::unique_ptr<Model<float>> model)
      : graph_(std::move(graph)),
        options_(header.train),
        run_(run),
        gpu_(gpu),
        position_(header.position),
        fingerprint_(header.graph_fingerprint),
        model_(std::move(model)),
        optimizer_(model_->parameters(), {.learning_rate = header.learning_rate}),
        solo_(run.communicator == nullptr ? MakeSoloCommunicator() : nullptr),
        ranks_(run.communicator == nullptr ? *solo_ : *run.communicator) {
    optimizer_.set_steps(header.optimizer_steps);
    valid_.assign(graph_->valid_nodes().begin(), graph_->valid_nodes().end());
    std::sort(valid_.begin(), valid_.end());  // in the CPU's order; a batch needs distinct seeds
    valid_.erase(std::unique(valid_.begin(), valid_.end()), valid_.end());
  }

  // Makes the engine and, if batches come from the host, the feed. `file` is a checkpoint whose tensors are loaded;
  // null: none.
  Status Make(const TensorFile* file, std::string_view what, const CheckpointHeader& header) {
    if (gpu_.host_batches && ReadsEdgeFeatures(model_->options())) {
      return Status::InvalidArgument(fmt::format(
          "model '{}' reads the features of edges, which batches from the host (--pipeline cpu) do not carry: let the "
          "GPU sample, or train on the CPU",
          ModelName(model_->options())));
    }
    if (file != nullptr) HONE_RETURN_IF_ERROR(RestoreCheckpoint(*file, what, header, *model_, optimizer_));
    GpuEngineOptions engine;
    engine.fanouts = options_.fanouts;
    engine.eval_fanouts = options_.eval_every > 0 ? options_.eval_fanouts : options_.fanouts;
    engine.batch = static_cast<int32_t>(options_.batch);
    engine.eval_batch = static_cast<int32_t>(options_.eval_batch);
    engine.fp32 = gpu_.fp32;
    engine.learning_rate = options_.learning_rate;
    engine.weight_decay = options_.weight_decay;
    engine.shards = options_.shards;
    engine.class_weights = options_.class_weights;
    engine.clip_norm = options_.clip_norm;
    engine.loss = options_.loss;
    engine.pos_weight = options_.pos_weight;
    if (ranks_.size() > 1) {
      // All ranks must enqueue equally many replays before they agree to go on, because replays wait for one another.
      HONE_RETURN_IF_ERROR(ranks_.Agree("how many steps the GPUs run ahead", static_cast<uint64_t>(gpu_.ahead)));
      engine.ranks = &ranks_;
      engine.exchange = gpu_.exchange;
    }
    engine.seed = options_.seed;
    engine.envelope = gpu_.envelope;
    engine.storage = gpu_.storage;
    engine.choices = gpu_.choices;
    if (engine.storage.threads == 0) engine.storage.threads = run_.threads;
    HONE_ASSIGN_OR_RETURN(engine_, MakeGpuEngine(*graph_, *model_, engine));
    if (gpu_.host_batches) HONE_RETURN_IF_ERROR(MakeFeed(engine));
    if (IsOutline(*graph_)) {
      HONE_ASSIGN_OR_RETURN(fingerprint_, engine_->Fingerprint(*graph_));
      if (file != nullptr) HONE_RETURN_IF_ERROR(CheckFingerprint(header, what, *graph_, fingerprint_));
    }
    HONE_RETURN_IF_ERROR(engine_->ImportFrom(optimizer_));
    TrainingProgress progress;
    progress.learning_rate = optimizer_.learning_rate();
    progress.adam_steps = optimizer_.steps();
    progress.follows_plateau = options_.plateau;
    progress.plateau_rule = {.factor = options_.plateau_factor, .patience = options_.plateau_patience};
    progress.plateau = position_.plateau;
    progress.loss_sum = position_.loss_sum;
    progress.weight_sum = position_.weight_sum;
    progress.labelled = position_.labelled;
    progress.correct = position_.correct;
    HONE_RETURN_IF_ERROR(engine_->SetProgress(progress));
    return CheckStep(position_, what, steps_per_epoch());
  }

  // Makes the feed. Slices take at most a quarter of the host's free memory, shared with the other ranks of this host.
  Status MakeFeed(const GpuEngineOptions& engine) {
    std::shared_ptr<const Graph> whole_graph = graph_;
    if (IsOutline(*graph_)) {
      HONE_ASSIGN_OR_RETURN(whole_graph, engine_->HostGraph(*graph_));
    }
    HostFeedOptions options;
    options.workers = run_.workers > 0 ? run_.workers : run_.threads;
    options.queue = run_.queue;
    options.cuts = gpu_.host_cuts;
    if (const int64_t available = AvailableMemoryBytes(); available > 0) {
      options.buffer_bytes = std::min(options.buffer_bytes, available / 4 / ranks_.size());
    }
    HONE_ASSIGN_OR_RETURN(feed_, HostFeed::Make(std::move(whole_graph), engine, options));
    return Status::Ok();
  }

  HeldOnDevice held() const {
    const FeatureView rows = graph_->features();
    return {.num_edges = engine_->num_edges(),
            .device_bytes = engine_->device_bytes(),
            .host_bytes = gpu_.storage.tier == FeatureTier::kCached ? rows.num_rows * rows.stride_bytes : 0,
            .host_shared = engine_->storage().shared};
  }

  Model<float>& model() override { return *model_; }
  const TrainOptions& options() const override { return options_; }
  int64_t steps_per_epoch() const override { return engine_->steps_per_epoch(); }
  int next_epoch() const override { return position_.epoch; }
  int64_t next_step() const override { return position_.step; }

  Status Save(const std::string& path) override {
    HONE_RETURN_IF_ERROR(Fetch());
    return Write(path);
  }

  // Writes a checkpoint of model, optimizer and position as this object has them.
  Status Write(const std::string& path) {
    const CheckpointHeader header{model_->options(),          options_,          fingerprint_, position_,
                                  optimizer_.learning_rate(), optimizer_.steps()};
    return WriteTensorFile(path, MakeCheckpoint(header, *model_, optimizer_)).WithContext("saving the checkpoint");
  }

  Result<TrainResult> Run(const TrainEvents& events) override {
    if (saves()) RemoveLeftovers(run_.checkpoint);
    // Saves before the first step, so that an unwritable folder is reported at once and not after an epoch.
    HONE_RETURN_IF_ERROR(SaveLast());
    bool stopped = false;
    while (position_.epoch < options_.epochs && !position_.ended_early && !stopped) {
      Result<bool> epoch = RunEpoch(events);
      if (rank_lost_) {
        if (!saves()) return epoch.status();
        const Status saved = SaveAfterLoss();  // moves the position back to the saved step
        return SavedAfterLoss(epoch.status(), saved, position_, run_);
      }
      HONE_ASSIGN_OR_RETURN(stopped, std::move(epoch));
    }
    if (stopped) HONE_RETURN_IF_ERROR(SaveLast());
    HONE_RETURN_IF_ERROR(Fetch());  // the caller may use model() next
    return ResultOf(position_, stopped, run_);
  }

 private:
  bool saves() const { return !run_.checkpoint.empty() && ranks_.rank() == 0; }
  Status SaveLast() { return saves() ? Save(LastCheckpoint(run_.checkpoint)) : Status::Ok(); }

  // Notes a lost rank, and returns `status`. For operations of the ranks between steps, when the device's state is
  // good.
  Status NoteLostRank(const Status& status) {
    rank_lost_ = rank_lost_ || !status.ok();
    return status;
  }
  Status SaveAfterLoss() {
    if (!lost_in_steps_) return SaveLast();
    // The device may have computed with data that never arrived, so an earlier state is saved.
    uint32_t step = 0;
    HONE_ASSIGN_OR_RETURN(const TrainingProgress progress, engine_->LastGood(*model_, optimizer_, &step));
    Take(progress);
    position_.step = step;
    return Write(LastCheckpoint(run_.checkpoint));
  }

  // Copies the device's state into model, optimizer and position.
  Status Fetch() {
    HONE_RETURN_IF_ERROR(engine_->ExportTo(*model_));
    HONE_RETURN_IF_ERROR(engine_->ExportTo(optimizer_));
    HONE_ASSIGN_OR_RETURN(const TrainingProgress progress, engine_->Progress());
    Take(progress);
    return Status::Ok();
  }
  void Take(const TrainingProgress& progress) {
    optimizer_.set_learning_rate(progress.learning_rate);
    optimizer_.set_steps(progress.adam_steps);
    TakeProgress(progress);
  }
  void TakeProgress(const TrainingProgress& progress) {
    if (options_.plateau) position_.plateau = progress.plateau;
    position_.loss_sum = progress.loss_sum;
    position_.weight_sum = progress.weight_sum;
    position_.labelled = progress.labelled;
    position_.correct = progress.correct;
  }

  // Returns whether any rank was asked to stop.
  Result<bool> AnyRankStops(const TrainEvents& events) {
    double ranks_that_stop = events.stop && events.stop() ? 1 : 0;
    HONE_RETURN_IF_ERROR(NoteLostRank(ranks_.AllReduceSum("the wish to stop", std::span(&ranks_that_stop, 1))));
    return ranks_that_stop > 0;
  }

  // Trains one epoch, or the rest of it. Returns true if it was stopped on the way.
  Result<bool> RunEpoch(const TrainEvents& events) {
    const Stopwatch wall;
    const double cpu_before = ProcessSeconds();
    const int64_t steps = steps_per_epoch();
    EpochReport report;
    report.epoch = position_.epoch;
    report.steps = steps;
    StepWatch watch;
    watch.ahead = gpu_.ahead;
    watch.step = [&](uint32_t step, double loss) {
      if (events.step) events.step({.epoch = position_.epoch, .step = step, .steps = steps, .loss = loss});
      return events.stop && events.stop();
    };
    while (position_.step < steps) {
      const int64_t next_save = run_.save_every > 0 ? (position_.step / run_.save_every + 1) * run_.save_every : steps;
      Result<StepsOnDevice> trained_steps = TrainSteps(std::min(steps, next_save), watch, report.times);
      if (ranks_.size() > 1 && !trained_steps.ok()) rank_lost_ = lost_in_steps_ = true;
      HONE_ASSIGN_OR_RETURN(const StepsOnDevice ran, std::move(trained_steps));
      position_.step = ran.done;
      if (ran.failure != StepsOnDevice::Failure::kNone) return NotANumber(ran);
      if (ran.stopped) return true;
      if (position_.step == steps) break;
      HONE_RETURN_IF_ERROR(SaveLast());
    }
    HONE_ASSIGN_OR_RETURN(const TrainingProgress progress, engine_->Progress());
    TakeProgress(progress);
    report.times.cpu = ProcessSeconds() - cpu_before;
    report.times.train = wall.Seconds();
    if (feed_ == nullptr) report.times.compute = report.times.train;
    ReportSums(position_, report);
    if (graph_->targets().kind == TargetKind::kValues) report.train_accuracy = kNaN;

    HONE_ASSIGN_OR_RETURN(const bool stopped, Validate(events, report));
    if (stopped) return true;
    report.learning_rate = progress.learning_rate;
    HONE_RETURN_IF_ERROR(BeginNextEpoch(report, progress));
    if (report.best && saves()) HONE_RETURN_IF_ERROR(Save(BestCheckpoint(run_.checkpoint)));
    HONE_RETURN_IF_ERROR(SaveLast());
    report.times.wall = wall.Seconds();
    if (events.epoch) events.epoch(report);
    HONE_ASSIGN_OR_RETURN(const bool stop_requested, AnyRankStops(events));
    return stop_requested && position_.epoch < options_.epochs;
  }

  // Trains up to step `until`, with the device's or the host's batches, and adds to `times` the stages that have
  // separate times.
  Result<StepsOnDevice> TrainSteps(int64_t until, const StepWatch& watch, EpochTimes& times) {
    const auto epoch = static_cast<uint32_t>(position_.epoch), from = static_cast<uint32_t>(position_.step);
    if (feed_ == nullptr) return engine_->TrainSteps(epoch, from, static_cast<uint32_t>(until), watch);
    HONE_ASSIGN_OR_RETURN(const FedSteps ran,
                          engine_->TrainFedSteps(epoch, from, static_cast<uint32_t>(until), watch, *feed_));
    times.sample += ran.sample_seconds;
    times.slice += ran.slice_seconds;
    times.transfer += ran.copy_seconds;
    times.compute += ran.compute_seconds;
    times.exposed += ran.wait_seconds;
    position_.sampled_nodes += ran.rows;
    position_.sampled_edges += ran.edges;
    return ran.steps;
  }

  Status NotANumber(const StepsOnDevice& ran) {
    const Result<TrainingProgress> progress = engine_->Progress();
    return gnn::NotANumber(ran.failure == StepsOnDevice::Failure::kLoss ? "loss" : "gradient norm", ran.value,
                           position_, progress.ok() ? progress->learning_rate : kNaN, run_);
  }

  // Validates after the epoch just trained, if validation is due. Returns true if it was stopped on the way.
  Result<bool> Validate(const TrainEvents& events, EpochReport& report) {
    ReportNoValidation(report);
    if (!ValidationIsDue(position_, options_)) return false;
    const Stopwatch watch;
    const TargetView targets = graph_->targets();
    std::vector<int32_t> classes;
    std::vector<float> outputs;
    const EvaluationPart part_of_rank{ranks_.rank(), ranks_.size()};
    HONE_ASSIGN_OR_RETURN(const EpochOnDevice evaluated,
                          targets.num_rows > 0 ? engine_->Evaluate(valid_, nullptr, part_of_rank, &outputs)
                                               : engine_->Evaluate(valid_, &classes, part_of_rank));
    if (events.step) {
      events.step(
          {.epoch = position_.epoch, .step = evaluated.steps - 1, .steps = evaluated.steps, .validating = true});
    }
    // Counts this rank's batches, over the nodes in the split's order. The sums are integers, so their order does not
    // matter.
    const auto [first, end] =
        part_of_rank.Of((static_cast<int64_t>(valid_.size()) + options_.eval_batch - 1) / options_.eval_batch);
    if (targets.num_rows > 0) {
      TargetCounts counts(targets, options_.target_scales);
      const auto end_place = std::min(end * options_.eval_batch, static_cast<int64_t>(valid_.size()));
      for (int64_t place = first * options_.eval_batch; place < end_place; ++place) {
        counts.Add(targets.Row(valid_[static_cast<size_t>(place)]), outputs.data() + place * targets.width);
      }
      const Result<bool> stopped = SumOverRanks(ranks_, events.stop && events.stop(), counts);
      HONE_RETURN_IF_ERROR(NoteLostRank(stopped.status()));
      if (*stopped) return true;
      if (ranks_.size() > 1) counts.scores.clear();  // of this rank alone
      ReportValidation(options_, position_, ScoresOf(std::move(counts)), report);
      report.times.evaluate = watch.Seconds();
      return false;
    }
    ClassCounts counts(graph_->num_classes());
    for (const NodeId v : graph_->valid_nodes()) {
      const auto place = std::lower_bound(valid_.begin(), valid_.end(), v) - valid_.begin();
      const int32_t label = graph_->labels()[static_cast<size_t>(v)];
      if (label == kNoLabel || place < first * options_.eval_batch || place >= end * options_.eval_batch) continue;
      counts.Add(label, classes[static_cast<size_t>(place)]);
    }
    const Result<bool> stopped = SumOverRanks(ranks_, events.stop && events.stop(), counts);
    HONE_RETURN_IF_ERROR(NoteLostRank(stopped.status()));
    if (*stopped) return true;
    ReportValidation(options_, position_, counts, kNaN, report);
    report.times.evaluate = watch.Seconds();
    return false;
  }

  // Moves position_ and the device to the next epoch.
  Status BeginNextEpoch(const EpochReport& report, TrainingProgress progress) {
    FinishEpoch(options_, report, position_);
    progress.learning_rate =
        RateOfEpoch(options_, position_, !std::isnan(MetricOf(options_, report)), progress.learning_rate);
    progress.loss_sum = progress.weight_sum = 0;
    progress.labelled = progress.correct = 0;
    TakeProgress(progress);
    return engine_->SetProgress(progress);
  }

  const std::shared_ptr<const Graph> graph_;
  const TrainOptions options_;
  const RunOptions run_;
  const GpuTrainerOptions gpu_;
  RunPosition position_;
  std::string fingerprint_;  // of an outline: known once the engine has generated the graph
  const std::unique_ptr<Model<float>> model_;
  Adam<float> optimizer_;  // holds moments for checkpoints only; the engine updates its own
  const std::unique_ptr<Communicator> solo_;
  Communicator& ranks_;
  bool rank_lost_ = false;
  bool lost_in_steps_ = false;  // a rank was lost while the device was at work
  std::unique_ptr<GpuEngine> engine_;
  std::unique_ptr<HostFeed> feed_;  // used with host_batches; may read what the engine owns
  std::vector<NodeId> valid_;
};

}  // namespace

Status CheckForGpu(const TrainOptions& options, const RunOptions& run, const GpuTrainerOptions& gpu) {
  const auto refuse = [](const std::string& what) {
    return Status::InvalidArgument(what + ": the GPU engine cannot do this yet; train on the CPU");
  };
  HONE_RETURN_IF_ERROR(CheckShards(options.shards, run));
  HONE_RETURN_IF_ERROR(CheckMetric(options.metric, run));
  if (options.frontier != FrontierRule::kAllSoFar) return refuse("the frontier rule is new");
  if (options.metric == Metric::kRocAuc && options.loss != Loss::kBinaryCrossEntropy)
    return refuse("--metric auc needs logits of the validation");
  constexpr int64_t kMostSeeds = 1 << 20;
  if (options.batch > kMostSeeds || options.eval_batch > kMostSeeds) {
    return Status::InvalidArgument(fmt::format("--batch is {} and --eval-batch {}; the GPU engine takes up to {}",
                                               options.batch, options.eval_batch, kMostSeeds));
  }
  if (gpu.ahead < 1 || gpu.ahead > 512) {
    return Status::InvalidArgument(fmt::format("{} steps ahead: use 1 to 512", gpu.ahead));
  }
  return Status::Ok();
}

Result<std::unique_ptr<Trainer>> MakeGpuTrainer(std::shared_ptr<const Graph> graph, const ModelOptions& model,
                                                const TrainOptions& train_options, const RunOptions& run,
                                                const GpuTrainerOptions& gpu, const std::string& init) {
  ModelOptions sized = model;
  sized.in_width = graph->features().width;
  sized.num_classes = graph->num_classes();
  sized.edge_width = EdgeWidthFor(sized.spec.get(), *graph);
  HONE_RETURN_IF_ERROR(ValidateTrainOptions(train_options, sized, *graph));
  const TrainOptions options = CompleteForGraph(train_options, *graph);
  HONE_RETURN_IF_ERROR(CheckForGpu(options, run, gpu));
  HONE_RETURN_IF_ERROR(CheckDeviceRanks(run, gpu));
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<Model<float>> new_model, MakeModel(sized));
  if (!init.empty()) {
    HONE_ASSIGN_OR_RETURN(const TensorFile file, ReadFromRank0(init, run));
    HONE_RETURN_IF_ERROR(LoadParameters(file, fmt::format("'{}'", init), *new_model));
  }
  const CheckpointHeader header{sized,
                                options,
                                IsOutline(*graph) ? "" : GraphFingerprint(*graph),
                                {},
                                RateOfEpoch(options, {}, /*validated=*/false, options.learning_rate),
                                0};
  auto trainer = std::make_unique<GpuTrainer>(WithTrainingTargets(std::move(graph), options), header, run, gpu,
                                              std::move(new_model));
  HONE_RETURN_IF_ERROR(trainer->Make(nullptr, "", header));
  return std::unique_ptr<Trainer>(std::move(trainer));
}

Result<std::unique_ptr<Trainer>> ResumeGpuTrainer(std::shared_ptr<const Graph> graph, const std::string& checkpoint,
                                                  const RunOptions& run, const GpuTrainerOptions& gpu, int epochs,
                                                  double learning_rate) {
  const std::string path = CheckpointFile(checkpoint);
  const std::string quoted_path = fmt::format("'{}'", path);
  HONE_ASSIGN_OR_RETURN(const TensorFile file, ReadFromRank0(path, run));
  HONE_ASSIGN_OR_RETURN(CheckpointHeader header, ReadCheckpointHeader(file, quoted_path));
  if (!IsOutline(*graph)) HONE_RETURN_IF_ERROR(CheckFingerprint(header, quoted_path, *graph, GraphFingerprint(*graph)));
  ChangeOnResume(epochs, learning_rate, header);
  HONE_RETURN_IF_ERROR(ValidateTrainOptions(header.train, header.model, *graph).WithContext(quoted_path));
  HONE_RETURN_IF_ERROR(CheckForGpu(header.train, run, gpu).WithContext(quoted_path));
  HONE_RETURN_IF_ERROR(CheckDeviceRanks(run, gpu));
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<Model<float>> model, MakeModel(header.model));
  auto trainer = std::make_unique<GpuTrainer>(WithTrainingTargets(std::move(graph), header.train), header, run, gpu,
                                              std::move(model));
  HONE_RETURN_IF_ERROR(trainer->Make(&file, quoted_path, header));
  return std::unique_ptr<Trainer>(std::move(trainer));
}

HeldOnDevice HeldBy(const Trainer& trainer) {
  const auto* const mine = dynamic_cast<const GpuTrainer*>(&trainer);
  HONE_CHECK(mine != nullptr, "this trainer is not of MakeGpuTrainer or ResumeGpuTrainer");
  return mine->held();
}

}  // namespace hone::gnn::cuda
