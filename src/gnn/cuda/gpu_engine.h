// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Training and inference on one GPU with graph and features in device memory: a step is one CUDA-graph replay.
//
// A replay trains on one batch while it samples the next one into the other of two buffers. Sizes stay on the device;
// buffers and matrix products are for an envelope that sampled batches stay in (observed, with a margin), and a batch
// that does not is noticed on the device, stops everything behind it, and is done again in an envelope for the worst
// case. The same seeds give the same draws, masks and order of sums as the CPU path's; matrix products differ in
// rounding.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "hone/base/status.h"
#include "hone/gnn/graph.h"
#include "hone/gnn/mini_batch.h"
#include "hone/gnn/model.h"

namespace hone::gnn::cuda {

struct GpuEngineOptions {
  std::vector<int32_t> fanouts = {15, 10, 5};       // each 1 to 32
  std::vector<int32_t> eval_fanouts = {20, 20, 20};
  int32_t batch = 1024;
  int32_t eval_batch = 1024;
  bool fp32 = false;  // activations and products in fp32 instead of bf16
  float learning_rate = 3e-3f;
  float weight_decay = 0;
  uint64_t seed = 0;  // of seed order, sampling and dropout
  // Nodes a step's buffers hold, over the most that the first batches needed. Results do not depend on it; below 1 most
  // steps are done again in the envelope of the worst case.
  double envelope = 1.03;
};

struct EpochOnDevice {
  double seconds = 0;  // from the first launch to the last kernel's end, the first sample included
  double mean_loss = 0;
  double accuracy = 0;
  int64_t steps = 0;
  int64_t larger = 0;  // steps that needed the larger envelope
};

class GpuEngine {
 public:
  virtual ~GpuEngine() = default;
  virtual Result<EpochOnDevice> TrainEpoch(uint32_t epoch) = 0;
  // Sampled inference for `nodes`; predictions in their order.
  virtual Result<EpochOnDevice> Evaluate(std::span<const NodeId> nodes, std::vector<int32_t>* predictions) = 0;
  // Copies the weights and running statistics into the model's parameters, or takes them from it.
  virtual Status ExportTo(Model<float>& model) = 0;
  virtual Status ImportFrom(Model<float>& model) = 0;
  // What tests compare with the CPU path: the sample of one step; the gradients of one step without an update; a step
  // with one. The loss is the step's mean.
  virtual Result<NeighborSample> SampleStep(uint32_t epoch, uint32_t step) = 0;
  virtual Result<double> GradientsOfStep(uint32_t epoch, uint32_t step, Model<float>& into) = 0;
  virtual Result<double> TrainStep(uint32_t epoch, uint32_t step) = 0;
  virtual int64_t device_bytes() const = 0;
};

// `model` gives the kind, shape, dropout and initial weights; it is not kept. The graph is copied to the device.
// kInvalidArgument for what this engine cannot do, naming it; kResourceExhausted when memory does not suffice.
Result<std::unique_ptr<GpuEngine>> MakeGpuEngine(const Graph& graph, Model<float>& model,
                                                 const GpuEngineOptions& options);

}  // namespace hone::gnn::cuda
