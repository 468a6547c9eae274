// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// What the commands ask of a GPU. gpu_cuda.cc answers with the GPU engine; gpu_none.cc, in a program that was built
// without CUDA, says so. Neither needs a driver for the program to start.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

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

// How many there are, at least one. kUnavailable where there is none, with the remedy.
Result<int> CountGpus();
// Each GPU that is here, with free_bytes 0, for finding that out would use the GPU. Errors as CountGpus.
Result<std::vector<GpuFacts>> ListGpus();
// Whether the library of the GPU engine's matrix products, cuBLASLt, can be loaded; kUnavailable with the remedy.
Status GpuProductsAreHere();
// Makes GPU `ordinal` the one that this thread computes with. kUnavailable where there is none, with the remedy;
// kInvalidArgument where there are others.
Result<GpuFacts> UseGpu(int ordinal);

// Whether the GPU engine knows how to do what these ask for; kInvalidArgument names what it does not.
Status GpuCanTrain(const ModelOptions& model, const TrainOptions& options, const RunOptions& run);
Status GpuCanPredict(const ModelOptions& model, const PredictOptions& options);

// Where feature rows are: all on the device; a part on each of the ranks' GPUs, which read one another's; or all in the
// host's memory. Of the last two `cache_rows` of the likeliest are on the device too.
struct FeaturePlace {
  bool host = false;
  bool peers = false;
  int64_t cache_rows = 0;
  bool presampled = false;  // which are likely: counted in sampled epochs, instead of computed along the edges
  const char* name() const { return host ? "host" : peers ? "peers" : "device"; }
};
// auto: on the device if they fit there, else over the ranks' GPUs, else in the host's memory.
struct FeatureWish {
  std::string where = "auto";  // auto, device, peers, host
  int64_t cache_rows = -1;     // below 0: as many as fit
  std::string policy = "inclusion";  // or presampling
  int peers = 1;                     // ranks of the run, if all are on this host, and each has a GPU
  bool host_batches = false;         // room for those is wanted too
  int local_ranks = 1;               // of the run, on this host
  double host_gib = 0;               // of the host's memory that rows in it may take, for all of those; 0: what is free
};

// How the engine computes, and what it then tells of the graph, which may be an outline.
struct GpuRun {
  bool fp32 = false;
  FeaturePlace features;
  bool host_batches = false;  // of training: the host's cores sample and slice, the GPU computes
  int64_t most_host_bytes = 0;  // FeatureWish::host_gib
  std::shared_ptr<GradientExchange> exchange;  // between the GPUs of several ranks
  int64_t num_edges = 0;
  int64_t device_bytes = 0;
  int64_t host_bytes = 0;    // of feature rows in the host's memory
  bool host_shared = false;  // which are one copy of all its ranks, else this rank's own
};
Result<std::unique_ptr<Trainer>> MakeTrainerOnGpu(std::shared_ptr<const Graph> graph, const ModelOptions& model,
                                                  const TrainOptions& options, const RunOptions& run,
                                                  const std::string& init, GpuRun& gpu);
Result<std::unique_ptr<Trainer>> ResumeTrainerOnGpu(std::shared_ptr<const Graph> graph, const std::string& checkpoint,
                                                    const RunOptions& run, int epochs, double learning_rate,
                                                    GpuRun& gpu);

// A graph that is not open yet.
struct GraphOutline {
  std::string name;
  int64_t num_nodes = 0;
  int64_t num_edges = 0;
  int64_t feature_stride_bytes = 0;
  int64_t feature_width = 0;
  int32_t num_classes = 0;
};
// Whether graph, model and the batches of training (`options`), or of inference, fit in what the GPU in use has free,
// and where the features then are; kResourceExhausted says what is needed, what there is, and what would work. in_width and num_classes of the model are
// taken from the graph.
Result<FeaturePlace> GpuHolds(const GraphOutline& graph, const ModelOptions& model, const TrainOptions& options,
                              bool fp32, const FeatureWish& wish);
// Of sampled inference; exact inference plans when it begins.
Result<FeaturePlace> GpuHolds(const GraphOutline& graph, const ModelOptions& model, const PredictOptions& options,
                              bool fp32, const FeatureWish& wish);

// What sums travel by between the GPUs of several ranks: their own memory, where they are on one host and read one
// another's (peers), or NCCL; auto: the first where it can be. Collective; the group's watchdog watches it.
Result<std::shared_ptr<GradientExchange>> ConnectGpus(ProcessGroup& group, const std::string& exchange);

// Collective: whether the ranks' GPUs read one another's memory, found out with a little of it; kInvalidArgument names two
// that do not, on all ranks.
Status GpusShareMemory(Communicator& ranks);

struct GpuQuestion {
  PredictOptions options;   // of an exact one: nothing but progress and stop
  FeatureWish features;     // of an exact one; of samples GpuRun has what GpuHolds made of it
  bool logits = false;      // wanted too; exact only
  std::string fingerprint;  // of the graph the model was made with, where `graph` is an outline; empty: any will do
};
struct GpuPredictions {
  std::vector<int32_t> classes;  // in the order of the nodes asked for
  Predictions logits;            // where they were wanted
  double setup_seconds = 0;      // graph and model to the device, buffers, captures
  double seconds = 0;            // of the prediction itself
};
// `gpu.features` is where features were. kResourceExhausted also for what may be found out only with the model there.
Result<GpuPredictions> PredictOnGpu(const Graph& graph, Model<float>& model, std::span<const NodeId> nodes,
                                    const GpuQuestion& question, GpuRun& gpu);

inline constexpr size_t kMostRequestNodes = 64;
struct RequestAnswer {
  std::vector<int32_t> classes;  // in the order of the nodes asked for
  std::vector<float> logits;     // [nodes, classes], where they were wanted
};
// Graph and model made ready on the GPU for requests of 1 to kMostRequestNodes nodes, which get what sampled inference of
// one batch gives, with little delay.
class RequestsOnGpu {
 public:
  virtual ~RequestsOnGpu() = default;
  virtual Result<RequestAnswer> Answer(std::span<const NodeId> nodes, bool logits) = 0;
};
// Of `options` fanouts and seed. `graph` whole.
Result<std::unique_ptr<RequestsOnGpu>> MakeRequestsOnGpu(const Graph& graph, Model<float>& model, const PredictOptions& options,
                                                         bool fp32);

}  // namespace hone::gnn
