// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Lists the engines whose captured steps are compared before and after a change: the four published configurations, and
// a table of options that contains every pair of values.
#pragma once

#include <string>
#include <vector>

#include "gnn/cuda/engine/gpu_engine.h"
#include "hone/base/status.h"
#include "hone/gnn/model.h"

namespace hone::gnn::cuda {

// A configuration of an engine. The engine trains and evaluates, so its text has the steps of both.
struct DumpedEngine {
  std::string name;
  std::string graph;
  ModelOptions model;
  GpuEngineOptions options;
  bool requests = false;  // whether a LatencyPredictor's graphs are dumped too
};

// Returns the configurations of docs/results.md on `graph`, with hidden layers of the published width divided by
// `narrower`. The text depends on the graph's name and size: other sizes give other envelopes, and so other grids and
// buffers.
std::vector<DumpedEngine> PublishedEngines(const std::string& graph, int64_t narrower);
// A graph and a `narrower` that the emulated runtime handles in reasonable time. The stored digests belong to them.
inline constexpr char kSmallPublishedGraph[] = "synthetic:papers100M?scale=0.00001&seed=1";
inline constexpr int64_t kSmallNarrower = 8;
// Returns small models on a small graph.
std::vector<DumpedEngine> PairwiseEngines();

struct EngineDump {
  std::string text;
  int graphs = 0;
  size_t nodes = 0;
};

// Makes the engine on the current device and reads every graph that it captures. Returns an error if the engine refuses
// the options.
Result<EngineDump> DumpEngine(const DumpedEngine& engine);

}  // namespace hone::gnn::cuda
