// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// This file is the commands' view of the GPU engine. gpu_cuda.cc implements it; in a program that was built without
// CUDA, gpu_none.cc returns errors that say so. Neither needs a driver for the program to start.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "gnn/batch/host_batch_cuts.h"
#include "gnn/dist/gradient_exchange.h"
#include "hone/gnn/communicator.h"
#include "hone/gnn/predictor.h"
#include "hone/gnn/trainer.h"

namespace hone::gnn {

struct GpuFacts {
  int ordinal = 0;
  std::string name;  // "NVIDIA H200"
  int64_t free_bytes = 0;
  int64_t total_bytes = 0;
  int cc_major = 0, cc_minor = 0;  // compute capability
};

// Returns how many GPUs there are, at least one. kUnavailable where there is none, with the remedy.
Result<int> CountGpus();
// Lists each GPU, with free_bytes 0, because finding that out would use the GPU. Errors are those of CountGpus.
Result<std::vector<GpuFacts>> ListGpus();
// Checks that cuBLASLt, the library of the GPU engine's matrix products, can be loaded; kUnavailable with the remedy.
Status GpuProductsAreHere();
// Makes GPU `ordinal` the one that this thread computes with. kUnavailable, with the remedy, where there is no GPU;
// kInvalidArgument where there are only others.
Result<GpuFacts> UseGpu(int ordinal);

// Checks that the GPU engine can do what these ask for; kInvalidArgument names what it cannot.
Status GpuCanTrain(const ModelOptions& model, const TrainOptions& options, const RunOptions& run);
Status GpuCanPredict(const ModelOptions& model, const PredictOptions& options);

// A FeaturePlace says where feature rows are: all on the device; a part on each of the ranks' GPUs, which read one
// another's memory; or all in the host's memory. In the last two cases, `cache_rows` of the most used rows are on the
// device too.
struct FeaturePlace {
  bool host = false;
  bool peers = false;
  int64_t cache_rows = 0;
  bool presampled = false;  // the most used rows are counted in sampled epochs, instead of computed along the edges
  const char* name() const { return host ? "host" : peers ? "peers" : "device"; }
};
// `auto` puts features on the device if they fit there, else on the ranks' GPUs together, else in the host's memory.
struct FeatureWish {
  std::string where = "auto";  // auto, device, peers, host
  int64_t cache_rows = -1;     // below 0: as many as fit
  std::string policy = "inclusion";  // inclusion | presampling
  int peers = 1;                     // ranks of the run, if all are on this host and each has a GPU
  bool host_batches = false;         // needs room for batches from the host too
  int local_ranks = 1;               // ranks of the run on this host
  double host_gib = 0;  // host memory for feature rows, for all local ranks together; 0: as much as is free
};

// A GpuRun says how the engine computes; the engine then fills in sizes of the graph, which may be an outline.
struct GpuRun {
  bool fp32 = false;
  FeaturePlace features;
  bool host_batches = false;    // for training: the host's cores sample and slice, the GPU computes
  HostBatchCuts host_cuts;      // the parts of the host's pipeline that are left out
  int64_t most_host_bytes = 0;  // FeatureWish::host_gib
  std::shared_ptr<GradientExchange> exchange;  // between the GPUs of several ranks
  int64_t num_edges = 0;
  int64_t device_bytes = 0;
  int64_t host_bytes = 0;    // bytes of feature rows in the host's memory
  bool host_shared = false;  // those rows are one copy for all local ranks; else each rank has its own
};
Result<std::unique_ptr<Trainer>> MakeTrainerOnGpu(std::shared_ptr<const Graph> graph, const ModelOptions& model,
                                                  const TrainOptions& options, const RunOptions& run,
                                                  const std::string& init, GpuRun& gpu);
Result<std::unique_ptr<Trainer>> ResumeTrainerOnGpu(std::shared_ptr<const Graph> graph, const std::string& checkpoint,
                                                    const RunOptions& run, int epochs, double learning_rate,
                                                    GpuRun& gpu);

// A GraphOutline describes a graph that is not open yet.
struct GraphOutline {
  std::string name;
  int64_t num_nodes = 0;
  int64_t num_edges = 0;
  int64_t feature_stride_bytes = 0;
  int64_t feature_width = 0;
  int32_t num_classes = 0;
};
// Checks that graph, model and the batches of training (`options`), or of inference, fit in the free memory of the GPU
// in use, and returns where the features then are. kResourceExhausted says what is needed, what there is, and what
// would work. in_width and num_classes of the model are taken from the graph.
Result<FeaturePlace> GpuHolds(const GraphOutline& graph, const ModelOptions& model, const TrainOptions& options,
                              bool fp32, const FeatureWish& wish);
// Does the same for sampled inference; exact inference plans its memory when it begins.
Result<FeaturePlace> GpuHolds(const GraphOutline& graph, const ModelOptions& model, const PredictOptions& options,
                              bool fp32, const FeatureWish& wish);

// Connects the GPUs of several ranks for summing gradients: by their own memory, where they are on one host and read
// one another's (peers), or by NCCL; auto takes the first where possible. Collective; the group's watchdog watches it.
Result<std::shared_ptr<GradientExchange>> ConnectGpus(ProcessGroup& group, const std::string& exchange);

// Checks, with a little memory, whether the ranks' GPUs read one another's memory. Collective. kInvalidArgument names
// two GPUs that do not, on all ranks.
Status GpusShareMemory(Communicator& ranks);

struct GpuQuestion {
  PredictOptions options;   // exact inference uses only progress and stop
  FeatureWish features;     // used by exact inference; for sampled inference, GpuRun has what GpuHolds returned
  bool logits = false;      // also return logits; exact inference only
  std::string fingerprint;  // fingerprint of the model's training graph, where `graph` is an outline; empty: any graph
};
struct GpuPredictions {
  std::vector<int32_t> classes;  // in the order of the nodes asked for
  Predictions logits;            // if they were requested
  double setup_seconds = 0;      // graph and model to the device, buffers, captures
  double seconds = 0;            // seconds of the prediction itself
};
// `gpu.features` is where features were. kResourceExhausted may be found out only once the model is there.
Result<GpuPredictions> PredictOnGpu(const Graph& graph, Model<float>& model, std::span<const NodeId> nodes,
                                    const GpuQuestion& question, GpuRun& gpu);

inline constexpr size_t kMostRequestNodes = 64;
struct RequestAnswer {
  std::vector<int32_t> classes;  // in the order of the nodes asked for
  std::vector<float> logits;     // [nodes, classes], where they were asked for
};
// RequestsOnGpu holds graph and model ready on the GPU for requests of 1 to kMostRequestNodes nodes. The answers are
// those of sampled inference of one batch, with little delay.
class RequestsOnGpu {
 public:
  virtual ~RequestsOnGpu() = default;
  virtual Result<RequestAnswer> Answer(std::span<const NodeId> nodes, bool logits) = 0;
};
// Uses fanouts and seed of `options`. `graph` must be whole.
Result<std::unique_ptr<RequestsOnGpu>> MakeRequestsOnGpu(const Graph& graph, Model<float>& model, const PredictOptions& options,
                                                         bool fp32);

}  // namespace hone::gnn
