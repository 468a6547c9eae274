// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Trains, predicts and answers requests on one NVIDIA GPU, with every model that the engine knows: the published ones,
// any spec, and specs with operations of your own (op.h).
//
// Samples, dropout masks and initial weights are the CPU's (trainer.h, predictor.h), so results differ from the CPU's
// by rounding alone, and checkpoints are the same files. A GPU repeats itself to the bit. Link hone::gnn_cuda.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "hone/base/status.h"
#include "hone/gnn/graph.h"
#include "hone/gnn/model.h"
#include "hone/gnn/predictor.h"
#include "hone/gnn/trainer.h"

namespace hone::gnn {

struct DeviceOptions {
  int ordinal = 0;    // which GPU
  bool fp32 = false;  // activations and products in fp32 instead of bf16
  // Keeps feature rows in host memory, except `cache_rows` of the most used ones; false: all are on the device.
  bool features_on_host = false;
  int64_t cache_rows = 0;
  // Training: the host's cores sample and slice batches, and the GPU computes (RunOptions::workers and ::queue).
  bool host_batches = false;
};

// These functions do what MakeTrainer and ResumeTrainer (trainer.h) do, on a GPU. Further errors: kInvalidArgument for
// what a GPU does not do, naming the option, or the value of a spec whose operation has no form for a GPU, with the
// remedy; kUnavailable without a GPU; kResourceExhausted when its memory is too small. The trainer must be used by the
// thread that made it.
Result<std::unique_ptr<Trainer>> MakeDeviceTrainer(std::shared_ptr<const Graph> graph, const ModelOptions& model,
                                                   const TrainOptions& options, const RunOptions& run,
                                                   const DeviceOptions& device = {}, const std::string& init = {});
Result<std::unique_ptr<Trainer>> ResumeDeviceTrainer(std::shared_ptr<const Graph> graph, const std::string& checkpoint,
                                                     const RunOptions& run, const DeviceOptions& device = {},
                                                     int epochs = 0, double learning_rate = 0);

// Returns the class of each of `nodes` (global ids, repeats allowed): from samples, or with options.exact from every
// neighbor, layer by layer. Of `options` are used: exact, fanouts, batch, seed, progress and stop. Errors as above and
// as Predict's; exact inference knows no operations of your own.
Result<std::vector<int32_t>> PredictOnDevice(const Graph& graph, Model<float>& model, std::span<const NodeId> nodes,
                                             const PredictOptions& options, const DeviceOptions& device = {});
// Does exact inference and also returns the logits.
Result<Predictions> PredictLogitsOnDevice(const Graph& graph, Model<float>& model, std::span<const NodeId> nodes,
                                          const PredictOptions& options, const DeviceOptions& device = {});

// Holds graph and model ready for requests of 1 to kMostNodes nodes: the answers are those of sampled inference of one
// batch, with little delay. Thread-safe; one request at a time is on the device.
class DeviceServer {
 public:
  static constexpr int kMostNodes = 64;
  struct Answer {
    std::vector<int32_t> classes;  // in the order of the nodes asked for
    std::vector<float> logits;     // [nodes, classes]
  };
  virtual ~DeviceServer() = default;
  // Answers a request. kInvalidArgument names an id out of range, or says that there are too many nodes.
  virtual Result<Answer> Ask(std::span<const NodeId> nodes) = 0;
};
// Uses fanouts and seed of `options`. Graph and model are copied and not kept.
Result<std::unique_ptr<DeviceServer>> MakeDeviceServer(const Graph& graph, Model<float>& model,
                                                       const PredictOptions& options, const DeviceOptions& device = {});

}  // namespace hone::gnn
