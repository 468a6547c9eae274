// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements hone/gnn/device.h by the rooms of the engine.
#include "hone/gnn/device.h"

#include <fmt/format.h>

#include <algorithm>

#include "gnn/cuda/base/cuda_support.h"
#include "gnn/cuda/engine/gpu_engine.h"
#include "gnn/cuda/engine/gpu_trainer.h"
#include "gnn/cuda/infer/exact_inference.h"
#include "gnn/cuda/infer/latency_mode.h"

namespace hone::gnn {
namespace {

Status SelectDevice(const DeviceOptions& device) {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) {
    (void)cudaGetLastError();
    return Status::Unavailable("no NVIDIA GPU can be used here: install its driver, or use the CPU's MakeTrainer");
  }
  if (device.ordinal < 0 || device.ordinal >= count) {
    return Status::InvalidArgument(fmt::format("GPU {}: there are GPUs 0 to {}", device.ordinal, count - 1));
  }
  HONE_CUDA_RETURN_IF_ERROR(cudaSetDevice(device.ordinal));
  return Status::Ok();
}

cuda::FeatureStorage StorageOf(const DeviceOptions& device) {
  cuda::FeatureStorage storage;
  if (device.features_on_host) storage.tier = cuda::FeatureTier::kCached;
  storage.cache_rows = device.cache_rows;
  return storage;
}

cuda::GpuTrainerOptions TrainerOptions(const DeviceOptions& device) {
  return {.fp32 = device.fp32, .storage = StorageOf(device), .host_batches = device.host_batches};
}

Result<cuda::ExactOnDevice> InferExactlyOnDevice(const Graph& graph, Model<float>& model, std::span<const NodeId> nodes,
                                                 const PredictOptions& options, const DeviceOptions& device,
                                                 bool logits) {
  return cuda::InferExactly(graph, model, nodes,
                            {.fp32 = device.fp32,
                             .logits = logits,
                             .most_feature_rows = device.features_on_host ? device.cache_rows : -1,
                             .check_outline = {},
                             .progress = options.progress,
                             .stop = options.stop});
}

class Server final : public DeviceServer {
 public:
  explicit Server(std::unique_ptr<cuda::LatencyPredictor> predictor) : predictor_(std::move(predictor)) {}
  Result<Answer> Ask(std::span<const NodeId> nodes) override {
    HONE_ASSIGN_OR_RETURN(cuda::LatencyAnswer answer, predictor_->Predict(nodes));
    return Answer{std::move(answer.classes), std::move(answer.logits)};
  }

 private:
  std::unique_ptr<cuda::LatencyPredictor> predictor_;
};
static_assert(DeviceServer::kMostNodes == cuda::LatencyPredictor::kMostSeeds);

}  // namespace

Result<std::unique_ptr<Trainer>> MakeDeviceTrainer(std::shared_ptr<const Graph> graph, const ModelOptions& model,
                                                   const TrainOptions& options, const RunOptions& run,
                                                   const DeviceOptions& device, const std::string& init) {
  HONE_RETURN_IF_ERROR(SelectDevice(device));
  return cuda::MakeGpuTrainer(std::move(graph), model, options, run, TrainerOptions(device), init);
}

Result<std::unique_ptr<Trainer>> ResumeDeviceTrainer(std::shared_ptr<const Graph> graph, const std::string& checkpoint,
                                                     const RunOptions& run, const DeviceOptions& device, int epochs,
                                                     double learning_rate) {
  HONE_RETURN_IF_ERROR(SelectDevice(device));
  return cuda::ResumeGpuTrainer(std::move(graph), checkpoint, run, TrainerOptions(device), epochs, learning_rate);
}

Result<std::vector<int32_t>> PredictOnDevice(const Graph& graph, Model<float>& model, std::span<const NodeId> nodes,
                                             const PredictOptions& options, const DeviceOptions& device) {
  HONE_RETURN_IF_ERROR(SelectDevice(device));
  if (graph.targets().num_rows > 0) {
    return Status::InvalidArgument(fmt::format(
        "'{}' has several labels or values a node, and no classes; ask for logits with PredictLogitsOnDevice",
        graph.name()));
  }
  if (options.exact) {
    HONE_ASSIGN_OR_RETURN(cuda::ExactOnDevice exact,
                          InferExactlyOnDevice(graph, model, nodes, options, device, /*logits=*/false));
    return std::move(exact.classes);
  }
  // A batch has distinct seeds, in the CPU's order.
  std::vector<NodeId> distinct(nodes.begin(), nodes.end());
  std::sort(distinct.begin(), distinct.end());
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  cuda::GpuEngineOptions engine_options;
  engine_options.fanouts = engine_options.eval_fanouts = options.fanouts;
  engine_options.eval_batch = static_cast<int32_t>(options.batch);
  engine_options.fp32 = device.fp32;
  engine_options.seed = options.seed;
  engine_options.storage = StorageOf(device);
  engine_options.trains = false;
  engine_options.predicts = distinct;
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<cuda::GpuEngine> engine,
                        cuda::MakeGpuEngine(graph, model, engine_options));
  std::vector<int32_t> classes;
  HONE_RETURN_IF_ERROR(engine->Evaluate(distinct, &classes).status());
  std::vector<int32_t> result;
  result.reserve(nodes.size());
  for (const NodeId v : nodes) {
    result.push_back(
        classes[static_cast<size_t>(std::lower_bound(distinct.begin(), distinct.end(), v) - distinct.begin())]);
  }
  return result;
}

Result<Predictions> PredictLogitsOnDevice(const Graph& graph, Model<float>& model, std::span<const NodeId> nodes,
                                          const PredictOptions& options, const DeviceOptions& device) {
  HONE_RETURN_IF_ERROR(SelectDevice(device));
  HONE_ASSIGN_OR_RETURN(cuda::ExactOnDevice exact,
                        InferExactlyOnDevice(graph, model, nodes, options, device, /*logits=*/true));
  return std::move(exact.predictions);
}

Result<std::unique_ptr<DeviceServer>> MakeDeviceServer(const Graph& graph, Model<float>& model,
                                                       const PredictOptions& options, const DeviceOptions& device) {
  HONE_RETURN_IF_ERROR(SelectDevice(device));
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<cuda::LatencyPredictor> predictor,
                        cuda::LatencyPredictor::Make(
                            graph, model, {.fanouts = options.fanouts, .fp32 = device.fp32, .seed = options.seed}));
  return std::unique_ptr<DeviceServer>(std::make_unique<Server>(std::move(predictor)));
}

}  // namespace hone::gnn
