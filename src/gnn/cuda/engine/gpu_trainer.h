// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Makes Trainers (hone/gnn/trainer.h) that train on one GPU, with graph and features in its memory.
//
// The CPU trainer's promises hold: the same draws and masks, checkpoints that either trainer resumes, and the same bits
// whether or not a run was interrupted, on any number of ranks. fp32 follows the CPU's trajectory to rounding.
// Differences:
//   * events.step reports a step some steps late. A run that is asked to stop first finishes the enqueued steps, at
//     most GpuTrainerOptions::ahead.
//   * EpochReport::sampled_nodes and sampled_edges keep the values that a resumed CPU run brought along: the outermost
//     hop is drawn and used in one kernel, which does not count. Batches from the host's cores are counted.
//   * When one of several ranks is asked to stop, all stop after the same step, at most `ahead` later. When a rank is
//     lost, rank 0 saves the state after some step of the last two chunks of ahead / 2 steps.
//   * times.compute is the wall time of the steps; sampling overlaps with them and has no separate time. With batches
//     from the host's cores, times.transfer is the transfer time and .compute the device time, over all batches.
#pragma once

#include <memory>
#include <string>

#include "gnn/batch/host_batch_cuts.h"
#include "gnn/cuda/features/feature_storage.h"
#include "gnn/nn/kernel_choices.h"
#include "hone/gnn/trainer.h"

namespace hone::gnn {
class GradientExchange;  // gnn/dist/gradient_exchange.h
}

namespace hone::gnn::cuda {

struct GpuTrainerOptions {
  bool fp32 = false;       // activations and products in fp32 instead of bf16; not kept in checkpoints
  int ahead = 64;          // limit of steps enqueued ahead of the device; 1 to 512
  double envelope = 1.03;  // see GpuEngineOptions
  FeatureStorage storage;  // see GpuEngineOptions
  // Whether the host's cores sample and slice batches (feed.h), so that the device only computes. The whole graph is
  // then in host memory too; an outline is copied there. RunOptions sets the number of cores; no bit of the result
  // depends on it.
  bool host_batches = false;
  HostBatchCuts host_cuts = {};  // HostFeedOptions::cuts
  // Gradient exchange between the GPUs of the ranks in RunOptions::communicator, if there are several; borrowed.
  // Neither the number of ranks nor the shards' distribution changes a bit of the result.
  GradientExchange* exchange = nullptr;
  KernelChoices choices = {};  // see GpuEngineOptions
};

// Checks the options. kInvalidArgument for what the GPU trainer does not support, as far as this can be decided without
// graph and model.
Status CheckForGpu(const TrainOptions& options, const RunOptions& run, const GpuTrainerOptions& gpu = {});

// These functions do the work of MakeTrainer and ResumeTrainer. `graph` may be the outline of a synthetic graph
// (gnn/graph/synthetic/synthetic_graph.h), which is then generated in device memory; checkpoints are those of the whole graph.
// Further errors: kInvalidArgument for what the GPU does not support, naming the option (the frontier rule `new`,
// unlabeled training nodes, fanouts that give a hop more slots than can be numbered, ranks without an exchange);
// kUnavailable without a GPU; kResourceExhausted if its memory is too small. With several ranks the functions are
// collective.
Result<std::unique_ptr<Trainer>> MakeGpuTrainer(std::shared_ptr<const Graph> graph, const ModelOptions& model,
                                                const TrainOptions& options, const RunOptions& run,
                                                const GpuTrainerOptions& gpu = {}, const std::string& init = {});
Result<std::unique_ptr<Trainer>> ResumeGpuTrainer(std::shared_ptr<const Graph> graph, const std::string& checkpoint,
                                                  const RunOptions& run, const GpuTrainerOptions& gpu = {},
                                                  int epochs = 0, double learning_rate = 0);

// The memory that a trainer made by these functions holds.
struct HeldOnDevice {
  int64_t num_edges = 0;     // edges of the graph; an outline does not know their number
  int64_t device_bytes = 0;  // graph, model, envelopes and workspaces
  int64_t host_bytes = 0;    // feature rows in host memory; 0: none are
  bool host_shared = false;  // whether all ranks of the host share them
};
HeldOnDevice HeldBy(const Trainer& trainer);

}  // namespace hone::gnn::cuda
