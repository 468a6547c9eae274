// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements gpu_engine.h: checks of options, what the engine owns, and which pass does what.
#include "gnn/cuda/engine/gpu_engine.h"

#include <fmt/format.h>

#include <algorithm>

#include "gnn/cuda/base/cuda_support.h"
#include "gnn/cuda/engine/feed.h"
#include "gnn/cuda/engine/pass.h"
#include "gnn/cuda/features/cache_ranking.h"
#include "gnn/cuda/features/device_ranking.h"
#include "gnn/cuda/graph/device_graph.h"
#include "gnn/cuda/kernels/matmul.h"
#include "gnn/cuda/lower/plan_model.h"
#include "gnn/cuda/sample/all_neighbors.h"
#include "gnn/dist/gradient_exchange.h"
#include "hone/gnn/communicator.h"
#include "hone/gnn/neighbor_sampler.h"

namespace hone::gnn::cuda {
namespace {

Status CheckOptions(const Graph& graph, const ModelOptions& shape, const GpuEngineOptions& options) {
  if (static_cast<int>(options.fanouts.size()) != shape.layers ||
      static_cast<int>(options.eval_fanouts.size()) != shape.layers || shape.layers > kMaxHopsOnDevice) {
    return Status::InvalidArgument(
        fmt::format("a model of {} layers needs as many fanouts for training ({}) and evaluation ({}), at most {}",
                    shape.layers, options.fanouts.size(), options.eval_fanouts.size(), kMaxHopsOnDevice));
  }
  for (const auto& fanouts : {options.fanouts, options.eval_fanouts}) {
    for (const int32_t fanout : fanouts) {
      if (fanout != kAllNeighbors && (fanout < 1 || fanout > kMaxFanout)) {
        return Status::InvalidArgument(fmt::format("fanout {}: the GPU engine takes 1 to {}, or {} for all neighbors",
                                                   fanout, kMaxFanout, kAllNeighbors));
      }
    }
  }
  if (graph.features().num_rows == 0 || graph.labels().empty() || (options.trains && graph.train_nodes().empty())) {
    return Status::InvalidArgument("'" + graph.name() + "' lacks features, labels or training nodes");
  }
  if (shape.in_width != graph.features().width || shape.num_classes < graph.num_classes()) {
    return Status::InvalidArgument(
        fmt::format("a model of {} features and {} classes does not fit '{}', which has {} and {}", shape.in_width,
                    shape.num_classes, graph.name(), graph.features().width, graph.num_classes()));
  }
  if (ReadsEdgeFeatures(shape) && shape.edge_width != graph.edge_features().width) {
    return Status::InvalidArgument(fmt::format("a model of {} features an edge does not fit '{}', which has {}",
                                               shape.edge_width, graph.name(), graph.edge_features().width));
  }
  const TargetView targets = graph.targets();
  if (targets.num_rows > 0 && (shape.num_classes != targets.width || !options.class_weights.empty())) {
    return Status::InvalidArgument(
        fmt::format("'{}' has {} labels or values a node; the model has {} outputs, and "
                    "class weights are for classes",
                    graph.name(), targets.width, shape.num_classes));
  }
  if (!options.pos_weight.empty() && static_cast<int64_t>(options.pos_weight.size()) != targets.width) {
    return Status::InvalidArgument(fmt::format("{} weights of labels that are true for {} labels a node of '{}'",
                                               options.pos_weight.size(), targets.width, graph.name()));
  }
  const int ranks = options.ranks == nullptr ? 1 : options.ranks->size();
  if ((options.ranks == nullptr) != (options.exchange == nullptr) ||
      (options.ranks != nullptr && options.exchange->size() != ranks)) {
    return Status::InvalidArgument(fmt::format("{} ranks need a communicator of their GPUs", ranks));
  }
  if (options.shards < 1 || options.shards > 65536 || options.shards % ranks != 0) {
    return Status::InvalidArgument(
        fmt::format("{} shards a step: use 1 to 65536, a multiple of the {} ranks", options.shards, ranks));
  }
  if (!options.class_weights.empty() && static_cast<int64_t>(options.class_weights.size()) != shape.num_classes) {
    return Status::InvalidArgument(
        fmt::format("{} class weights for {} classes", options.class_weights.size(), shape.num_classes));
  }
  for (const auto& [value, choice] : options.choices.aggregates) {
    if (HasInstances(choice)) continue;
    return Status::InvalidArgument(fmt::format(
        "the kernels that are chosen for value '{}' are not in this program: take 32, 16 or 8 lanes, 8 or 4 "
        "rows ahead and 256, 128 or 64 threads",
        value));
  }
  if (options.batch < 1 || options.eval_batch < 1) return Status::InvalidArgument("a batch has at least one node");
  if (!options.trains) return Status::Ok();
  for (const NodeId node : graph.train_nodes()) {
    if (graph.labels()[static_cast<size_t>(node)] == kNoLabel) {
      return Status::InvalidArgument(
          fmt::format("training node {} of '{}' has no label: leave it out of the split", node, graph.name()));
    }
  }
  return Status::Ok();
}

TargetLossKind LossOnDevice(Loss loss, TargetKind kind) {
  if (kind == TargetKind::kMultiLabel) return TargetLossKind::kBinaryCrossEntropy;
  return loss == Loss::kAbsolute ? TargetLossKind::kAbsolute
         : loss == Loss::kHuber  ? TargetLossKind::kHuber
                                 : TargetLossKind::kSquared;
}

class Engine final : public GpuEngine {
 public:
  Status Make(const Graph& graph, Model<float>& model, const GpuEngineOptions& options) {
    options_ = options;
    classes_ = static_cast<int32_t>(model.options().num_classes);
    HONE_RETURN_IF_ERROR(CheckOptions(graph, model.options(), options));
    target_width_ = static_cast<int32_t>(graph.targets().width);
    if (target_width_ > 0) target_loss_ = LossOnDevice(options.loss, graph.targets().kind);
    if (AsksForAll(options.fanouts) || AsksForAll(options.eval_fanouts)) {
      if (IsOutline(graph)) {
        HONE_ASSIGN_OR_RETURN(largest_degree_, LargestDegreeOf(graph.name()));
      } else {
        largest_degree_ = LargestDegree(graph.structure());
      }
      TakeAllNeighbors(options);
    }
    HONE_ASSIGN_OR_RETURN(plan_, PlanModel(model.options()));
    HONE_ASSIGN_OR_RETURN(feed_needs_, FeedNeedsOf(model.options()));
    size_t free_before = 0, total = 0, free_after = 0;
    HONE_CUDA_RETURN_IF_ERROR(cudaMemGetInfo(&free_before, &total));
    HONE_ASSIGN_OR_RETURN(matmuls_, OpenMatmulLibrary());
    context_ = {&graph_, &parameters_, matmuls_.get(), options.fp32 ? Element::kFloat32 : Element::kBFloat16,
                options.choices};
    if (options.ranks != nullptr) options_.storage.processes = options.ranks->size();
    options_.storage.ranks = options.ranks;
    if (ReadsEdgeFeatures(model.options())) HONE_RETURN_IF_ERROR(graph_.UploadEdgeFeatures(graph));
    HONE_ASSIGN_OR_RETURN(facts_, UploadForStorage(graph, options_.storage, Shape(), graph_));
    if (largest_degree_ > 0 && IsOutline(graph)) {  // the true degree can be found now that there are edges
      HONE_ASSIGN_OR_RETURN(largest_degree_, LargestDegree(graph_.view()));
      TakeAllNeighbors(options);
    }
    HONE_RETURN_IF_ERROR(parameters_.Make(plan_->Layout(), context_.element));
    HONE_RETURN_IF_ERROR(ImportFrom(model));
    if (options.trains) {
      train_ = std::make_unique<Pass>(context_, *plan_, Options(/*trains=*/true));
      HONE_RETURN_IF_ERROR(train_->Make(graph.train_nodes()));
    }
    HONE_CUDA_RETURN_IF_ERROR(cudaMemGetInfo(&free_after, &total));
    device_bytes_ = static_cast<int64_t>(free_before) - static_cast<int64_t>(free_after);
    return Status::Ok();
  }

  Result<EpochOnDevice> TrainEpoch(uint32_t epoch) override { return train_->RunEpoch(epoch); }
  int64_t steps_per_epoch() const override { return train_->steps(); }
  Result<StepsOnDevice> TrainSteps(uint32_t epoch, uint32_t from, uint32_t until, const StepWatch& watch) override {
    return train_->RunSteps(epoch, from, until, &watch);
  }
  Status SetProgress(const TrainingProgress& progress) override { return train_->SetProgress(progress); }
  Result<TrainingProgress> Progress() override { return train_->Progress(); }
  Result<TrainingProgress> LastGood(Model<float>& model, Adam<float>& optimizer, uint32_t* step) override {
    return train_->LastGood(model, optimizer, step);
  }

  Result<EpochOnDevice> Evaluate(std::span<const NodeId> nodes, std::vector<int32_t>* predictions, EvaluationPart part,
                                 std::vector<float>* outputs) override {
    if (nodes.empty()) return Status::InvalidArgument("no nodes to predict");
    if (eval_ == nullptr || !std::equal(nodes.begin(), nodes.end(), eval_nodes_.begin(), eval_nodes_.end())) {
      auto pass = std::make_unique<Pass>(context_, *plan_, Options(/*trains=*/false));
      HONE_RETURN_IF_ERROR(pass->Make(nodes));
      eval_ = std::move(pass);
      eval_nodes_.assign(nodes.begin(), nodes.end());
    }
    HONE_ASSIGN_OR_RETURN(EpochOnDevice result, eval_->RunEpoch(0, part));
    if (predictions != nullptr) {
      HONE_RETURN_IF_ERROR(eval_->predictions().Download(*predictions));
      predictions->resize(nodes.size());
    }
    if (outputs != nullptr) {
      HONE_RETURN_IF_ERROR(eval_->outputs().Download(*outputs));
      outputs->resize(nodes.size() * static_cast<size_t>(target_width_));
    }
    return result;
  }

  Result<FedEpoch> TrainFedEpoch(uint32_t epoch, HostFeed& feed) override {
    HONE_RETURN_IF_ERROR(feed.FitTo(feed_needs_, graph_.view().num_nodes));
    return train_->RunFed(epoch, feed);
  }
  Result<FedSteps> TrainFedSteps(uint32_t epoch, uint32_t from, uint32_t until, const StepWatch& watch,
                                 HostFeed& feed) override {
    HONE_RETURN_IF_ERROR(feed.FitTo(feed_needs_, graph_.view().num_nodes));
    return train_->RunFedSteps(epoch, from, until, &watch, feed);
  }
  Result<std::shared_ptr<const Graph>> HostGraph(const Graph& graph) override { return graph_.Download(graph); }
  Status SetStorage(const Graph& graph, const FeatureStorage& storage) override {
    HONE_RETURN_IF_ERROR(CheckStorageChange(storage));
    TrainingProgress progress;
    if (train_ != nullptr) {
      HONE_ASSIGN_OR_RETURN(progress, train_->Progress());
    }
    HONE_CUDA_RETURN_IF_ERROR(cudaDeviceSynchronize());
    train_.reset();  // captured graphs point to where the rows were
    eval_.reset();
    HONE_ASSIGN_OR_RETURN(facts_, ChangeStorage(graph, storage, Shape(), graph_));
    options_.storage = storage;
    if (!options_.trains) return Status::Ok();
    train_ = std::make_unique<Pass>(context_, *plan_, Options(/*trains=*/true));
    HONE_RETURN_IF_ERROR(train_->Make(graph.train_nodes()));
    return train_->SetProgress(progress);
  }
  const StorageFacts& storage() const override { return facts_; }
  Result<CacheReads> ReadsOfEpoch(const Graph& graph, uint32_t epoch) override {
    return CountCacheReads(graph_, graph.train_nodes(), Shape(), epoch);
  }

  Status ExportTo(Model<float>& model) override { return parameters_.ExportValues(model.parameters()); }
  Status ImportFrom(Model<float>& model) override { return parameters_.ImportValues(model.parameters()); }
  Status ExportTo(Adam<float>& optimizer) override { return parameters_.ExportMoments(optimizer.moments()); }
  Status ImportFrom(Adam<float>& optimizer) override { return parameters_.ImportMoments(optimizer.moments()); }
  Result<NeighborSample> SampleStep(uint32_t epoch, uint32_t step) override { return train_->SampleStep(epoch, step); }
  Result<double> GradientsOfStep(uint32_t epoch, uint32_t step, Model<float>& into) override {
    HONE_ASSIGN_OR_RETURN(const double loss, train_->OneStep(epoch, step, /*update=*/false));
    HONE_RETURN_IF_ERROR(parameters_.ExportGradients(into.parameters()));
    return loss;
  }
  Result<double> TrainStep(uint32_t epoch, uint32_t step) override {
    return train_->OneStep(epoch, step, /*update=*/true);
  }
  Status SetTableTag(uint32_t tag) override { return train_->SetTableTag(tag); }
  int64_t device_bytes() const override { return device_bytes_; }
  int64_t num_edges() const override { return graph_.num_edges(); }
  Result<std::string> Fingerprint(const Graph& graph) const override {
    return FingerprintThrough(graph, graph_.Reader());
  }

 private:
  // Returns the batches that will read rows, which decide what a cache holds.
  BatchShape Shape() const {
    return {.fanouts = options_.trains ? options_.fanouts : options_.eval_fanouts,
            .batch = options_.trains ? options_.batch : options_.eval_batch,
            .seed = options_.seed,
            .seeds = options_.trains ? std::span<const NodeId>() : options_.predicts};
  }
  void TakeAllNeighbors(const GpuEngineOptions& options) {
    options_.fanouts = WithAllNeighbors(options.fanouts, largest_degree_);
    options_.eval_fanouts = WithAllNeighbors(options.eval_fanouts, largest_degree_);
  }
  PassOptions Options(bool trains) const {
    PassOptions pass;
    pass.fanouts = EnvelopeFanouts(*plan_, trains ? options_.fanouts : options_.eval_fanouts);
    pass.batch = trains ? options_.batch : options_.eval_batch;
    pass.trains = trains;
    pass.seed = options_.seed;
    pass.envelope = options_.envelope;
    pass.classes = classes_;
    pass.target_width = target_width_;
    pass.target_loss = target_loss_;
    pass.adam.weight_decay = static_cast<float>(options_.weight_decay);
    pass.learning_rate = options_.learning_rate;
    if (!trains) return pass;
    pass.shards = options_.shards;
    pass.ranks = options_.ranks;
    pass.exchange = options_.exchange;
    pass.class_weights.assign(options_.class_weights.begin(), options_.class_weights.end());
    pass.pos_weight.assign(options_.pos_weight.begin(), options_.pos_weight.end());
    pass.clip_norm = options_.clip_norm;
    return pass;
  }

  GpuEngineOptions options_;
  FeedNeeds feed_needs_;
  StorageFacts facts_;
  int32_t classes_ = 0;
  int32_t target_width_ = 0;  // 0: the graph has classes
  TargetLossKind target_loss_ = TargetLossKind::kSquared;
  int32_t largest_degree_ = 0;  // used if a fanout is kAllNeighbors
  DeviceGraph graph_;
  DeviceParameters parameters_;
  std::unique_ptr<MatmulLibrary> matmuls_;
  std::unique_ptr<ModelPlan> plan_;
  ProgramContext context_;
  std::unique_ptr<Pass> train_, eval_;
  std::vector<NodeId> eval_nodes_;  // seeds of eval_
  int64_t device_bytes_ = 0;
};

}  // namespace

Result<FeedNeeds> FeedNeedsOf(const ModelOptions& model) {
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<ModelPlan> plan, PlanModel(model));
  return FeedNeeds{.rows_by_id = plan->finds_rows_by_id(), .numbers_outermost = plan->numbers_outermost()};
}

Result<std::unique_ptr<GpuEngine>> MakeGpuEngine(const Graph& graph, Model<float>& model,
                                                 const GpuEngineOptions& options) {
  auto engine = std::make_unique<Engine>();
  HONE_RETURN_IF_ERROR(engine->Make(graph, model, options));
  return std::unique_ptr<GpuEngine>(std::move(engine));
}

}  // namespace hone::gnn::cuda
