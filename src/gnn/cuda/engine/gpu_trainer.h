// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A Trainer (hone/gnn/trainer.h) that trains on one GPU, graph and features in its memory.
//
// It keeps the CPU trainer's promises: the same draws and masks, checkpoints that either resumes, a run interrupted
// and resumed on the GPU that ends with the bits of one that was not, on any number of ranks that the shards are dealt
// to. fp32 follows the CPU's trajectory to rounding.
// What differs:
//   * events.step is told of a step some steps after it was done, and a run that is asked to stop first finishes what
//     is enqueued: at most GpuTrainerOptions::ahead steps.
//   * EpochReport::sampled_nodes and sampled_edges stay what a resumed CPU run had brought along: the outermost hop is
//     drawn and used in one kernel, and nobody counts it. Of batches from the host's cores they are counted.
//   * A stop that one of several ranks is asked for ends all of them after the same step, at most `ahead` later; and
//     when one is lost, what rank 0 saves is the state after some step of the last two chunks of ahead / 2.
//   * times.compute is the wall time of the steps; sampling has no time of its own, for it runs beside them. Of batches
//     from the host's cores: times.transfer is the bus's time and .compute the device's, over all batches.
#pragma once

#include <memory>
#include <string>

#include "gnn/cuda/features/feature_storage.h"
#include "hone/gnn/trainer.h"

namespace hone::gnn {
class GradientExchange;  // gnn/dist/gradient_exchange.h
}

namespace hone::gnn::cuda {

struct GpuTrainerOptions {
  bool fp32 = false;       // activations and products in fp32 instead of bf16; not kept in checkpoints
  int ahead = 64;          // steps enqueued ahead of the device, at most; 1 to 512
  double envelope = 1.03;  // see GpuEngineOptions
  FeatureStorage storage;  // likewise
  // Batches that the host's cores sample and slice (feed.h), in which the device only computes. The whole graph is then in the
  // host's memory too: an outline's is copied there. RunOptions says how many cores; no bit of the result depends on it.
  bool host_batches = false;
  bool pinned_batches = true;  // see HostFeedOptions
  // Of the GPUs of the ranks in RunOptions::communicator, where there are several; borrowed. Neither their number nor
  // how the shards are dealt to them changes a bit of the result.
  GradientExchange* exchange = nullptr;
};

// kInvalidArgument for options that the GPU trainer cannot do yet, as far as they show before it has graph and model.
Status CheckForGpu(const TrainOptions& options, const RunOptions& run, const GpuTrainerOptions& gpu = {});

// As MakeTrainer and ResumeTrainer. `graph` may be the outline of a synthetic one (gnn/graph/synthetic_graph.h): it is
// then made in device memory, and checkpoints are those of the whole graph. kInvalidArgument also for what the GPU
// cannot do yet, naming the option: the frontier rule `new`, training nodes without labels; for fanouts with which a hop
// has more slots than can be numbered; and for ranks without a communicator of their GPUs. kUnavailable without a GPU,
// kResourceExhausted when its memory is too small. Collective where there are several ranks.
Result<std::unique_ptr<Trainer>> MakeGpuTrainer(std::shared_ptr<const Graph> graph, const ModelOptions& model,
                                                const TrainOptions& options, const RunOptions& run,
                                                const GpuTrainerOptions& gpu = {}, const std::string& init = {});
Result<std::unique_ptr<Trainer>> ResumeGpuTrainer(std::shared_ptr<const Graph> graph, const std::string& checkpoint,
                                                  const RunOptions& run, const GpuTrainerOptions& gpu = {},
                                                  int epochs = 0, double learning_rate = 0);

// What a trainer made by these two has on the device.
struct HeldOnDevice {
  int64_t num_edges = 0;     // of the graph, whose outline does not know
  int64_t device_bytes = 0;  // graph, model, envelopes and workspaces
  int64_t host_bytes = 0;    // of feature rows in the host's memory; 0: none are there
  bool host_shared = false;  // with all ranks of the host
};
HeldOnDevice HeldBy(const Trainer& trainer);

}  // namespace hone::gnn::cuda
