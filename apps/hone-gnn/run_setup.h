// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Prepares a run of `train` and `bench epoch`, in one process or in each of several ranks: chooses the device and the
// place of features, opens the graph, checks that all ranks were started with equal settings, and chooses how their
// GPUs exchange gradients.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "gnn/dist/agreement.h"
#include "hone-gnn/device.h"
#include "hone-gnn/gpu.h"
#include "hone-gnn/ranks.h"
#include "hone/gnn/graph.h"

namespace hone::gnn {

struct RunFlags {
  std::string graph;
  RankFlags ranks;
  DeviceFlags device;
  FeatureRequest features;
};

// Returns where features are in this run, or an error if the GPU engine cannot do it (GpuCanTrain, PlaceFeaturesOnGpu).
using PlaceOnGpu =
    std::function<Result<FeaturePlace>(const GraphOutline& graph, bool fp32, const FeatureRequest& requested)>;

struct RunQuestions {
  PlaceOnGpu place_on_gpu;
  bool rank0_only = false;  // true: the run is resumed, so only rank 0 knows it, and only rank 0 calls `place_on_gpu`
  // Settings that must be equal on all ranks, besides device, features, exchange and graph.
  std::vector<Setting> settings;
  int threads = 0;         // threads that open the graph
  bool quiet = false;      // no progress line
  std::string load = "auto";  // --load
  std::string split = {};     // --split
};

struct RunSetup {
  DeviceChoice device;
  std::shared_ptr<const Graph> graph;
  GpuRun gpu;  // for MakeTrainerOnGpu, where `device` is one
};

// Checks that there are as many GPUs as --gpus asks for, before the ranks are started, so that the error appears once.
Status CheckGpus(const RankFlags& flags);

// Prepares the run. Collective over the session's ranks, which have joined; all ranks get the same error.
Result<RunSetup> SetUpRun(RunFlags flags, const RunQuestions& questions, RankSession& session);

}  // namespace hone::gnn
