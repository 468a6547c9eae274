// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Trains, predicts and answers requests on one NVIDIA GPU, with every model that the engine knows: the published ones,
// any spec, and specs with operations of your own (op.h).
//
// A GPU draws the same samples, dropout masks and initial weights as the CPU (trainer.h, predictor.h). Results
// therefore differ from the CPU's by rounding alone, and checkpoints are interchangeable. The same run on the same GPU
// gives the same bits. Programs that use this header link hone::gnn_cuda.
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
  int ordinal = 0;    // number of the GPU, as CUDA counts visible devices
  bool fp32 = false;  // activations and products in fp32 instead of bf16
  // If true, feature rows stay in host memory, except the `cache_rows` most-used ones. If false, the device holds all
  // of them.
  bool features_on_host = false;
  int64_t cache_rows = 0;
  // Training only; true: the host's cores sample and slice batches, as RunOptions::workers and ::queue say, and the GPU
  // only computes. false: the GPU samples too.
  bool host_batches = false;
};

// These functions do on a GPU what MakeTrainer and ResumeTrainer (trainer.h) do on the CPU. They have three more
// errors. kInvalidArgument names an option that a GPU does not support, or a value of the spec whose operation has no
// form for a GPU, with the remedy. kUnavailable: there is no GPU. kResourceExhausted: its memory is too small. The
// trainer must be used by the thread that made it.
Result<std::unique_ptr<Trainer>> MakeDeviceTrainer(std::shared_ptr<const Graph> graph, const ModelOptions& model,
                                                   const TrainOptions& options, const RunOptions& run,
                                                   const DeviceOptions& device = {}, const std::string& init = {});
Result<std::unique_ptr<Trainer>> ResumeDeviceTrainer(std::shared_ptr<const Graph> graph, const std::string& checkpoint,
                                                     const RunOptions& run, const DeviceOptions& device = {},
                                                     int epochs = 0, double learning_rate = 0);

// Returns the class of each of `nodes` (global ids, repeats allowed), in the same order: predicted from samples, or
// with options.exact from every neighbor, layer by layer. The function reads exact, fanouts, batch, seed, progress and
// stop of `options`. Errors are those of MakeDeviceTrainer and of Predict. Exact inference does not support registered
// operations (op.h).
Result<std::vector<int32_t>> PredictOnDevice(const Graph& graph, Model<float>& model, std::span<const NodeId> nodes,
                                             const PredictOptions& options, const DeviceOptions& device = {});
// Predicts from every neighbor (exact inference), and returns the logits.
Result<Predictions> PredictLogitsOnDevice(const Graph& graph, Model<float>& model, std::span<const NodeId> nodes,
                                          const PredictOptions& options, const DeviceOptions& device = {});

// Keeps a graph and a model on the device, to answer requests of 1 to kMostNodes nodes with little delay. An answer is
// that of sampled inference with these nodes as its only batch. Thread-safe; the device handles one request at a time.
class DeviceServer {
 public:
  static constexpr int kMostNodes = 64;
  struct Answer {
    std::vector<int32_t> classes;  // in the order of the nodes asked for
    std::vector<float> logits;     // [nodes, classes]
  };
  virtual ~DeviceServer() = default;
  // Answers a request. kInvalidArgument names a node id that is out of range, or says that there are too many nodes.
  virtual Result<Answer> Ask(std::span<const NodeId> nodes) = 0;
};
// Makes a server. It reads fanouts and seed of `options`, copies graph and model to the device, and keeps no reference
// to either.
Result<std::unique_ptr<DeviceServer>> MakeDeviceServer(const Graph& graph, Model<float>& model,
                                                       const PredictOptions& options, const DeviceOptions& device = {});

}  // namespace hone::gnn
