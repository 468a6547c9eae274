// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The engines whose captured steps are compared before and after a change: the four published configurations, and a
// table of options in which every pair of values occurs.
#pragma once

#include <string>
#include <vector>

#include "gnn/cuda/engine/gpu_engine.h"
#include "hone/base/status.h"
#include "hone/gnn/model.h"

namespace hone::gnn::cuda {

// Each has an engine that trains and evaluates, so its text has the steps of both.
struct DumpedEngine {
  std::string name;
  std::string graph;
  ModelOptions model;
  GpuEngineOptions options;
  bool requests = false;  // a LatencyPredictor's too
};

// The sizes of docs/results.md on `graph`, of whose name and size the text depends: graphs of other sizes have other
// envelopes, and so other grids and buffers. Hidden layers are as wide as published, divided by `narrower`.
std::vector<DumpedEngine> PublishedEngines(const std::string& graph, int64_t narrower);
// What the emulated runtime has the time for, and the stored digests are of.
inline constexpr char kSmallPublishedGraph[] = "synthetic:papers100M?scale=0.00001&seed=1";
inline constexpr int64_t kSmallNarrower = 8;
// Small models on a small graph.
std::vector<DumpedEngine> PairwiseEngines();

struct EngineDump {
  std::string text;
  int graphs = 0;
  size_t nodes = 0;
};

// Makes the engine on the current device and reads every graph that it captures. What the engine refuses is an error.
Result<EngineDump> DumpEngine(const DumpedEngine& engine);

}  // namespace hone::gnn::cuda
