// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Declares what the commands use of the GPU engine. gpu_cuda.cc implements these functions. In a program built without
// CUDA, gpu_none.cc implements them, with errors that say so. In neither case does the program need a driver to start.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "gnn/batch/host_batch_cuts.h"
#include "gnn/dist/gradient_exchange.h"
#include "gnn/nn/kernel_choices.h"
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
// Makes GPU `ordinal` the current device of this thread. kUnavailable, with the remedy: there is no GPU.
// kInvalidArgument: there are GPUs, but none with this number.
Result<GpuFacts> UseGpu(int ordinal);

// Check that the GPU engine supports these options; kInvalidArgument names what it does not support.
Status GpuCanTrain(const ModelOptions& model, const TrainOptions& options, const RunOptions& run);
Status GpuCanPredict(const ModelOptions& model, const PredictOptions& options);

// Describes where feature rows are: all on the device (neither flag set); a part on each rank's GPU, where the GPUs
// read one another's memory (`peers`); or all in the host's memory (`host`). In the last two cases, the `cache_rows`
// most-used rows are on the device too.
struct FeaturePlace {
  bool host = false;
  bool peers = false;
  int64_t cache_rows = 0;
  // If true, the most-used rows were found by counting in sampled epochs; if false, they were computed from the edges.
  bool presampled = false;
  const char* name() const { return host ? "host" : peers ? "peers" : "device"; }
};
// The user's choice of where features are kept. `auto` means device memory if the features fit there, else the memory
// of the ranks' GPUs together, else host memory.
struct FeatureRequest {
  std::string place = "auto";        // auto, device, peers, host
  int64_t cache_rows = -1;           // below 0: as many as fit
  std::string policy = "inclusion";  // inclusion | presampling
  int peers = 1;                     // ranks of the run, if all are on this host and each has a GPU
  bool host_batches = false;         // true: leave room on the GPU for batches that the host prepares
  int local_ranks = 1;               // ranks of the run on this host
  // Limit on the host memory for feature rows of all local ranks together, in GiB; 0: the free memory.
  double host_gib = 0;
};

// How a run uses the GPU. The engine sets the byte counts below when it is made; the graph may be an outline.
struct GpuRun {
  bool fp32 = false;
  FeaturePlace features;
  bool host_batches = false;    // for training: the host's cores sample and slice, the GPU computes
  KernelChoices choices;        // instances of kernels, from --tuned
  HostBatchCuts host_cuts;      // what a measurement leaves out of the host's pipeline; nothing in a normal run
  int64_t most_host_bytes =
      0;  // limit on the host's memory for feature rows, in bytes, made of FeatureRequest::host_gib
  std::shared_ptr<GradientExchange> exchange;  // between the GPUs of several ranks
  int64_t num_edges = 0;
  int64_t device_bytes = 0;  // device memory that the engine uses
  int64_t host_bytes = 0;    // bytes of feature rows in the host's memory
  bool host_shared = false;  // true: these rows are one copy for all local ranks; false: each rank has a copy
};
// Make a trainer on the current GPU (UseGpu), as MakeTrainer and ResumeTrainer (hone/gnn/trainer.h) do on the CPU. They
// set the byte counts of `gpu`.
Result<std::unique_ptr<Trainer>> MakeTrainerOnGpu(std::shared_ptr<const Graph> graph, const ModelOptions& model,
                                                  const TrainOptions& options, const RunOptions& run,
                                                  const std::string& init, GpuRun& gpu);
Result<std::unique_ptr<Trainer>> ResumeTrainerOnGpu(std::shared_ptr<const Graph> graph, const std::string& checkpoint,
                                                    const RunOptions& run, int epochs, double learning_rate,
                                                    GpuRun& gpu);

// Times of epochs by the engine's own kernels and by chosen ones, in turn (gnn/cuda/engine/paired_epochs.h).
struct PairedOnGpu {
  std::vector<double> own, chosen;  // seconds, pair by pair
  bool same_bits = false;
};
// Trains `epochs` pairs of epochs on the current GPU (UseGpu); the graph may be an outline. kResourceExhausted: the
// GPU's memory does not hold two engines.
Result<PairedOnGpu> PairEpochsOnGpu(const Graph& graph, const ModelOptions& model, const TrainOptions& options,
                                    bool fp32, const KernelChoices& choices, int epochs);

// A GraphOutline describes a graph that is not open yet.
struct GraphOutline {
  std::string name;
  int64_t num_nodes = 0;
  int64_t num_edges = 0;
  int64_t feature_stride_bytes = 0;
  int64_t feature_width = 0;
  int32_t num_classes = 0;
  int64_t edge_feature_stride_bytes = 0;  // 0: the graph's edges have no features
  int64_t edge_feature_width = 0;
  TargetKind targets = TargetKind::kClasses;  // otherwise num_classes is the number of labels or values of a node
};
// Checks that graph, model and the batches of training (`options`), or of inference, fit in the free memory of the GPU
// in use, and returns where the features then are. kResourceExhausted says what is needed, what there is, and what
// would work. in_width and num_classes of the model are taken from the graph.
Result<FeaturePlace> PlaceFeaturesOnGpu(const GraphOutline& graph, const ModelOptions& model,
                                        const TrainOptions& options, bool fp32, const FeatureRequest& requested);
// Checks the memory for sampled inference in the same way, and returns where the features then are. Exact inference
// plans its memory when it begins.
Result<FeaturePlace> PlaceFeaturesOnGpu(const GraphOutline& graph, const ModelOptions& model,
                                        const PredictOptions& options, bool fp32, const FeatureRequest& requested);

// Connects the GPUs of several ranks for summing gradients. `exchange`: "peers" uses the GPUs' own memory, which
// requires that they are on one host and can read one another's; "nccl" uses NCCL; "auto" takes peers where possible.
// Collective. The group's watchdog also watches the connection.
Result<std::shared_ptr<GradientExchange>> ConnectGpus(ProcessGroup& group, const std::string& exchange);

// Checks that the ranks' GPUs can read one another's memory, by trying it with a little memory. Collective. Otherwise
// kInvalidArgument on all ranks, which names two GPUs that cannot.
Status GpusShareMemory(Communicator& ranks);

struct GpuQuestion {
  PredictOptions options;  // exact inference uses only progress and stop
  FeatureRequest
      features;         // used by exact inference; for sampled inference, GpuRun has what PlaceFeaturesOnGpu returned
  bool logits = false;  // also return logits; exact inference only
  // The fingerprint of the model's training graph, which is compared if `graph` is an outline; empty: any graph will
  // do.
  std::string fingerprint;
};
struct GpuPredictions {
  std::vector<int32_t> classes;  // in the order of the nodes asked for
  Predictions logits;            // if they were requested
  double setup_seconds = 0;      // time to copy graph and model to the device, make buffers and capture
  double seconds = 0;            // seconds of the prediction itself
};
// Predicts. Stores in `gpu.features` where the features were. kResourceExhausted may be reported only after the model
// was copied.
Result<GpuPredictions> PredictOnGpu(const Graph& graph, Model<float>& model, std::span<const NodeId> nodes,
                                    const GpuQuestion& question, GpuRun& gpu);

inline constexpr size_t kMostRequestNodes = 64;
struct RequestAnswer {
  std::vector<int32_t> classes;  // in the order of the nodes asked for
  std::vector<float> logits;     // [nodes, classes] if they were requested
};
// Keeps graph and model on the GPU, to answer requests of 1 to kMostRequestNodes nodes with little delay. An answer is
// that of sampled inference with these nodes as its only batch.
class RequestsOnGpu {
 public:
  virtual ~RequestsOnGpu() = default;
  // Answers one request. `with_logits`: the answer has logits too.
  virtual Result<RequestAnswer> Answer(std::span<const NodeId> nodes, bool with_logits) = 0;
};
// Prepares for requests, with the fanouts and the seed of `options`. `graph` must not be an outline.
Result<std::unique_ptr<RequestsOnGpu>> MakeRequestsOnGpu(const Graph& graph, Model<float>& model,
                                                         const PredictOptions& options, bool fp32);

}  // namespace hone::gnn
