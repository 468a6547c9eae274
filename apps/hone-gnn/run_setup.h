// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// This file holds the steps of `train` and `bench epoch` before there is a trainer, as one process or as each of
// several ranks: they choose the device and the place of features, open the graph, check that all ranks were started
// alike, and choose how their GPUs exchange gradients.
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
  FeatureWish features;
};

// Returns whether the GPU engine can do what is asked for, and where features are then (GpuCanTrain, GpuHolds).
using GpuTakesRun =
    std::function<Result<FeaturePlace>(const GraphOutline& graph, bool fp32, const FeatureWish& wish)>;

struct RunQuestions {
  GpuTakesRun takes;
  bool of_rank0 = false;  // the run is resumed, and only rank 0 knows it: the others are not asked
  // These settings must be equal on all ranks, beside device, features, exchange and graph.
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

// Collective over the session's ranks, which have joined; an error is the same on all of them.
Result<RunSetup> SetUpRun(RunFlags flags, const RunQuestions& questions, RankSession& session);

}  // namespace hone::gnn
