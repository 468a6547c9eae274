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

// One configuration. Its engine trains and evaluates, so its text has the steps of both.
struct DumpedEngine {
  std::string name;
  std::string graph;
  ModelOptions model;
  GpuEngineOptions options;
  bool requests = false;  // also dumps a LatencyPredictor's graphs
};

// Returns the configurations of docs/results.md on `graph`. The text depends on its name and size: other sizes give
// other envelopes, and so other grids and buffers. Hidden layers have the published width divided by `narrower`.
std::vector<DumpedEngine> PublishedEngines(const std::string& graph, int64_t narrower);
// Sizes that the emulated runtime handles in reasonable time; the stored digests belong to them.
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
