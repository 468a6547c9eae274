// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements the training loop. RunEpoch shows an epoch on one page. Batches arrive prepared and in order; each is one
// shard of a step. A step is forward, loss and backward of its shards, then one update. The epoch ends with a
// validation.
//
// Several ranks run the same loop, each with its part of the shards. Sums, and the decision whether to stop, go through
// the communicator; each rank computes everything that follows from them by itself, with the same result.
#include "hone/gnn/trainer.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <utility>

#include "base/clock.h"
#include "gnn/dist/shard_sum.h"
#include "gnn/graph/parallel.h"
#include "gnn/ops/buffer.h"
#include "gnn/ops/convert_rows.h"
#include "gnn/ops/softmax_loss.h"
#include "gnn/ops/target_loss.h"
#include "gnn/sample/index_permutation.h"
#include "gnn/spec/own_operations.h"
#include "gnn/train/checkpoint.h"
#include "gnn/train/shard_statistics.h"
#include "gnn/train/standard_targets.h"
#include "gnn/train/train_options.h"
#include "gnn/train/validation.h"
#include "hone/gnn/batch_pipeline.h"
#include "hone/gnn/communicator.h"
#include "hone/gnn/predictor.h"

namespace hone::gnn {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
// Limit on the memory of batches that wait, in bytes: the engine promises to train within the graph's memory plus 1
// GiB.
constexpr int64_t kPreparedBytes = int64_t{256} << 20;

// Indices of a step's totals over its shards, besides the gradients. The running statistics follow at kTotals.
enum Total : size_t { kLoss, kWeight, kLabelled, kCorrect, kNodes, kEdges, kStop, kTotals };

class CpuTrainer final : public Trainer {
 public:
  CpuTrainer(std::shared_ptr<const Graph> graph, CheckpointHeader header, const RunOptions& run,
             std::unique_ptr<Model<float>> model)
      : graph_(std::move(graph)),
        options_(header.train),
        run_(run),
        solo_(run.communicator == nullptr ? MakeSoloCommunicator() : nullptr),
        ranks_(run.communicator == nullptr ? *solo_ : *run.communicator),
        threads_(ThreadCount(run.threads)),
        position_(header.position),
        fingerprint_(std::move(header.graph_fingerprint)),
        model_(std::move(model)),
        optimizer_(model_->parameters(), {.learning_rate = header.learning_rate,
                                          .weight_decay = options_.weight_decay,
                                          .clip_norm = options_.clip_norm}),
        statistics_(model_->parameters()),
        state_(model_->MakeState()) {
    if (options_.shards == 1) return;
    size_t gradients = 0;
    for (const Parameter<float>* parameter : model_->parameters()) gradients += parameter->gradient.size();
    sum_ = std::make_unique<ShardSum>(ranks_, options_.shards, gradients, kTotals + statistics_.size());
  }

  // Makes the pipeline that prepares this rank's batches.
  Status MakePipeline() {
    BatchPipelineOptions options;
    options.sampler = {options_.fanouts, options_.frontier};
    options.sampler.edges = ReadsEdgeFeatures(model_->options());
    options.batch = options_.batch;
    options.shards = options_.shards;
    options.local_shards = options_.shards / ranks_.size();
    options.first_shard = ranks_.rank() * options.local_shards;
    options.seed = options_.seed;
    options.workers = run_.workers > 0 ? run_.workers : threads_;
    options.queue = run_.queue;
    options.buffer_bytes = kPreparedBytes;
    HONE_ASSIGN_OR_RETURN(pipeline_, BatchPipeline::Make(graph_, options));
    return Status::Ok();
  }

  // Restores the state of the run that wrote the checkpoint.
  Status Restore(const TensorFile& file, std::string_view what, const CheckpointHeader& header) {
    HONE_RETURN_IF_ERROR(RestoreCheckpoint(file, what, header, *model_, optimizer_));
    return CheckStep(position_, what, steps_per_epoch());
  }

  Model<float>& model() override { return *model_; }
  const TrainOptions& options() const override { return options_; }
  int64_t steps_per_epoch() const override {
    return pipeline_->StepsPerEpoch(static_cast<int64_t>(graph_->train_nodes().size()));
  }
  int next_epoch() const override { return position_.epoch; }
  int64_t next_step() const override { return position_.step; }

  Status Save(const std::string& path) override {
    const CheckpointHeader header{model_->options(),          options_,          fingerprint_, position_,
                                  optimizer_.learning_rate(), optimizer_.steps()};
    return WriteTensorFile(path, MakeCheckpoint(header, *model_, optimizer_)).WithContext("saving the checkpoint");
  }

  Result<TrainResult> Run(const TrainEvents& events) override {
    if (saves()) RemoveLeftovers(run_.checkpoint);
    // Saves before the first step, so that an unwritable folder is reported now and not an epoch later.
    HONE_RETURN_IF_ERROR(SaveLast());
    bool stopped = false;
    while (position_.epoch < options_.epochs && !position_.ended_early && !stopped) {
      Result<bool> epoch = RunEpoch(events);
      if (rank_lost_) {
        return saves() ? SavedAfterLoss(epoch.status(), SaveLast(), position_, run_) : epoch.status();
      }
      HONE_ASSIGN_OR_RETURN(stopped, std::move(epoch));
    }
    pipeline_->Cancel();  // discards an epoch that was begun before the run ended early
    started_epoch_ = -1;
    if (stopped) HONE_RETURN_IF_ERROR(SaveLast());
    return ResultOf(position_, stopped, run_);
  }

 private:
  bool saves() const { return !run_.checkpoint.empty() && ranks_.rank() == 0; }
  Status SaveLast() { return saves() ? Save(LastCheckpoint(run_.checkpoint)) : Status::Ok(); }

  // Records whether a communicator operation failed, which means that a rank was lost. Model and position are then as
  // after the last completed step.
  Status NoteLostRank(const Status& status) {
    rank_lost_ = rank_lost_ || !status.ok();
    return status;
  }

  // Returns whether any rank was asked to stop.
  Result<bool> AnyRankStops(const TrainEvents& events) {
    double ranks_that_stop = events.stop && events.stop() ? 1 : 0;
    HONE_RETURN_IF_ERROR(NoteLostRank(ranks_.AllReduceSum("the wish to stop", std::span(&ranks_that_stop, 1))));
    return ranks_that_stop > 0;
  }

  // Starts preparing an epoch's batches, unless that was done before.
  Status StartEpoch(int epoch) {
    if (epoch <= started_epoch_ || epoch >= options_.epochs) return Status::Ok();
    started_epoch_ = epoch;
    return pipeline_->Start({.seeds = graph_->train_nodes(),
                             .epoch = static_cast<uint32_t>(epoch),
                             .first_step = epoch == position_.epoch ? position_.step : 0});
  }

  // Trains one epoch, or the rest of it. Returns true if it was stopped before the end.
  Result<bool> RunEpoch(const TrainEvents& events) {
    const Stopwatch wall;
    const double cpu_before = ProcessSeconds();
    const int64_t steps = steps_per_epoch();
    EpochReport report;
    report.epoch = position_.epoch;
    report.steps = steps;
    pipeline_->TakeTimes();
    HONE_RETURN_IF_ERROR(StartEpoch(position_.epoch));  // does nothing if the previous epoch's loop has started it
    while (position_.step < steps) {
      HONE_ASSIGN_OR_RETURN(const StepEnd end, RunStep(events, report.times));
      // After an epoch's first batch, the workers may also prepare the next epoch's, so that they need not wait between
      // epochs.
      HONE_RETURN_IF_ERROR(StartEpoch(position_.epoch + 1));
      if (events.step) {
        events.step({.epoch = position_.epoch, .step = position_.step - 1, .steps = steps, .loss = end.loss});
      }
      if (run_.save_every > 0 && position_.step % run_.save_every == 0 && position_.step < steps) {
        HONE_RETURN_IF_ERROR(SaveLast());
      }
      if (end.stop) return true;
    }
    HONE_ASSIGN_OR_RETURN(const BatchLease end, pipeline_->Next());
    HONE_CHECK(!end, "a batch after the last step of an epoch");
    const PipelineTimes prepared = pipeline_->TakeTimes();
    report.times.sample = prepared.sample_seconds;
    report.times.slice = prepared.slice_seconds;
    report.times.transfer = prepared.transfer_seconds;
    report.times.exposed = prepared.wait_seconds;
    report.times.cpu = ProcessSeconds() - cpu_before;
    report.times.train = wall.Seconds();
    ReportSums(position_, report);
    if (graph_->targets().kind == TargetKind::kValues) report.train_accuracy = kNaN;

    HONE_ASSIGN_OR_RETURN(const bool stopped, Validate(events, report));
    if (stopped) return true;
    report.learning_rate = optimizer_.learning_rate();
    FinishEpoch(options_, report, position_);
    const bool validated = !std::isnan(MetricOf(options_, report));
    optimizer_.set_learning_rate(RateOfEpoch(options_, position_, validated, report.learning_rate));
    if (report.best && saves()) HONE_RETURN_IF_ERROR(Save(BestCheckpoint(run_.checkpoint)));
    HONE_RETURN_IF_ERROR(SaveLast());
    report.times.wall = wall.Seconds();
    if (events.epoch) events.epoch(report);
    HONE_ASSIGN_OR_RETURN(const bool stop_requested, AnyRankStops(events));
    return stop_requested && position_.epoch < options_.epochs;
  }

  struct StepEnd {
    double loss = 0;  // of the step, over all shards and ranks
    bool stop = false;  // true: some rank was asked to stop
  };

  // Runs one step: forward, loss and backward of every shard of this rank, the sum over all ranks, then the update.
  // With several shards each shard's gradient begins at zero, so that the sum has the same terms wherever the shards
  // run.
  Result<StepEnd> RunStep(const TrainEvents& events, EpochTimes& times) {
    const int shards = options_.shards / ranks_.size();
    const double normalizer = sum_ ? StepWeight() : 0;
    std::vector<double> own_totals(sum_ ? size_t{0} : size_t{kTotals});
    if (sum_) {
      statistics_.BeginStep();
      sum_->Begin();
    }
    for (int shard = 0; shard < shards; ++shard) {
      HONE_ASSIGN_OR_RETURN(const BatchLease batch, pipeline_->Next());
      HONE_CHECK(batch, "an epoch ended before its last step");
      const Stopwatch compute;
      optimizer_.ZeroGradients(threads_);
      const LossSums sums = RunShard(*batch, normalizer);
      const std::span<double> totals = sum_ ? sum_->doubles() : std::span(own_totals);
      totals[kLoss] = sums.loss;
      totals[kWeight] = sums.weight;
      totals[kLabelled] = static_cast<double>(sums.labelled);
      totals[kCorrect] = static_cast<double>(sums.correct);
      totals[kNodes] = batch->sample.num_nodes();
      totals[kEdges] = 0.0;
      for (const NeighborSample::Rows& rows : batch->sample.rows) {
        totals[kEdges] += static_cast<double>(rows.columns.size());
      }
      totals[kStop] = shard + 1 == shards && events.stop && events.stop() ? 1.0 : 0.0;
      if (sum_) {
        statistics_.EndShard(totals.subspan(kTotals));
        CopyGradients(sum_->floats(), /*into_model=*/false);
        sum_->EndShard();
      }
      times.compute += compute.Seconds();
    }
    if (sum_) HONE_RETURN_IF_ERROR(NoteLostRank(sum_->Finish()));
    const Stopwatch update;
    const std::span<const double> totals = sum_ ? sum_->doubles() : std::span(own_totals);
    if (sum_) {
      CopyGradients(sum_->floats(), /*into_model=*/true);
      statistics_.EndStep(totals.subspan(kTotals), options_.shards);
    }
    const double loss = totals[kWeight] > 0 ? totals[kLoss] / totals[kWeight] : 0;
    const double rate = optimizer_.learning_rate();
    if (!std::isfinite(loss)) return NotANumber("loss", loss, position_, rate, run_);
    // The loss alone would not show a NaN: an activation may turn it into a zero, while the gradients of its weights
    // keep it.
    const double norm = GradientNorm<float>(model_->parameters(), threads_);
    if (!std::isfinite(norm)) return NotANumber("gradient norm", norm, position_, rate, run_);
    optimizer_.Step(threads_);
    if (options_.plateau && totals[kWeight] > 0) {
      optimizer_.set_learning_rate(PlateauStep(
          {.factor = options_.plateau_factor, .patience = options_.plateau_patience}, position_.plateau, loss, rate));
    }
    position_.loss_sum += totals[kLoss];
    position_.weight_sum += totals[kWeight];
    position_.labelled += static_cast<int64_t>(totals[kLabelled]);
    position_.correct += static_cast<int64_t>(totals[kCorrect]);
    position_.sampled_nodes += static_cast<int64_t>(totals[kNodes]);
    position_.sampled_edges += static_cast<int64_t>(totals[kEdges]);
    ++position_.step;
    times.compute += update.Seconds();
    return StepEnd{loss, totals[kStop] > 0};
  }

  // Copies all gradients, one after the other, from the model to `flat`, or from `flat` into the model.
  void CopyGradients(std::span<float> flat, bool into_model) {
    size_t at = 0;
    for (Parameter<float>* parameter : model_->parameters()) {
      const std::span<float> gradient(parameter->gradient);
      const std::span<float> part = flat.subspan(at, gradient.size());
      const std::span<float> from = into_model ? part : gradient, to = into_model ? gradient : part;
      std::copy(from.begin(), from.end(), to.begin());
      at += gradient.size();
    }
  }

  // Runs forward, loss and backward of one shard; adds to the model's gradients.
  LossSums RunShard(const MiniBatch& batch, double normalizer) {
    const CsrView structure = graph_->structure();
    const FeatureView edge_features = graph_->edge_features();
    const LayerContext context{.key = batch.key,
                               .training = true,
                               .nodes = batch.sample.nodes,
                               .graph = &structure,
                               .edge_features = &edge_features,
                               .threads = threads_};
    const Matrix<float> x = inputs_.Resize(batch.sample.num_nodes(), batch.features.width);
    ConvertRows(batch.features, x, threads_);
    const Matrix<float> logits = logits_.Resize(batch.sample.num_seeds(), graph_->num_classes());
    model_->Forward(batch.sample, x, logits, *state_, context);
    const TargetView targets = graph_->targets();
    const LossSums sums =
        targets.num_rows > 0
            ? TargetLoss<float>(logits, targets, std::span(batch.sample.nodes).first(batch.labels.size()),
                                options_.loss, options_.pos_weight, normalizer, logits, threads_)
            : SoftmaxCrossEntropy<float>(logits, batch.labels, options_.class_weights, normalizer, logits, threads_);
    model_->Backward(batch.sample, x, logits, *state_, context);
    return sums;
  }

  // Returns the number of labels (or the sum of their weights) of the whole step, by which every shard's gradient is
  // divided.
  double StepWeight() const {
    const std::span<const NodeId> seeds = graph_->train_nodes();
    const auto count = static_cast<int64_t>(seeds.size());
    const int64_t begin = position_.step * options_.batch * options_.shards;
    const int64_t end = std::min(count, begin + options_.batch * options_.shards);
    const IndexPermutation order(options_.seed, static_cast<uint32_t>(position_.epoch), count);
    double weight = 0;
    for (int64_t i = begin; i < end; ++i) {
      const int32_t label = graph_->labels()[static_cast<size_t>(seeds[static_cast<size_t>(order(i))])];
      if (label == kNoLabel) continue;
      weight += options_.class_weights.empty() ? 1.0 : options_.class_weights[static_cast<size_t>(label)];
    }
    return weight;
  }

  // Validates the epoch just trained, if that is due. Returns true if it was stopped before the end.
  Result<bool> Validate(const TrainEvents& events, EpochReport& report) {
    ReportNoValidation(report);
    if (!ValidationIsDue(position_, options_)) return false;
    const Stopwatch watch;
    const auto progress = [&](int64_t done, int64_t total) {
      if (!events.step) return;
      events.step({.epoch = position_.epoch, .step = done - 1, .steps = total, .validating = true});
    };
    HONE_ASSIGN_OR_RETURN(ValidationCounts counts, CountCorrect(graph_, *model_,
                                                              {.fanouts = options_.eval_fanouts,
                                                               .frontier = options_.frontier,
                                                               .batch = options_.eval_batch,
                                                               .seed = options_.seed,
                                                               .threads = threads_,
                                                               .workers = run_.workers > 0 ? run_.workers : threads_,
                                                               .rank = ranks_.rank(),
                                                               .ranks = ranks_.size(),
                                                               .target_scales = options_.target_scales,
                                                               .stop = events.stop,
                                                               .progress = progress}));
    const bool targets = graph_->targets().num_rows > 0;
    const Result<bool> stopped = targets ? SumOverRanks(ranks_, counts.stopped, counts.targets)
                                         : SumOverRanks(ranks_, counts.stopped, counts.classes);
    HONE_RETURN_IF_ERROR(NoteLostRank(stopped.status()));
    if (*stopped) return true;
    report.times.evaluate = watch.Seconds();
    if (targets) {
      if (ranks_.size() > 1) counts.targets.scores.clear();  // of this rank alone
      ReportValidation(options_, position_, ScoresOf(std::move(counts.targets)), report);
      return false;
    }
    // AUC needs an order of the scores of all nodes, which no sum over ranks gives.
    const double auc = ranks_.size() == 1 ? RocAuc(std::move(counts.scores)) : kNaN;
    ReportValidation(options_, position_, counts.classes, auc, report);
    report.times.evaluate = watch.Seconds();
    return false;
  }

  const std::shared_ptr<const Graph> graph_;
  const TrainOptions options_;
  const RunOptions run_;
  const std::unique_ptr<Communicator> solo_;  // used if the run has no communicator
  Communicator& ranks_;
  bool rank_lost_ = false;
  const int threads_;
  RunPosition position_;
  const std::string fingerprint_;
  const std::unique_ptr<Model<float>> model_;
  Adam<float> optimizer_;
  ShardStatistics statistics_;
  std::unique_ptr<ShardSum> sum_;  // used if a step has several shards
  const std::unique_ptr<Model<float>::State> state_;
  std::unique_ptr<BatchPipeline> pipeline_;
  int started_epoch_ = -1;  // last epoch that the pipeline was given; -1: none
  Buffer<float> inputs_, logits_;
};

}  // namespace

Result<std::unique_ptr<Trainer>> MakeTrainer(std::shared_ptr<const Graph> graph, const ModelOptions& model,
                                             const TrainOptions& given_options, const RunOptions& run,
                                             const std::string& init) {
  ModelOptions model_for_graph = model;
  model_for_graph.in_width = graph->features().width;
  model_for_graph.num_classes = graph->num_classes();
  model_for_graph.edge_width = EdgeWidthFor(model_for_graph.spec.get(), *graph);
  HONE_RETURN_IF_ERROR(ValidateTrainOptions(given_options, model_for_graph, *graph));
  const TrainOptions options = CompleteForGraph(given_options, *graph);
  HONE_RETURN_IF_ERROR(CheckShards(options.shards, run));
  HONE_RETURN_IF_ERROR(CheckMetric(options.metric, run));
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<Model<float>> new_model, MakeModel(model_for_graph));
  if (!init.empty()) {
    HONE_ASSIGN_OR_RETURN(const TensorFile file, ReadFromRank0(init, run));
    HONE_RETURN_IF_ERROR(LoadParameters(file, fmt::format("'{}'", init), *new_model));
  }
  CheckpointHeader header{model_for_graph,
                          options,
                          GraphFingerprint(*graph),
                          {},
                          RateOfEpoch(options, {}, /*validated=*/false, options.learning_rate),
                          0};
  auto trainer = std::make_unique<CpuTrainer>(WithTrainingTargets(std::move(graph), options), std::move(header), run,
                                              std::move(new_model));
  HONE_RETURN_IF_ERROR(trainer->MakePipeline());
  return std::unique_ptr<Trainer>(std::move(trainer));
}

Result<std::unique_ptr<Trainer>> ResumeTrainer(std::shared_ptr<const Graph> graph, const std::string& checkpoint,
                                               const RunOptions& run, int epochs, double learning_rate) {
  const std::string path = CheckpointFile(checkpoint);
  const std::string what = fmt::format("'{}'", path);
  HONE_ASSIGN_OR_RETURN(const TensorFile file, ReadFromRank0(path, run));
  HONE_ASSIGN_OR_RETURN(CheckpointHeader header, ReadCheckpointHeader(file, what));
  HONE_RETURN_IF_ERROR(CheckFingerprint(header, what, *graph, GraphFingerprint(*graph)));
  ChangeOnResume(epochs, learning_rate, header);
  HONE_RETURN_IF_ERROR(ValidateTrainOptions(header.train, header.model, *graph).WithContext(what));
  HONE_RETURN_IF_ERROR(CheckShards(header.train.shards, run).WithContext(what));
  HONE_RETURN_IF_ERROR(CheckMetric(header.train.metric, run).WithContext(what));
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<Model<float>> new_model, MakeModel(header.model));
  auto trainer = std::make_unique<CpuTrainer>(WithTrainingTargets(std::move(graph), header.train), header, run,
                                              std::move(new_model));
  HONE_RETURN_IF_ERROR(trainer->MakePipeline());
  HONE_RETURN_IF_ERROR(trainer->Restore(file, what, header));
  return std::unique_ptr<Trainer>(std::move(trainer));
}

}  // namespace hone::gnn
