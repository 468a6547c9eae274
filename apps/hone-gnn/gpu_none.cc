// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// This file implements gpu.h in a program that was built without CUDA.
#include "hone-gnn/gpu.h"

namespace hone::gnn {
namespace {

Status NotBuilt() {
  return Status::Unavailable(
      "this hone-gnn was built without the CUDA device: install the CUDA toolkit (12.8 or newer) and build with "
      "`make build CMAKE_FLAGS=-DHONE_CUDA=ON`, or use --device cpu");
}

}  // namespace

Result<int> CountGpus() { return NotBuilt(); }
Result<std::vector<GpuFacts>> ListGpus() { return NotBuilt(); }
Status GpuProductsAreHere() { return NotBuilt(); }
Result<GpuFacts> UseGpu(int) { return NotBuilt(); }
Status GpuCanTrain(const ModelOptions&, const TrainOptions&, const RunOptions&) { return NotBuilt(); }
Status GpuCanPredict(const ModelOptions&, const PredictOptions&) { return NotBuilt(); }
Result<FeaturePlace> PlaceFeaturesOnGpu(const GraphOutline&, const ModelOptions&, const TrainOptions&, bool,
                                        const FeatureRequest&) {
  return NotBuilt();
}
Result<FeaturePlace> PlaceFeaturesOnGpu(const GraphOutline&, const ModelOptions&, const PredictOptions&, bool,
                                        const FeatureRequest&) {
  return NotBuilt();
}

Result<std::unique_ptr<Trainer>> MakeTrainerOnGpu(std::shared_ptr<const Graph>, const ModelOptions&,
                                                  const TrainOptions&, const RunOptions&, const std::string&, GpuRun&) {
  return NotBuilt();
}

Result<std::unique_ptr<Trainer>> ResumeTrainerOnGpu(std::shared_ptr<const Graph>, const std::string&, const RunOptions&,
                                                    int, double, GpuRun&) {
  return NotBuilt();
}

Result<PairedOnGpu> PairEpochsOnGpu(const Graph&, const ModelOptions&, const TrainOptions&, bool, const KernelChoices&,
                                    int) {
  return NotBuilt();
}

Result<std::shared_ptr<GradientExchange>> ConnectGpus(ProcessGroup&, const std::string&) { return NotBuilt(); }
Status GpusShareMemory(Communicator&) { return NotBuilt(); }
Result<GpuPredictions> PredictOnGpu(const Graph&, Model<float>&, std::span<const NodeId>, const GpuQuestion&, GpuRun&) {
  return NotBuilt();
}
Result<std::unique_ptr<RequestsOnGpu>> MakeRequestsOnGpu(const Graph&, Model<float>&, const PredictOptions&, bool) {
  return NotBuilt();
}

}  // namespace hone::gnn
