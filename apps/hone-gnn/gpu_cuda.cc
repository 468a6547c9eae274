// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// This file implements gpu.h with the GPU engine.
#include <fmt/format.h>

#include <algorithm>

#include "base/clock.h"
#include "base/process/cgroup_limits.h"
#include "gnn/cuda/base/cuda_support.h"
#include "gnn/cuda/base/device_parameters.h"
#include "gnn/cuda/engine/feed.h"
#include "gnn/cuda/engine/gpu_engine.h"
#include "gnn/cuda/engine/gpu_trainer.h"
#include "gnn/cuda/engine/memory_plan.h"
#include "gnn/cuda/engine/paired_epochs.h"
#include "gnn/cuda/graph/host_rows.h"
#include "gnn/cuda/graph/peer_rows.h"
#include "gnn/cuda/infer/exact_inference.h"
#include "gnn/cuda/infer/latency_mode.h"
#include "gnn/cuda/kernels/matmul.h"
#include "gnn/cuda/sample/all_neighbors.h"
#include "gnn/cuda/update/peer_exchange.h"
#include "gnn/dist/nccl_communicator.h"
#include "gnn/graph/synthetic/synthetic_shape.h"
#include "hone-gnn/gpu.h"

namespace hone::gnn {
namespace {

// Copies the sizes that the trainer's engine reports to `gpu`.
void CopySizes(const Trainer& trainer, GpuRun& gpu) {
  const cuda::HeldOnDevice held = cuda::HeldBy(trainer);
  gpu.num_edges = held.num_edges;
  gpu.device_bytes = held.device_bytes;
  gpu.host_bytes = held.host_bytes;
  gpu.host_shared = held.host_shared;
}

// Checks that the host's memory has room for the features. Rows of a synthetic graph need room; those of a container
// may stay where they are.
Status CheckHostHolds(const GraphOutline& graph, const FeatureRequest& requested) {
  int64_t available = AvailableMemoryBytes();
  if (requested.host_gib > 0)
    available = std::min(available, static_cast<int64_t>(requested.host_gib * 1073741824.0 /* bytes of a GiB */));
  if (!IsSyntheticName(graph.name) || available == 0) return Status::Ok();
  const cuda::HostRowsPlan plan =
      cuda::PlanHostRows(graph.num_nodes * graph.feature_stride_bytes, requested.local_ranks, available);
  if (plan.fits) return Status::Ok();
  return Status::ResourceExhausted(
      fmt::format("the features of '{}' in the host's memory need {:.2f} GB of it and an eighth more, and {:.2f} GB "
                  "may be taken; a smaller "
                  "graph, or another place for them (--features device or peers), would do",
                  graph.name, static_cast<double>(plan.needed) * 1e-9, static_cast<double>(available) * 1e-9));
}

// Converts a place of features to the engine's type.
cuda::FeatureStorage ToFeatureStorage(const FeaturePlace& place) {
  cuda::FeatureStorage storage;
  if (place.host) storage.tier = cuda::FeatureTier::kCached;
  if (place.peers) storage.tier = cuda::FeatureTier::kPeers;
  storage.cache_rows = place.cache_rows;
  if (place.presampled) storage.ranking = cuda::CacheRanking::kPresampling;
  return storage;
}

// Returns where the features will lie if the run fits in the GPU's free memory, else the error of PlaceFeaturesOnGpu.
Result<FeaturePlace> PlaceOfFeatures(const GraphOutline& graph, ModelOptions model, cuda::GpuEngineOptions options,
                                     const FeatureRequest& requested) {
  model.in_width = graph.feature_width;
  model.num_classes = graph.num_classes;
  std::string note_on_all;
  if (cuda::AsksForAll(options.fanouts) || cuda::AsksForAll(options.eval_fanouts)) {
    HONE_ASSIGN_OR_RETURN(const int32_t largest_degree, cuda::LargestDegreeOf(graph.name));
    options.fanouts = cuda::WithAllNeighbors(options.fanouts, largest_degree);
    options.eval_fanouts = cuda::WithAllNeighbors(options.eval_fanouts, largest_degree);
    note_on_all =
        fmt::format("; a hop of `all` has room for {} neighbors of every node, as many as any has: a number needs less",
                    largest_degree);
  }
  if (requested.place == "peers" && requested.peers < 2) {
    return Status::InvalidArgument(
        "--features peers: features shared by several GPUs need several ranks, all on one host, one for each GPU "
        "(--gpus N); one rank keeps them itself: --features device or host");
  }
  options.storage.processes = requested.peers;  // so that a refusal names what several GPUs have room for
  model.edge_width = graph.edge_feature_width;
  const int64_t edge_bytes = ReadsEdgeFeatures(model) ? graph.num_edges * graph.edge_feature_stride_bytes : 0;
  const cuda::GraphSize size{
      graph.name,      graph.num_nodes,
      graph.num_edges, graph.feature_stride_bytes,
      edge_bytes,      graph.targets == TargetKind::kClasses ? 0 : 4 * graph.num_nodes * graph.num_classes};
  const auto plan_memory = [&]() -> Result<cuda::MemoryPlan> {
    HONE_ASSIGN_OR_RETURN(cuda::WorkingMemory working, cuda::CountWorkingMemory(model, options, graph.num_nodes));
    if (requested.host_batches) {
      HONE_ASSIGN_OR_RETURN(const cuda::FeedNeeds needs, cuda::FeedNeedsOf(model));
      working.training += cuda::FedBatchBytes(options.fanouts, options.batch, graph.num_nodes,
                                              graph.feature_stride_bytes, needs.numbers_outermost) +
                          (needs.rows_by_id ? 4 * graph.num_nodes : 0);
    }
    size_t free_bytes = 0, total = 0;
    HONE_CUDA_RETURN_IF_ERROR(cudaMemGetInfo(&free_bytes, &total));
    return cuda::PlanMemory(size, working, options.storage, static_cast<int64_t>(free_bytes));
  };
  HONE_ASSIGN_OR_RETURN(cuda::MemoryPlan plan, plan_memory());
  // Tries the places in order: the GPU's memory, the GPUs of all ranks, the host's memory. Only the one asked for is
  // tried, or all if none was.
  const bool automatic = requested.place == "auto";
  if (plan.fits && (automatic || requested.place == "device")) return FeaturePlace{};
  if ((automatic || requested.place == "peers") && plan.most_cache_rows_of_peers >= 0) {
    const FeaturePlace place{
        .peers = true,
        .cache_rows = requested.cache_rows >= 0 ? requested.cache_rows : plan.most_cache_rows_of_peers,
        .presampled = requested.policy == "presampling"};
    options.storage = ToFeatureStorage(place);
    options.storage.processes = requested.peers;
    HONE_ASSIGN_OR_RETURN(plan, plan_memory());
    if (plan.fits) return place;
  }
  if ((automatic || requested.place == "host") && plan.most_cache_rows >= 0) {
    HONE_RETURN_IF_ERROR(CheckHostHolds(graph, requested));
    const FeaturePlace place{.host = true,
                             .cache_rows = requested.cache_rows >= 0 ? requested.cache_rows : plan.most_cache_rows,
                             .presampled = requested.policy == "presampling"};
    options.storage = ToFeatureStorage(place);
    HONE_ASSIGN_OR_RETURN(plan, plan_memory());
    if (plan.fits) return place;
  }
  return Status::ResourceExhausted(plan.refusal + note_on_all + "; or use --device cpu");
}

// Returns the engine's options for prediction. `nodes` are the distinct nodes to predict, or empty if they do not
// matter yet; borrowed.
cuda::GpuEngineOptions EngineOptions(const PredictOptions& options, const GpuRun& gpu, std::span<const NodeId> nodes) {
  return {.fanouts = options.fanouts,
          .eval_fanouts = options.fanouts,
          .eval_batch = static_cast<int32_t>(options.batch),
          .fp32 = gpu.fp32,
          .seed = options.seed,
          .storage = ToFeatureStorage(gpu.features),
          .trains = false,
          .predicts = nodes};
}

// Returns the engine's options for training.
cuda::GpuTrainerOptions TrainerOptions(const GpuRun& gpu) {
  cuda::FeatureStorage storage = ToFeatureStorage(gpu.features);
  storage.host_bytes = gpu.most_host_bytes;
  return {.fp32 = gpu.fp32,
          .storage = storage,
          .host_batches = gpu.host_batches,
          .host_cuts = gpu.host_cuts,
          .exchange = gpu.exchange.get(),
          .choices = gpu.choices};
}

Result<GpuPredictions> PredictExactly(const Graph& graph, Model<float>& model, std::span<const NodeId> nodes,
                                      const GpuQuestion& question, GpuRun& gpu) {
  const FeatureRequest& requested = question.features;
  cuda::ExactOptions options{.fp32 = gpu.fp32,
                             .logits = question.logits,
                             .most_feature_rows = requested.place == "host" ? requested.cache_rows : -1,
                             .all_features = requested.place == "device",
                             .progress = question.options.progress,
                             .stop = question.options.stop};
  if (!question.fingerprint.empty()) {
    options.check_outline = [&](const GraphReader& reader) -> Status {
      HONE_ASSIGN_OR_RETURN(const std::string fingerprint, FingerprintThrough(graph, reader));
      return CheckPredictsOnItsGraph("the model", question.fingerprint, fingerprint, graph);
    };
  }
  HONE_ASSIGN_OR_RETURN(cuda::ExactOnDevice exact, cuda::InferExactly(graph, model, nodes, options));
  gpu.num_edges = exact.num_edges;
  gpu.device_bytes = exact.device_bytes;
  gpu.host_bytes = exact.host_bytes;
  gpu.features = {};
  if (exact.rows_on_device[0] < graph.structure().num_nodes) {
    gpu.features = {.host = true, .cache_rows = exact.rows_on_device[0]};
  }
  GpuPredictions result;
  result.classes = std::move(exact.classes);
  const PredictTimes& times = exact.predictions.times;
  result.seconds = times.compute;
  result.setup_seconds = times.wall - times.compute;
  if (question.logits) result.logits = std::move(exact.predictions);
  return result;
}

}  // namespace

Result<int> CountGpus() {
  int count = 0;
  const cudaError_t count_error = cudaGetDeviceCount(&count);
  if (count_error == cudaErrorInsufficientDriver || count_error == cudaErrorNoDevice ||
      (count_error == cudaSuccess && count == 0)) {
    // Without any driver, the runtime says that the driver is too old for it.
    int driver = 0;
    const bool no_driver =
        count_error == cudaErrorInsufficientDriver && cudaDriverGetVersion(&driver) == cudaSuccess && driver == 0;
    return Status::Unavailable(fmt::format(
        "no NVIDIA GPU can be used here ({}): install the driver of its GPU (580 or newer for CUDA 13), let the "
        "process see it (CUDA_VISIBLE_DEVICES), or use --device cpu",
        no_driver                    ? "there is no driver"
        : count_error == cudaSuccess ? "none was found"
                                     : cudaGetErrorString(count_error)));
  }
  HONE_RETURN_IF_ERROR(cuda::CudaStatus(count_error, "cudaGetDeviceCount"));
  return count;
}

Result<std::vector<GpuFacts>> ListGpus() {
  HONE_ASSIGN_OR_RETURN(const int count, CountGpus());
  std::vector<GpuFacts> gpus;
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    cudaDeviceProp properties;
    HONE_CUDA_RETURN_IF_ERROR(cudaGetDeviceProperties(&properties, ordinal));
    gpus.push_back({ordinal, properties.name, 0, static_cast<int64_t>(properties.totalGlobalMem), properties.major,
                    properties.minor});
  }
  return gpus;
}

Status GpuProductsAreHere() { return cuda::MatmulLibraryIsHere(); }

Result<GpuFacts> UseGpu(int ordinal) {
  HONE_ASSIGN_OR_RETURN(const int count, CountGpus());
  if (ordinal >= count) {
    return Status::InvalidArgument(fmt::format("--device cuda:{}: there {} here, cuda:0{}", ordinal,
                                               count == 1 ? "is one GPU" : fmt::format("are {} GPUs", count),
                                               count == 1 ? "" : fmt::format(" to cuda:{}", count - 1)));
  }
  HONE_CUDA_RETURN_IF_ERROR(cudaSetDevice(ordinal));
  cudaDeviceProp properties;
  HONE_CUDA_RETURN_IF_ERROR(cudaGetDeviceProperties(&properties, ordinal));
  size_t free_bytes = 0, total = 0;
  HONE_CUDA_RETURN_IF_ERROR(cudaMemGetInfo(&free_bytes, &total));
  return GpuFacts{ordinal,          properties.name, static_cast<int64_t>(free_bytes), static_cast<int64_t>(total),
                  properties.major, properties.minor};
}

Status GpuCanTrain(const ModelOptions&, const TrainOptions& options, const RunOptions& run) {
  return cuda::CheckForGpu(options, run);
}

Status GpuCanPredict(const ModelOptions&, const PredictOptions& options) {
  if (options.exact) return Status::Ok();
  if (options.frontier != FrontierRule::kAllSoFar) {
    return Status::InvalidArgument("the GPU engine has no frontier rule `new`");
  }
  return Status::Ok();
}

Result<FeaturePlace> PlaceFeaturesOnGpu(const GraphOutline& graph, const ModelOptions& model,
                                        const TrainOptions& options, bool fp32, const FeatureRequest& requested) {
  return PlaceOfFeatures(graph, model,
                         {.fanouts = options.fanouts,
                          .eval_fanouts = options.eval_every > 0 ? options.eval_fanouts : options.fanouts,
                          .batch = static_cast<int32_t>(options.batch),
                          .eval_batch = static_cast<int32_t>(options.eval_batch),
                          .fp32 = fp32},
                         requested);
}

Result<FeaturePlace> PlaceFeaturesOnGpu(const GraphOutline& graph, const ModelOptions& model,
                                        const PredictOptions& options, bool fp32, const FeatureRequest& requested) {
  return PlaceOfFeatures(graph, model, EngineOptions(options, {.fp32 = fp32}, {}), requested);
}

Result<std::shared_ptr<GradientExchange>> ConnectGpus(ProcessGroup& group, const std::string& exchange) {
  if (exchange != "nccl") {
    const Result<std::shared_ptr<GradientExchange>> exchange_of_peers = cuda::MakePeerExchange(group.communicator());
    if (exchange_of_peers.ok()) {
      group.Watch(*exchange_of_peers);
      return exchange_of_peers;
    }
    // An error here is the same on all ranks, so all of them use NCCL instead.
    if (exchange == "peers" || !group.loss().ok()) return exchange_of_peers.status();
  }
  HONE_ASSIGN_OR_RETURN(std::shared_ptr<GradientExchange> nccl, MakeNcclCommunicator(group));
  return nccl;
}

// Returns why the ranks' GPUs cannot read one another's memory, by making rows of one byte that they share; OK if they
// can.
Status GpusShareMemory(Communicator& ranks) { return cuda::PeerRows().MakeOneEach(ranks, 1); }

Result<std::unique_ptr<Trainer>> MakeTrainerOnGpu(std::shared_ptr<const Graph> graph, const ModelOptions& model,
                                                  const TrainOptions& options, const RunOptions& run,
                                                  const std::string& init, GpuRun& gpu) {
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<Trainer> trainer,
                        cuda::MakeGpuTrainer(std::move(graph), model, options, run, TrainerOptions(gpu), init));
  CopySizes(*trainer, gpu);
  return trainer;
}

Result<PairedOnGpu> PairEpochsOnGpu(const Graph& graph, const ModelOptions& model, const TrainOptions& options,
                                    bool fp32, const KernelChoices& choices, int epochs) {
  const cuda::GpuEngineOptions engine{.fanouts = options.fanouts,
                                      .eval_fanouts = options.fanouts,
                                      .batch = static_cast<int32_t>(options.batch),
                                      .fp32 = fp32,
                                      .learning_rate = options.learning_rate,
                                      .seed = options.seed};
  HONE_ASSIGN_OR_RETURN(cuda::PairedEpochs paired, cuda::PairEpochs(graph, model, engine, choices, epochs));
  return PairedOnGpu{std::move(paired.own), std::move(paired.chosen), paired.same_bits};
}

Result<std::unique_ptr<Trainer>> ResumeTrainerOnGpu(std::shared_ptr<const Graph> graph, const std::string& checkpoint,
                                                    const RunOptions& run, int epochs, double learning_rate,
                                                    GpuRun& gpu) {
  HONE_ASSIGN_OR_RETURN(
      std::unique_ptr<Trainer> trainer,
      cuda::ResumeGpuTrainer(std::move(graph), checkpoint, run, TrainerOptions(gpu), epochs, learning_rate));
  CopySizes(*trainer, gpu);
  return trainer;
}

Result<GpuPredictions> PredictOnGpu(const Graph& graph, Model<float>& model, std::span<const NodeId> nodes,
                                    const GpuQuestion& question, GpuRun& gpu) {
  const PredictOptions& options = question.options;
  if (options.exact) return PredictExactly(graph, model, nodes, question, gpu);
  const Stopwatch setup;
  if (static_cast<int>(options.fanouts.size()) != model.options().layers) {
    return Status::InvalidArgument(fmt::format("--fanout has {} hops and the model {} layers; give one number a layer",
                                               options.fanouts.size(), model.options().layers));
  }
  // A batch has distinct seeds, in the CPU's order.
  std::vector<NodeId> distinct_nodes(nodes.begin(), nodes.end());
  std::sort(distinct_nodes.begin(), distinct_nodes.end());
  distinct_nodes.erase(std::unique(distinct_nodes.begin(), distinct_nodes.end()), distinct_nodes.end());
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<cuda::GpuEngine> engine,
                        cuda::MakeGpuEngine(graph, model, EngineOptions(options, gpu, distinct_nodes)));
  gpu.num_edges = engine->num_edges();
  gpu.device_bytes = engine->device_bytes();
  if (gpu.features.host) gpu.host_bytes = graph.features().num_rows * graph.features().stride_bytes;
  if (!question.fingerprint.empty()) {
    HONE_ASSIGN_OR_RETURN(const std::string fingerprint, engine->Fingerprint(graph));
    HONE_RETURN_IF_ERROR(CheckPredictsOnItsGraph("the model", question.fingerprint, fingerprint, graph));
  }
  const int64_t target_width = graph.targets().width;
  std::vector<int32_t> classes;
  std::vector<float> outputs;
  HONE_ASSIGN_OR_RETURN(const cuda::EpochOnDevice evaluated,
                        target_width > 0 ? engine->Evaluate(distinct_nodes, nullptr, {}, &outputs)
                                         : engine->Evaluate(distinct_nodes, &classes));
  GpuPredictions result;
  result.seconds = evaluated.seconds;
  result.setup_seconds = setup.Seconds() - evaluated.seconds;
  result.logits.num_nodes = target_width > 0 ? static_cast<int64_t>(nodes.size()) : 0;
  result.logits.num_classes = target_width;
  for (const NodeId v : nodes) {
    const auto index = std::lower_bound(distinct_nodes.begin(), distinct_nodes.end(), v) - distinct_nodes.begin();
    if (target_width > 0) {
      const auto row = outputs.begin() + index * target_width;
      result.logits.logits.insert(result.logits.logits.end(), row, row + target_width);
    } else {
      result.classes.push_back(classes[static_cast<size_t>(index)]);
    }
  }
  return result;
}

Result<std::unique_ptr<RequestsOnGpu>> MakeRequestsOnGpu(const Graph& graph, Model<float>& model,
                                                         const PredictOptions& options, bool fp32) {
  static_assert(kMostRequestNodes == cuda::LatencyPredictor::kMostSeeds);
  class Requests final : public RequestsOnGpu {
   public:
    explicit Requests(std::unique_ptr<cuda::LatencyPredictor> predictor) : predictor_(std::move(predictor)) {}
    Result<RequestAnswer> Answer(std::span<const NodeId> nodes, bool with_logits) override {
      HONE_ASSIGN_OR_RETURN(cuda::LatencyAnswer answer, predictor_->Predict(nodes, with_logits));
      return RequestAnswer{std::move(answer.classes), std::move(answer.logits)};
    }

   private:
    std::unique_ptr<cuda::LatencyPredictor> predictor_;
  };
  HONE_ASSIGN_OR_RETURN(
      std::unique_ptr<cuda::LatencyPredictor> predictor,
      cuda::LatencyPredictor::Make(graph, model, {.fanouts = options.fanouts, .fp32 = fp32, .seed = options.seed}));
  return std::unique_ptr<RequestsOnGpu>(std::make_unique<Requests>(std::move(predictor)));
}

}  // namespace hone::gnn
